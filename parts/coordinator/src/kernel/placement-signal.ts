/** What may let a job be placed that could not be, or make a place needed. */
export type PlacementCause =
  | "start"
  | "job-waits"
  | "gang-due"
  | "worker-free"
  | "bind-failed"
  | "node-registered"
  | "node-moved"
  | "node-evicted"
  | "disk-free"
  | "shares-set"
  | "pools-set"
  /** An entry was made, or one begins or ends. */
  | "calendar"
  /** Nothing is known to have changed: it is looked anew all the same. */
  | "comparison";

/**
 * Whether placement has something to look at. Whoever changes what placement reads raises it, inside its transaction; the scheduler takes it before it
 * reads. Of a transaction that is rolled back it stays, and costs a look that finds nothing.
 */
export class PlacementSignal {
  readonly #causes = new Set<PlacementCause>(["start"]);
  #gateChanges = 0;

  raise(cause: PlacementCause): void {
    if (cause === "pools-set" || cause === "calendar") this.#gateChanges += 1;
    this.#causes.add(cause);
  }

  /** How often it was raised because whose nodes are has changed: of a plan that was begun before, nothing more is done. */
  get gateChanges(): number {
    return this.#gateChanges;
  }

  get isRaised(): boolean {
    return this.#causes.size > 0;
  }

  /** Why it was raised since the last time, in the order in which the causes came; it is lowered. */
  take(): PlacementCause[] {
    const causes = [...this.#causes];
    this.#causes.clear();
    return causes;
  }
}
