/** One run of a piece of work at a time: whoever asks while it is under way shares it, and no second one waits behind it. */
export class SharedRun<T = void> {
  #running: Promise<T> | null = null;

  get isUnderWay(): boolean {
    return this.#running !== null;
  }

  /** Starts `work`, unless a run is under way: then its end is what is answered. */
  run(work: () => Promise<T>): Promise<T> {
    this.#running ??= work().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  /** Ends with the run that is under way, as it ends; at once without one. */
  async idle(): Promise<void> {
    await this.#running;
  }
}
