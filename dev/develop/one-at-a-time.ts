/** Does a thing whenever it is asked for, never twice at once. What is asked for meanwhile is done once more afterwards. */
export class OneAtATime {
  readonly #work: () => Promise<void>;
  #isAsked = false;
  #isOver = false;
  #loop: Promise<void> | null = null;

  /** @param work takes care of its own errors */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when it was done, and nothing more is asked for. */
  ask(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#isAsked = true;
    this.#loop ??= this.#run();
    return this.#loop;
  }

  /** Resolves when nothing is under way; from now on nothing begins. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#isAsked = false;
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (this.#isAsked) {
      this.#isAsked = false;
      await this.#work();
    }
    this.#loop = null;
  }
}
