/** How much each job may print live, whatever its agents send: a bucket that fills by so many bytes a second. */
export class TailRate {
  readonly #bytesPerS: number;
  /** Twice what an agent sends at once: of an honest one nothing is dropped because two messages came close together. */
  readonly #capacity: number;
  readonly #jobs = new Map<string, { bytes: number; atMs: number }>();

  constructor(bytesPerS: number) {
    this.#bytesPerS = bytesPerS;
    this.#capacity = 2 * bytesPerS;
  }

  /** Whether so many bytes may go now, all or none. They count as gone. */
  take(job: string, bytes: number, nowMs: number): boolean {
    const last = this.#jobs.get(job);
    const left = last === undefined ? this.#capacity : this.#refilled(last, nowMs);
    const isGranted = bytes <= left;
    this.#jobs.delete(job);
    this.#jobs.set(job, { bytes: isGranted ? left - bytes : left, atMs: nowMs });
    this.#forgetFull(nowMs);
    return isGranted;
  }

  get size(): number {
    return this.#jobs.size;
  }

  #refilled({ bytes, atMs }: { bytes: number; atMs: number }, nowMs: number): number {
    return Math.min(this.#capacity, bytes + (Math.max(0, nowMs - atMs) / 1000) * this.#bytesPerS);
  }

  /** A full bucket is as good as none. Two are looked at each time, so that there are no more than were filling. */
  #forgetFull(nowMs: number): void {
    for (let looked = 0; looked < 2; looked++) {
      const oldest = this.#jobs.entries().next().value;
      if (oldest === undefined || this.#refilled(oldest[1], nowMs) < this.#capacity) return;
      this.#jobs.delete(oldest[0]);
    }
  }
}
