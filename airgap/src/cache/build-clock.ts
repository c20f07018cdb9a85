/** Tells time that a build spent waiting for downloads from time in which something was being built. */
export class BuildClock {
  readonly #now: () => number;
  readonly #running = { fetch: 0, build: 0 };
  #since: number;
  #waitingMs = 0;

  /** @param now milliseconds, never going back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  /** Counts one activity until its end. */
  start(kind: "fetch" | "build"): Disposable {
    this.#settle();
    this.#running[kind] += 1;
    return {
      [Symbol.dispose]: () => {
        this.#settle();
        this.#running[kind] -= 1;
      },
    };
  }

  /** Milliseconds in which downloads were under way and nothing else was: what a faster line would have saved at least. */
  get downloadMs(): number {
    this.#settle();
    return this.#waitingMs;
  }

  #settle(): void {
    const now = this.#now();
    if (this.#running.fetch > 0 && this.#running.build === 0) this.#waitingMs += now - this.#since;
    this.#since = now;
  }
}
