/** The host's clock, as far as it can be judged: whether it was set, and who says that it is right. */
import { existsSync } from "node:fs";
import { CLOCK_STEP_MS, mayActOnClock } from "../decisions/clock-trust.ts";

export class HostClock {
  readonly #syncedFile: string | null;
  #isVouched = false;
  #offsetMs = offsetNow();
  #setAtMs = Number.NEGATIVE_INFINITY;

  /** @param syncedFile is there while time synchronization holds the clock; null where there is none */
  constructor(syncedFile: string | null) {
    this.#syncedFile = syncedFile;
  }

  /**
   * An officer says that it is right, until it is set or {@link endVouching}.
   * @param recorded only then does it count, unless the clock was set meanwhile: it was not that one that was meant
   */
  async vouch(recorded: Promise<unknown>): Promise<void> {
    const setAtMs = this.#setAtMs;
    await recorded;
    if (this.#setAtMs === setAtMs) this.#isVouched = true;
  }

  endVouching(): void {
    this.#isVouched = false;
  }

  /** Somebody, or synchronization, says that it is right. */
  get isVouchedFor(): boolean {
    return this.#isVouched || this.#isSynced;
  }

  /** What can't be undone may be done because of what it shows. */
  get isTrusted(): boolean {
    return mayActOnClock({
      ...{ isVouched: this.#isVouched, isSynced: this.#isSynced, stepMs: this.#stepMs },
      sinceStepMs: performance.now() - this.#setAtMs,
    });
  }

  /** How far it was set since the last look, in milliseconds; null when it was not. Whoever vouched for it meant the one that was. */
  look(): number | null {
    const stepMs = this.#stepMs;
    this.#offsetMs = offsetNow();
    if (Math.abs(stepMs) <= CLOCK_STEP_MS) return null;
    this.#isVouched = false;
    this.#setAtMs = performance.now();
    return stepMs;
  }

  get #isSynced(): boolean {
    return this.#syncedFile !== null && existsSync(this.#syncedFile);
  }

  get #stepMs(): number {
    return Math.round(offsetNow() - this.#offsetMs);
  }
}

/** Answers how far the wall clock is ahead of the monotonic one, in milliseconds. */
function offsetNow(): number {
  return Date.now() - performance.now();
}
