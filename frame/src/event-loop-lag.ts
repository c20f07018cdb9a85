import { monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 10;
const WINDOW_MS = 60_000;
const NS_PER_MS = 1e6;

/** How late this process' event loop turned, at worst within the last one to two minutes: what everybody waited who asked it then. */
export class EventLoopLag implements Disposable {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #window: NodeJS.Timeout;
  #formerMaxMs = 0;

  constructor(windowMs = WINDOW_MS) {
    this.#delays.enable();
    this.#window = setInterval(() => {
      this.#formerMaxMs = this.#currentMaxMs();
      this.#delays.reset();
    }, windowMs);
    this.#window.unref();
  }

  /** Whole milliseconds. */
  get maxMs(): number {
    return Math.round(Math.max(this.#formerMaxMs, this.#currentMaxMs()));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#window);
    this.#delays.disable();
  }

  /** The histogram holds the whole interval between two turns. */
  #currentMaxMs(): number {
    return this.#delays.count === 0 ? 0 : Math.max(0, this.#delays.max / NS_PER_MS - RESOLUTION_MS);
  }
}
