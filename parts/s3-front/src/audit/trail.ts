/** What the door writes into the audit log, and when it must be durable: before the engine sees a change, before a reader sees a byte. */
import { randomUUID } from "node:crypto";
import {
  type AuditProducer,
  committer,
  type Refusal,
  RefusalTally,
} from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { OperationType } from "@resontech/contracts/audit-catalogue";
import type { Disclosure } from "@resontech/contracts/audit-event";
import type { Asker } from "../decisions/principal.ts";
import type { Record } from "../decisions/records.ts";
import { AuditdLiveness } from "./auditd-liveness.ts";

/** Who asks, from where; null: from many places. */
export type Source = { asker: Asker; address: string | null; userAgent: string | null };
type Producer = Pick<AuditProducer, "append" | "connected" | "status">;

const FRONT: Asker["actor"] = { sub: "s3-front", kind: "system" };

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
/** Facts that tell of a refusal: of one address and kind the first of a minute is a record, and the rest is one with a count. */
const REFUSALS: ReadonlySet<string> = new Set<Record["type"]>([
  ...(["auth.refused", "data.bucket.refused", "data.object.refused"] as const),
]);

export class Trail implements AsyncDisposable {
  readonly #producer: Producer;
  readonly #refusals: RefusalTally;
  readonly #onError: (error: unknown) => void;
  readonly #liveness: AuditdLiveness;

  constructor(producer: Producer, onError: (error: unknown) => void) {
    this.#producer = producer;
    this.#refusals = new RefusalTally({
      ...{ now: Date.now, onError },
      writeBeyond: ({ count, windowS }, address) =>
        this.#write(
          {
            ...{ type: "auth.refused", name: "Refused" },
            target: { kind: "appliance", id: "appliance" },
            detail: { reason: "many_refusals", count, window_s: windowS },
          },
          { asker: { actor: FRONT, claimed: null }, address, userAgent: null },
        ),
    });
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

  /** One record; durable when it resolves, a refusal that repeats another counted. @throws AuditUnavailable */
  async fact(record: Record, source: Source, op: string = randomUUID()): Promise<void> {
    if (!REFUSALS.has(record.type)) return await this.#write(record, source, op);
    await this.#refusals.add(this.#refusal(record, source));
    // What is only counted must not pass while auditd is away, either.
    await this.demand();
  }

  /** Writes what was counted. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#refusals.close();
  }

  #refusal(record: Record, source: Source): Refusal {
    const { type, name, target, outcome, detail } = record;
    const { asker, address } = source;
    // The name of a bucket that nobody has is the client's own text.
    const place = target.kind === "object" ? target.path : target.id;
    const who = [asker.actor.sub, asker.claimed];
    return {
      source: address ?? "nowhere",
      kind: JSON.stringify([type, name, outcome?.code ?? null, who, target.kind, place]),
      write: async (repeats) => {
        if (repeats === null) return await this.#write(record, source);
        const { count, windowS } = repeats;
        const counted = { ...record, detail: { ...detail, count, window_s: windowS } };
        await this.#write(counted, { ...source, userAgent: null });
      },
    };
  }

  async #write(record: Record, source: Source, op: string = randomUUID()): Promise<void> {
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
    ...(address === null ? {} : { addr: commit("src.addr", address) }),
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
    ...{ type: record.type, op, actor, ...(Object.keys(src).length === 0 ? {} : { src }) },
    ...{ action: `S3 ${record.name}`, object },
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
