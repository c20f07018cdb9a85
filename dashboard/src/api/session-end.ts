/** Told once, by whoever learns first that nobody is signed in any more: a request or the live connection. */
class SessionEnd {
  #isOver = false;
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly isOver = (): boolean => this.#isOver;

  tell(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const listener of this.#listeners) listener();
  }
}

export const sessionEnded = new SessionEnd();
