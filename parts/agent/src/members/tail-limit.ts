/** Bytes of live tail that a job may send in a second, its members on this node together. */
const BYTES_PER_S = 256 * 1024;

export class TailLimit {
  readonly #jobs = new Map<string, { bytes: number; atMs: number }>();

  /** How many of `wanted` bytes may go now; they count as gone. */
  take(job: string, wanted: number, nowMs: number): number {
    const last = this.#jobs.get(job) ?? { bytes: BYTES_PER_S, atMs: nowMs };
    const bytes = Math.min(BYTES_PER_S, last.bytes + ((nowMs - last.atMs) / 1000) * BYTES_PER_S);
    const granted = Math.min(wanted, Math.floor(bytes));
    this.#jobs.set(job, { bytes: bytes - granted, atMs: nowMs });
    return granted;
  }

  forget(job: string): void {
    this.#jobs.delete(job);
  }
}
