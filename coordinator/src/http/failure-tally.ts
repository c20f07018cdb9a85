/**
 * Refused credentials by source. The first of a minute is logged before it is answered, what follows from the same source is
 * one record with a count when the minute ends: a flood costs the log one leaf a minute and source.
 */
export type FailureTallyOptions = {
  now: () => number;
  log: (reason: string, count: number, windowS: number, source: string) => Promise<void>;
  onError: (error: unknown) => void;
};

type Window = {
  reason: string;
  startedAt: number;
  count: number;
  logged: number;
  timer: NodeJS.Timeout;
};

const WINDOW_MS = 60_000;
/** Sources beyond this share one window. */
const MAX_SOURCES = 10_000;
const OTHERS = "others";

export class FailureTally {
  readonly #options: FailureTallyOptions;
  readonly #windows = new Map<string, Window>();

  constructor(options: FailureTallyOptions) {
    this.#options = options;
  }

  /** Resolves when the refusal is logged or counted; `count` is how many this source had in its minute. */
  async add(source: string, reason: string): Promise<{ count: number }> {
    const key = this.#windows.has(source) || this.#windows.size < MAX_SOURCES ? source : OTHERS;
    const open = this.#windows.get(key);
    if (open !== undefined) {
      open.count += 1;
      return { count: open.count };
    }
    const timer = setTimeout(() => void this.#end(key), WINDOW_MS).unref();
    this.#windows.set(key, { reason, startedAt: this.#options.now(), count: 1, logged: 1, timer });
    try {
      await this.#options.log(reason, 1, 0, source);
    } catch (error) {
      clearTimeout(timer);
      this.#windows.delete(key);
      throw error;
    }
    return { count: 1 };
  }

  /** Logs what was counted. */
  async close(): Promise<void> {
    await Promise.all([...this.#windows.keys()].map((source) => this.#end(source)));
  }

  async #end(source: string): Promise<void> {
    const window = this.#windows.get(source);
    if (window === undefined) return;
    this.#windows.delete(source);
    clearTimeout(window.timer);
    const repeats = window.count - window.logged;
    if (repeats === 0) return;
    const windowS = Math.max(1, Math.round((this.#options.now() - window.startedAt) / 1000));
    await this.#options.log(window.reason, repeats, windowS, source).catch(this.#options.onError);
  }
}
