/** What the log says of batches of model calls, as far as an export of them is about: kept while the log is read, in little memory for each. */
import { fromHex } from "../input/bytes.ts";
import { Refused } from "../input/note.ts";
import { integerIn, objectsIn } from "../leaf/detail.ts";
import type { Leaf } from "../leaf/leaf.ts";
import type { CallsHead } from "./calls-head.ts";

/** Some 80 bytes each. */
const MAX_BATCHES = 1_000_000;
const ROOT = /^[0-9a-f]{64}$/;

export type CalledBatch = {
  entry: number;
  root: Uint8Array;
  lines: number;
  /** Calls of the deployment that is asked for, or of all; null where the entry does not name all that were called. */
  calls: number | null;
};

export class CalledBatches {
  readonly #head: CallsHead;
  readonly all: CalledBatch[] = [];

  constructor(head: CallsHead) {
    this.#head = head;
  }

  /** @throws {@link Refused} for more than are held */
  note({ type, t_log, detail = {} }: Leaf, entry: number): void {
    const { size, from, to } = this.#head;
    if (type !== "model.calls" || entry >= size) return;
    if ((from !== null && t_log < from) || (to !== null && t_log >= to)) return;
    if (this.all.length === MAX_BATCHES)
      throw new Refused(
        `more than ${MAX_BATCHES} batches of calls are of that time: export the calls of a shorter one`,
      );
    const root = detail["root"];
    this.all.push({
      entry,
      root: typeof root === "string" && ROOT.test(root) ? fromHex(root) : new Uint8Array(0),
      lines: integerIn(detail, "lines") ?? 0,
      calls: this.#callsIn(detail),
    });
  }

  #callsIn(detail: NonNullable<Leaf["detail"]>): number | null {
    const calls = integerIn(detail, "calls") ?? 0;
    const { deployment } = this.#head;
    if (deployment === null) return calls;
    let [named, own] = [0, 0];
    for (const called of objectsIn(detail, "called") ?? []) {
      const count = integerIn(called, "calls") ?? 0;
      named += count;
      if (called["deployment"] === deployment) own += count;
    }
    return named < calls ? null : own;
  }
}
