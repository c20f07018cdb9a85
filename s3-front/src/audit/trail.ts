/** What the door writes into the audit log, and when it must be durable: before the engine sees a change, before a reader sees a byte. */
import { randomUUID } from "node:crypto";
import { type AuditProducer, committer } from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { OperationType } from "@resontech/contracts/audit-catalogue";
import type { Disclosure } from "@resontech/contracts/audit-event";
import type { Asker } from "../decisions/principal.ts";
import type { Record } from "../decisions/records.ts";
import { AuditdLiveness } from "./auditd-liveness.ts";

/** Who asks, from where. */
export type Source = { asker: Asker; address: string; userAgent: string | null };

/** An operation whose `requested` is durable. */
export type OpenRecord = {
  op: string;
  /** Closes it, the first time alone; the record is sent at once and again after a break, but not waited for: the effect has happened. */
  close: (
    phase: "completed" | "failed" | "denied",
    outcome: { code: string; status?: number },
    /** Who it was, as far as is known by now. */
    asker: Asker,
    /** SHA-256 in hex of the object that came; it stands there as a commitment. */
    bodySha256?: string | null,
  ) => void;
};

const MAX_AGENT_CHARS = 512;

export class Trail {
  readonly #producer: AuditProducer;
  readonly #onError: (error: unknown) => void;
  readonly #liveness: AuditdLiveness;

  constructor(producer: AuditProducer, onError: (error: unknown) => void) {
    this.#producer = producer;
    this.#onError = onError;
    this.#liveness = new AuditdLiveness(producer);
  }

  /**
   * For what has no record of its own and yet must not pass unseen: some 2 s after auditd was last heard, nothing does.
   * @throws AuditUnavailable when auditd does not answer
   */
  demand(): Promise<void> {
    return this.#liveness.demand();
  }

  /** One record; durable when it resolves. @throws AuditUnavailable */
  async fact(record: Record, source: Source, op: string = randomUUID()): Promise<void> {
    const { draft, disclosures } = draftOf(record, source, op);
    await this.#append({ ...draft, phase: "fact" }, disclosures);
  }

  /** Opens an operation; its `requested` is durable when it resolves. @throws AuditUnavailable: the effect must not happen */
  async open(record: Record, source: Source): Promise<OpenRecord> {
    const op = randomUUID();
    const { draft, disclosures } = draftOf(record, source, op);
    await this.#append({ ...draft, phase: "requested" }, disclosures);
    const { type, object } = draft;
    let isClosed = false;
    return {
      op,
      close: (phase, outcome, { actor }, bodySha256 = null) => {
        if (isClosed) return;
        isClosed = true;
        const commit = committer();
        const digests =
          bodySha256 === null ? {} : { digests: { input: commit("digests.input", bodySha256) } };
        const closing = {
          type: type as OperationType,
          op,
          actor,
          object,
          phase,
          outcome,
          ...digests,
        };
        this.#append(closing, commit.disclosures).catch(this.#onError);
      },
    };
  }

  async #append(draft: EventDraft, disclosures: readonly Disclosure[]): Promise<void> {
    const sentAtMs = performance.now();
    await this.#producer.append(draft, disclosures);
    this.#liveness.heard(sentAtMs);
  }
}

function draftOf(record: Record, { asker, address, userAgent }: Source, op: string) {
  const { actor, claimed } = asker;
  const commit = committer();
  const src = {
    addr: commit("src.addr", address),
    ...(userAgent === null
      ? {}
      : { agent: commit("src.agent", userAgent.slice(0, MAX_AGENT_CHARS)) }),
  };
  const { target } = record;
  const object: EventDraft["object"] =
    target.kind === "object"
      ? { kind: "object", id: commit("object.id", target.path) }
      : { kind: target.kind, id: target.id ?? op };
  const alias = target.kind === "bucket" ? target.name : null;
  const draft: Omit<EventDraft, "phase"> = {
    ...{ type: record.type, op, actor, src, action: `S3 ${record.name}`, object },
    ...(record.decision === undefined ? {} : { decision: record.decision }),
    ...(record.outcome === undefined ? {} : { outcome: record.outcome }),
    ...(record.detail === undefined && claimed === null
      ? {}
      : { detail: { ...record.detail, ...(claimed === null ? {} : { claimed }) } }),
    ...(alias === null
      ? {}
      : {
          pii: [{ field: "bucket-alias" as const, commitment: commit("pii.bucket-alias", alias) }],
        }),
  };
  return { draft, disclosures: commit.disclosures };
}
