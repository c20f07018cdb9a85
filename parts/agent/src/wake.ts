import { setTimeout as sleep } from "node:timers/promises";

/** A loop sleeps on it; a call that comes while it works is not lost. */
export class Wake {
  #isDue = false;
  #wake: (() => void) | null = null;

  now(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  /** Resolves when woken, now or since the last time, or after `ms`, or at the signal. */
  async within(ms: number, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    if (this.#isDue) resolve();
    await Promise.race([
      promise,
      sleep(ms, undefined, { signal: AbortSignal.any([signal, done.signal]) }).catch(
        () => undefined,
      ),
    ]);
    done.abort();
    this.#wake = null;
    this.#isDue = false;
  }
}
