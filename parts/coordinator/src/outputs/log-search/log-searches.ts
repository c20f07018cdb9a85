import { ApiError } from "../../api-error.ts";
import type { LogSearchResult, LogSearchTask } from "./search-logs.ts";
import { type SearchedStore, SearchThread } from "./search-thread.ts";

const MAX_THREADS = 2;
/** That wait for a thread; each holds a connection of whoever asks. */
const MAX_WAITING = 8;
/** Of one caller, running and waiting: the others find room. */
const MAX_OF_ONE = 2;
/** Of one search. */
const WITHIN_MS = 10_000;
/** Threads give their memory back after so long without a search. */
const IDLE_MS = 30_000;

type Waiting = { go: (thread: SearchThread) => void };

/** Searches of logs, beside the main thread: a few at once, a few more that wait, and nobody beyond that. */
export class LogSearches implements AsyncDisposable {
  readonly #store: SearchedStore;
  readonly #withinMs: number;
  readonly #free: SearchThread[] = [];
  readonly #busy = new Set<SearchThread>();
  readonly #byCaller = new Map<string, number>();
  #waiting: Waiting[] = [];
  #idle: NodeJS.Timeout | undefined;

  /** @param withinMs longest search; what is found by then is the answer */
  constructor(store: SearchedStore, withinMs = WITHIN_MS) {
    this.#store = store;
    this.#withinMs = withinMs;
  }

  /**
   * @param caller whoever asks, by the credential
   * @throws ApiError `overloaded`; S3UnavailableError; the signal's reason
   */
  async search(
    task: Omit<LogSearchTask, "withinMs">,
    caller: string,
    signal: AbortSignal,
  ): Promise<LogSearchResult> {
    const own = this.#byCaller.get(caller) ?? 0;
    if (own >= MAX_OF_ONE)
      throw new ApiError("overloaded", `${own} searches of this caller are under way`);
    if (this.#waiting.length >= MAX_WAITING)
      throw new ApiError("overloaded", `${MAX_WAITING} searches wait already`);
    this.#byCaller.set(caller, own + 1);
    try {
      const thread = await this.#thread(signal);
      try {
        return await thread.search({ ...task, withinMs: this.#withinMs }, signal);
      } finally {
        this.#giveBack(thread);
      }
    } finally {
      const left = (this.#byCaller.get(caller) ?? 1) - 1;
      if (left === 0) this.#byCaller.delete(caller);
      else this.#byCaller.set(caller, left);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#idle);
    await Promise.all([...this.#free, ...this.#busy].map((thread) => thread.close()));
  }

  async #thread(signal: AbortSignal): Promise<SearchThread> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    const free = this.#free.pop();
    if (free !== undefined || this.#busy.size < MAX_THREADS) {
      const thread = free ?? new SearchThread(this.#store);
      this.#busy.add(thread);
      return thread;
    }
    return await new Promise((resolve, reject) => {
      const waiting: Waiting = {
        go: (thread) => {
          signal.removeEventListener("abort", leave);
          resolve(thread);
        },
      };
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #giveBack(thread: SearchThread): void {
    this.#busy.delete(thread);
    const next = this.#waiting.shift();
    const good = thread.hasEnded ? null : thread;
    if (next !== undefined) {
      const its = good ?? new SearchThread(this.#store);
      this.#busy.add(its);
      return next.go(its);
    }
    if (good !== null) this.#free.push(good);
    if (this.#busy.size === 0) this.#idle = setTimeout(() => this.#closeFree(), IDLE_MS).unref();
  }

  #closeFree(): void {
    for (const thread of this.#free.splice(0)) void thread.close();
  }
}
