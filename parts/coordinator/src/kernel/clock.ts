/** Kernel time for rows and deadlines, monotonic time (suspend excluded) for leases; both in milliseconds. Tests bring their own. */
export type Clock = { now(): number; monotonic(): number };

/**
 * Wall time that never steps: read once, counted on by the monotonic clock. Whoever sets the host's clock, or wakes it from sleep, moves no
 * deadline: {@link stepMs} says how far the wall has gone meanwhile, and {@link follow} takes it over once the rows have moved along.
 */
export class SteadyClock implements Clock {
  readonly #wall: () => number;
  readonly #monotonic: () => number;
  #offsetMs: number;

  constructor(
    wall: () => number = () => Date.now(),
    monotonic: () => number = () => performance.now(),
  ) {
    this.#wall = wall;
    this.#monotonic = monotonic;
    this.#offsetMs = wall() - monotonic();
  }

  now(): number {
    return Math.round(this.#monotonic() + this.#offsetMs);
  }

  monotonic(): number {
    return this.#monotonic();
  }

  wall(): number {
    return this.#wall();
  }

  /** How far the wall clock stands before (positive) or behind this one. */
  stepMs(): number {
    return Math.round(this.#wall() - this.#monotonic() - this.#offsetMs);
  }

  follow(): void {
    this.#offsetMs = this.#wall() - this.#monotonic();
  }
}
