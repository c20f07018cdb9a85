/** Phases of a long command: progress on standard error, and the time of each for the closing line. */
export class Phases {
  readonly #startedAt: number;
  readonly #seconds: Record<string, number> = {};
  readonly #name: string;

  /** @param setupMs how long the set-up took that came before this process; it counts as a phase, and in all */
  constructor(name: string, setupMs: number) {
    this.#name = name;
    this.#startedAt = Date.now() - setupMs;
    this.record("setup", setupMs);
  }

  say(line: string): void {
    process.stderr.write(
      `[${this.#name} ${((Date.now() - this.#startedAt) / 1000).toFixed(1).padStart(6)} s] ${line}\n`,
    );
  }

  /** Runs one phase and keeps its wall time in seconds under `key`. */
  async run<T>(key: string, title: string, work: () => Promise<T>): Promise<T> {
    this.say(title);
    const from = Date.now();
    try {
      return await work();
    } finally {
      this.record(key, Date.now() - from);
    }
  }

  record(key: string, ms: number): void {
    this.#seconds[key] = Math.round(ms / 100) / 10;
  }

  /** Wall time of every phase so far, seconds with one decimal. */
  get seconds(): Readonly<Record<string, number>> {
    return this.#seconds;
  }

  get totalSeconds(): number {
    return Math.round((Date.now() - this.#startedAt) / 100) / 10;
  }
}
