import type { FeedBounds } from "./bounds.ts";
import type { Told } from "./told.ts";

/** @property floor up to this sequence the job's are gone */
type Tail = { entries: Told[]; bytes: number; floor: number };

/** What each job printed last. Jobs that printed nothing for longest are forgotten first. */
export class LogTails {
  readonly #bounds: Pick<FeedBounds, "tailBytes" | "tailBytesOfJob">;
  /** The job that printed last is the last. */
  readonly #jobs = new Map<string, Tail>();
  #bytes = 0;
  /** Of forgotten jobs all is gone up to this sequence at most. */
  #floor = 0;

  constructor(bounds: Pick<FeedBounds, "tailBytes" | "tailBytesOfJob">) {
    this.#bounds = bounds;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(job: string, told: Told): void {
    const tail = this.#jobs.get(job) ?? { entries: [], bytes: 0, floor: this.#floor };
    this.#jobs.delete(job);
    this.#jobs.set(job, tail);
    tail.entries.push(told);
    tail.bytes += told.cost;
    this.#bytes += told.cost;
    while (tail.bytes > this.#bounds.tailBytesOfJob && tail.entries.length > 1) {
      const oldest = tail.entries.shift()!;
      tail.bytes -= oldest.cost;
      this.#bytes -= oldest.cost;
      tail.floor = oldest.sequence;
    }
    while (this.#bytes > this.#bounds.tailBytes && this.#jobs.size > 1) this.#forgetQuietest();
  }

  /** Everything after a sequence; null when some of that is gone. */
  after(job: string, sequence: number): Told[] | null {
    const { entries, floor } = this.#jobs.get(job) ?? { entries: [], floor: this.#floor };
    return sequence < floor ? null : entries.filter((told) => told.sequence > sequence);
  }

  kept(job: string): readonly Told[] {
    return this.#jobs.get(job)?.entries ?? [];
  }

  #forgetQuietest(): void {
    const [job, tail] = this.#jobs.entries().next().value!;
    this.#jobs.delete(job);
    this.#bytes -= tail.bytes;
    this.#floor = Math.max(this.#floor, tail.entries.at(-1)?.sequence ?? 0);
  }
}
