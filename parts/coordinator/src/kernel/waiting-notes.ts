import { SharedRun } from "@resontech/frame/shared-run";
import type { GroupCommit } from "../db/group-commit.ts";
import type { WaitingGang } from "./decisions/placement-facts.ts";
import type { Plan } from "./decisions/placement.ts";
import type { KernelTables } from "./kernel-tables.ts";
import { runInSlices } from "./run-in-slices.ts";

/** So many sentences are written in one transaction: some milliseconds, in which nothing else is answered. */
const AT_ONCE = 200;
const COMPARED_AT_ONCE = 256;

type Waiting = Plan["waiting"][number];
type Parts = {
  commit: GroupCommit;
  tables: Pick<KernelTables, "jobs" | "changes">;
  onError: (error: unknown) => void;
};

/**
 * Why jobs wait, on its way into their rows. Each change of what is free changes the sentence of every job in line: the first are written with the cycle
 * that found it, and the others once it is over, each with its newest sentence.
 */
export class WaitingNotes {
  readonly #parts: Parts;
  readonly #rest = new SharedRun();
  /** What stands in the row of a gang: one whose row changed otherwise is another object. */
  readonly #noted = new WeakMap<WaitingGang, string>();
  /** By job, what does not stand there yet, the first in line first. */
  readonly #pending = new Map<string, Waiting>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Of all that wait. Ends once the first are on the disk. */
  async take(waiting: readonly Waiting[]): Promise<void> {
    await runInSlices(this.#compare(waiting));
    await this.#write();
    if (this.#pending.size > 0)
      void this.#rest.run(() => this.#writeAll().catch(this.#parts.onError));
  }

  /** What is to be written, of all that wait. */
  *#compare(waiting: readonly Waiting[]): Generator<void, void> {
    const still = new Set<string>();
    for (const [at, one] of waiting.entries()) {
      still.add(one.job);
      if (this.#noted.get(one.gang) === one.why) this.#pending.delete(one.job);
      else this.#pending.set(one.job, one);
      if (at % COMPARED_AT_ONCE === 0) yield;
    }
    for (const job of this.#pending.keys()) if (!still.has(job)) this.#pending.delete(job);
  }

  /** What is not written yet is found again by the next cycle. */
  async stop(): Promise<void> {
    this.#pending.clear();
    await this.#rest.idle();
  }

  async #writeAll(): Promise<void> {
    while (this.#pending.size > 0) await this.#write();
  }

  async #write(): Promise<void> {
    const { commit, tables } = this.#parts;
    const some: Waiting[] = [];
    for (const one of this.#pending.values()) {
      if (some.length === AT_ONCE) break;
      some.push(one);
    }
    if (some.length === 0) return;
    for (const { job } of some) this.#pending.delete(job);
    await commit.run(() => {
      for (const { job, why } of some)
        if (tables.jobs.waitingFor(job) !== why && tables.jobs.noteWaiting(job, why))
          tables.changes.note({ kind: "waiting", job, why });
    });
    for (const { gang, why } of some) this.#noted.set(gang, why);
  }
}
