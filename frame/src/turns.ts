/** Lets one piece of work run at a time, in the order in which they came. One that fails keeps no later one from its turn. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Resolves when whatever came before has had its turn. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
