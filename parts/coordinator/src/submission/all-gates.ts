import type { GateProof } from "../audit-ports.ts";

/** Operations of which each waits until all are durable; then one effect carries them all out, and each ends as that does. */
export class AllGates<T> {
  readonly #effect: (proofs: readonly GateProof[]) => Promise<T>;
  readonly #proofs: GateProof[] = [];
  readonly #done = Promise.withResolvers<T>();
  readonly #count: number;
  #opened = 0;
  hasFailed = false;

  /** @param effect takes the proofs in the order of the operations */
  constructor(count: number, effect: (proofs: readonly GateProof[]) => Promise<T>) {
    this.#count = count;
    this.#effect = effect;
    // Nobody may be waiting yet when one fails.
    this.#done.promise.catch(() => undefined);
  }

  /** One of them is durable. @returns what the effect did, once it has */
  open(at: number, proof: GateProof): Promise<T> {
    this.#proofs[at] = proof;
    this.#opened += 1;
    if (this.#opened === this.#count)
      this.#effect(this.#proofs).then(this.#done.resolve, this.#done.reject);
    return this.#done.promise;
  }

  /** One of them will never be: all others end as it did. */
  fail(error: unknown): void {
    this.hasFailed = true;
    this.#done.reject(error);
  }
}
