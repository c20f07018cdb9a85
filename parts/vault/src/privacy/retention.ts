/** What is older than its class allows goes, day by day; what a legal hold covers stays. */
import { randomUUID } from "node:crypto";
import { firstKeptMonth, monthsOf, overdue, type RetentionClass } from "../decisions/retention.ts";
import type { KeyName } from "../keys/key-table.ts";
import type { VaultParts } from "../parts.ts";
import { opened, type OperationDraft } from "../record/on-record.ts";
import type { Act } from "../record/acts.ts";
import type { Destroying, Destruction, Logged } from "./destruction.ts";

const CLASSES: readonly RetentionClass[] = ["disclosures", "anonymous"];

type Asked = { class: RetentionClass; before: string };

export class Retention {
  readonly #parts: VaultParts;
  readonly #destruction: Destruction;

  constructor(parts: VaultParts, destruction: Destruction) {
    this.#parts = parts;
    this.#destruction = destruction;
  }

  /**
   * Ends what is overdue, by as many acts as their outcomes need to tell of it. Nothing is said where nothing is, nor of a class of which an act is
   * under way; nor of a month that no outcome could tell of, which stays.
   * @throws AuditUnavailable, SpoolBlocked
   */
  async enforce(nowMs: number): Promise<void> {
    const { acts, record, log } = this.#parts;
    const isUnderWay = (kind: RetentionClass): boolean =>
      acts
        .underWay()
        .some((act) => act.kind === "retention" && (act.request as Asked).class === kind);
    for (const asked of this.#asked(nowMs)) {
      if (isUnderWay(asked.class)) continue;
      while (this.#destruction.statable(this.#overdue(asked)).length > 0) {
        const op = randomUUID();
        await opened(
          record,
          acts,
          { kind: "retention", subject: null, request: asked },
          draftOf(op, asked),
        );
        await this.goOn(op);
      }
      const kept = this.#overdue(asked).length;
      if (kept > 0)
        log.error(
          { ...asked, kept },
          "what is over lies in more shards than an entry can name, and is kept",
        );
    }
  }

  isOverdue(nowMs: number): boolean {
    return this.#asked(nowMs).some((asked) => this.#overdue(asked).length > 0);
  }

  #asked(nowMs: number): Asked[] {
    const { retention } = this.#parts.config;
    return CLASSES.map((kind) => ({
      class: kind,
      before: firstKeptMonth(nowMs, monthsOf(kind, retention)),
    }));
  }

  goOn(op: string): Promise<Act> {
    return this.#destruction.goOn(op, this.#destroying(op));
  }

  /** Of one that the log has ended. In its turn. */
  again(op: string, logged: Logged): Promise<void> {
    const destroying = this.#destroying(op);
    return this.#destruction.again(op, destroying, destroying.names, logged);
  }

  #destroying(op: string): Destroying {
    const asked = this.#parts.acts.get(op).request as Asked;
    return {
      draft: draftOf(op, asked),
      names: () => this.#overdue(asked),
      detail: () => ({ before: instantOf(asked) }),
      confirmation: null,
    };
  }

  #overdue({ class: kind, before }: Asked): KeyName[] {
    const { acts, keys, store } = this.#parts;
    const all = new Map(
      [...keys.namesBefore(before), ...store.subjectMonths()].map((name) => [
        `${name.subject}\n${name.month}`,
        name,
      ]),
    );
    return overdue(kind, before, [...all.values()], acts.heldSubjects);
  }
}

function draftOf(op: string, asked: Asked): OperationDraft {
  return {
    ...({ type: "privacy.retention", op, action: "vault retention" } as const),
    actor: { sub: "vault", kind: "system" },
    object: { kind: "log", id: "vault" },
    detail: { before: instantOf(asked) },
  };
}

function instantOf({ before }: Asked): string {
  return `${before}-01T00:00:00.000Z`;
}
