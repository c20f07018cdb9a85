/** One piece of work at a time: nothing is sealed under a key that is being destroyed, and no copy of the keys is made meanwhile. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
