/**
 * How long the coordinator's database has been written, by its own records: a silence between two of them counts for two minutes at most, so that a
 * coordinator that is away, idle or behind a clock that was set gets no older.
 */
import { instantMs } from "../leaf/instant.ts";
import type { Leaf } from "../leaf/leaf.ts";

/** Writes its records in the order in which its database took them. */
export const RECORDER = "coordinator-record";
const MAX_SILENCE_MS = 120_000;

export class CoordinatorClock {
  #lastMs: number | null = null;
  /** Milliseconds. */
  runMs = 0;

  note({ prod, t_log }: Leaf): void {
    if (prod !== RECORDER) return;
    const ms = instantMs(t_log);
    if (this.#lastMs !== null) this.runMs += Math.min(ms - this.#lastMs, MAX_SILENCE_MS);
    this.#lastMs = ms;
  }
}
