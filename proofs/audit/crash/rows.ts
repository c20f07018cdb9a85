/** The events that a coordinator would write: small ones, large ones, operations, and such that come with disclosures. */
import { type ComposedEvent, committer, composeEvent } from "@resontech/audit/producer";

export const BOOT = "1";
const LONG_LIST = Array.from(
  { length: 32 },
  (_, at) => `rule-${String(at).padStart(3, "0")}-${"x".repeat(48)}`,
);
const SHARE = { large: 0.15, disclosing: 0.3, operation: 0.3 };

export class Rows {
  readonly all: ComposedEvent[] = [];
  /** The commitments of each, by `pseq`, that were sent with what opens them. */
  readonly commitments = new Map<number, readonly string[]>();
  readonly #random: () => number;
  #openOp: string | null = null;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The same rows so far, for another future. */
  upTo(count: number): Rows {
    const rows = new Rows(this.#random);
    for (const row of this.all.slice(0, count)) {
      rows.all.push(row);
      rows.commitments.set(row.pseq, this.commitments.get(row.pseq) ?? []);
    }
    return rows;
  }

  next(): ComposedEvent {
    const isLarge = this.#random() < SHARE.large;
    const commit = committer();
    const common = {
      actor: { sub: "usr-1", kind: "user" as const, ...(isLarge ? { roles: LONG_LIST } : {}) },
      ...(isLarge ? { decision: { effect: "allow" as const, policy_ids: LONG_LIST } } : {}),
    };
    const src =
      this.#random() < SHARE.disclosing
        ? { addr: commit("src.addr", `10.0.0.${this.all.length % 250}`) }
        : undefined;
    const place = { boot: BOOT, pseq: this.all.length + 1 };
    const row = composeEvent(
      { ...common, ...this.#kind(), ...(src && { src }) },
      place,
      commit.disclosures,
    );
    this.all.push(row);
    this.commitments.set(place.pseq, src === undefined ? [] : [src.addr]);
    return row;
  }

  #kind() {
    const job = { type: "job.submit" as const, object: { kind: "job" as const, id: "job-1" } };
    if (this.#openOp !== null) {
      const op = this.#openOp;
      this.#openOp = null;
      return { ...job, op, phase: "completed" as const, outcome: { code: "ok" } };
    }
    const op = crypto.randomUUID();
    if (this.#random() >= SHARE.operation)
      return {
        type: "key.list" as const,
        op,
        phase: "fact" as const,
        object: { kind: "user" as const, id: "usr-1" },
      };
    this.#openOp = op;
    return { ...job, op, phase: "requested" as const };
  }
}
