/** What a history did that must never be. Its seed makes the same history again. */
export class BrokenHistory extends Error {
  constructor(seed: number, event: string, faults: readonly string[]) {
    super(`history ${seed}, after "${event}": ${faults.join("; ")}`);
  }
}
