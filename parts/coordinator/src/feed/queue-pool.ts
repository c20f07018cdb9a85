/** What waits for all readers together. */
export class QueuePool {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Logs have half of it: memory that runs short is short for them first. */
  hasRoom(cost: number, isLog: boolean): boolean {
    return this.#bytes + cost <= (isLog ? this.#maxBytes / 2 : this.#maxBytes);
  }

  take(cost: number): void {
    this.#bytes += cost;
  }

  give(cost: number): void {
    this.#bytes -= cost;
  }
}
