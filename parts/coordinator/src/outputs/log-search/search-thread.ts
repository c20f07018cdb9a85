/** Both ends of a thread that searches logs, one search at a time. It reads the object store by a connection of its own. */
import {
  isMainThread,
  type MessagePort,
  parentPort,
  Worker,
  workerData,
} from "node:worker_threads";
import { S3ObjectStore } from "../../storage/object-store.ts";
import {
  S3Transport,
  type S3TransportOptions,
  S3UnavailableError,
} from "../../storage/s3-transport.ts";
import { type LogSearchResult, type LogSearchTask, searchLogs } from "./search-logs.ts";

export type SearchedStore = Pick<S3TransportOptions, "endpoint" | "region" | "credentials"> & {
  /** PEM. */
  ca: string;
};

/** Compiled, it stands beside the coordinator. */
const ENTRY = new URL(
  import.meta.url.endsWith(".ts") ? import.meta.url : "coordinator-log-search.mjs",
  import.meta.url,
);
/** Beyond what a search is given: the object store is away, or the thread hangs. */
const GRACE_MS = 5_000;
const MAX_HEAP_MIB = 128;

type ThreadData = { searchesLogs: SearchedStore };
type ToThread = { task: LogSearchTask } | { abort: true };
type FromThread = { result: LogSearchResult } | { failed: string };

/** The end of it in the main thread. */
export class SearchThread {
  readonly #thread: Worker;
  #hasEnded = false;

  constructor(store: SearchedStore) {
    this.#thread = new Worker(ENTRY, {
      workerData: { searchesLogs: store } satisfies ThreadData,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
      // It has no use for what the coordinator was started with.
      env: {},
    });
    this.#thread.unref();
    // Told to whoever waits; without a listener it would end the process.
    this.#thread.on("error", () => (this.#hasEnded = true));
    this.#thread.on("exit", () => (this.#hasEnded = true));
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * One at a time.
   * @throws S3UnavailableError where the thread has no answer; the signal's reason, once the thread has let go
   */
  async search(task: LogSearchTask, signal: AbortSignal): Promise<LogSearchResult> {
    signal.throwIfAborted();
    const abort = (): void => this.#thread.postMessage({ abort: true } satisfies ToThread);
    const { promise, resolve, reject } = Promise.withResolvers<FromThread>();
    const fail = (cause: unknown): void =>
      reject(new S3UnavailableError("the search of logs ended early", { cause }));
    const overdue = setTimeout(() => {
      // Whatever holds it up, the next search gets another.
      void this.close();
    }, task.withinMs + GRACE_MS);
    this.#thread.on("message", resolve).on("error", fail).on("exit", fail);
    signal.addEventListener("abort", abort, { once: true });
    try {
      this.#thread.postMessage({ task } satisfies ToThread);
      const answer = await promise;
      signal.throwIfAborted();
      if ("failed" in answer) throw new S3UnavailableError(answer.failed);
      return answer.result;
    } finally {
      clearTimeout(overdue);
      signal.removeEventListener("abort", abort);
      this.#thread.off("message", resolve).off("error", fail).off("exit", fail);
    }
  }

  async close(): Promise<void> {
    this.#hasEnded = true;
    await this.#thread.terminate();
  }
}

function serve(port: MessagePort, options: SearchedStore): void {
  const store = new S3ObjectStore(new S3Transport(options));
  let aborted = new AbortController();
  const tell = (message: FromThread): void => port.postMessage(message);
  port.on("message", (message: ToThread) => {
    if ("abort" in message) return aborted.abort(new Error("nobody waits any more"));
    aborted = new AbortController();
    searchLogs(store, message.task, aborted.signal).then(
      (result) => tell({ result }),
      (error: unknown) => tell({ failed: error instanceof Error ? error.message : String(error) }),
    );
  });
}

function isThreadData(data: unknown): data is ThreadData {
  return typeof data === "object" && data !== null && "searchesLogs" in data;
}

if (!isMainThread && isThreadData(workerData) && parentPort !== null)
  serve(parentPort, workerData.searchesLogs);
