/** Both ends of a thread that carries tasks out; as many at once as it is given. */
import { readlinkSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { basename } from "node:path";
import {
  isMainThread,
  type MessagePort,
  parentPort,
  Worker,
  workerData,
} from "node:worker_threads";
import { fetchFile } from "../staging/fetch-file.ts";
import type { Source } from "../staging/object-bytes.ts";
import { unpackShard } from "../staging/unpack-shard.ts";
import { digestOf } from "./digest-of.ts";
import { putPart } from "./put-part.ts";
import type { FromThread, Progress, ResultOf, Task, ToThread } from "./tasks.ts";
import { fromThrown, toThrown } from "./thrown-error.ts";

/** Compiled, it stands beside the agent. */
const ENTRY = new URL(
  import.meta.url.endsWith(".ts") ? import.meta.url : "agent-transfers.mjs",
  import.meta.url,
);
const ROLE = "agent-transfers";
const TELL_EVERY_MS = 100;
/** On a busy node the main thread runs first: a lease that is kept late is lost. */
const NICE = 5;

type Waiting = {
  done: (result: ResultOf<Task["kind"]>) => void;
  fail: (error: Error) => void;
  onProgress: (progress: Progress) => void;
  url: (isOutdated: boolean) => Promise<string>;
};

/** The end of it in the main thread. */
export class TransferThread {
  readonly #thread = new Worker(ENTRY, { workerData: ROLE });
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #hasEnded = false;

  constructor() {
    this.#thread.unref();
    this.#thread.on("message", (message: FromThread) => this.#hear(message));
    this.#thread.on("error", (error) =>
      this.#end(error instanceof Error ? error : new Error(String(error))),
    );
    this.#thread.on("exit", (code) =>
      this.#end(new Error(`the thread for transfers ended with ${code}`)),
    );
  }

  get tasks(): number {
    return this.#waiting.size;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Resolves or rejects once the thread has let go of files and descriptors, also of what was given up.
   * @throws what the task throws; the signal's reason
   */
  async run<K extends Task["kind"]>(
    task: Extract<Task, { kind: K }>,
    { onProgress = () => undefined, url = noUrl }: Partial<Pick<Waiting, "onProgress" | "url">>,
    signal: AbortSignal,
  ): Promise<ResultOf<K>> {
    signal.throwIfAborted();
    this.#lastId += 1;
    const id = this.#lastId;
    const abort = (): void => this.#tell({ id, abort: true });
    try {
      return await new Promise<ResultOf<K>>((done, fail) => {
        this.#waiting.set(id, {
          done: (result) => done(result as ResultOf<K>),
          fail,
          onProgress,
          url,
        });
        this.#thread.ref();
        this.#tell({ id, task });
        signal.addEventListener("abort", abort, { once: true });
      });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", abort);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#thread.unref();
    }
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }

  #hear(message: FromThread): void {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    if ("progress" in message) waiting.onProgress(message.progress);
    else if ("result" in message) waiting.done(message.result);
    else if ("failed" in message) waiting.fail(fromThrown(message.failed));
    else
      waiting.url(message.wantsUrl.isOutdated).then(
        (url) => this.#tell({ id: message.id, url }),
        (error: unknown) => this.#tell({ id: message.id, urlFailed: toThrown(error) }),
      );
  }

  #tell(message: ToThread): void {
    this.#thread.postMessage(message);
  }

  #end(error: Error): void {
    this.#hasEnded = true;
    for (const { fail } of this.#waiting.values()) fail(error);
  }
}

async function noUrl(): Promise<string> {
  throw new Error("this task has no URL to ask for");
}

/** What the thread knows of a task that it works at. */
type Working = {
  abort: AbortController;
  answerUrl: (answer: Extract<ToThread, { url: string } | { urlFailed: unknown }>) => void;
};

function serve(port: MessagePort): void {
  // Linux has a priority for each thread, by its own number.
  setPriority(Number(basename(readlinkSync("/proc/thread-self"))), getPriority(process.pid) + NICE);
  const working = new Map<number, Working>();
  const tell = (message: FromThread): void => port.postMessage(message);
  port.on("message", (message: ToThread) => {
    const { id } = message;
    if ("abort" in message) working.get(id)?.abort.abort(new Error("given up"));
    else if (!("task" in message)) working.get(id)?.answerUrl(message);
    else {
      const own: Working = { abort: new AbortController(), answerUrl: () => undefined };
      working.set(id, own);
      const progress = new ProgressTeller((told) => tell({ id, progress: told }));
      const url = async (isOutdated: boolean): Promise<string> =>
        await new Promise((resolve, reject) => {
          own.abort.signal.addEventListener("abort", () => reject(new Error("given up")), {
            once: true,
          });
          own.answerUrl = (answer) =>
            "url" in answer ? resolve(answer.url) : reject(fromThrown(answer.urlFailed));
          tell({ id, wantsUrl: { isOutdated } });
        });
      carryOut(message.task, url, progress, own.abort.signal)
        .then(
          (result) => {
            progress.flush();
            tell({ id, result });
          },
          (error: unknown) => tell({ id, failed: toThrown(error) }),
        )
        .finally(() => working.delete(id));
    }
  });
}

async function carryOut(
  task: Task,
  url: Source["url"],
  progress: ProgressTeller,
  signal: AbortSignal,
): Promise<ResultOf<Task["kind"]>> {
  const onBytes = (bytes: number): void => progress.add({ bytes, files: 0 });
  switch (task.kind) {
    case "file":
      return await fetchFile(
        sourceOf(task, url),
        ...([task.input, task.file, onBytes, signal, task.keepIn] as const),
      );
    case "shard": {
      let unpacked = 0;
      const onFiles = (files: number): void => {
        progress.add({ bytes: 0, files: files - unpacked });
        unpacked = files;
      };
      return await unpackShard(
        sourceOf(task, url),
        task.input,
        task.folder,
        task.maxBytes,
        { onBytes, onFiles },
        signal,
        task.keepIn,
      );
    }
    case "digest":
      return await digestOf(task.range, task.copy, onBytes, signal);
    case "part":
      return await putPart(task.range, task.url, task.ca, onBytes, signal);
  }
}

function sourceOf(
  { ca, kept }: Extract<Task, { kind: "file" | "shard" }>,
  url: Source["url"],
): Source {
  return kept === undefined ? { url, ca } : { url, ca, kept };
}

/** Sums what came between two words to the main thread. */
class ProgressTeller {
  readonly #tell: (progress: Progress) => void;
  #sum: Progress = { bytes: 0, files: 0 };
  #toldAtMs = Number.NEGATIVE_INFINITY;

  constructor(tell: (progress: Progress) => void) {
    this.#tell = tell;
  }

  add({ bytes, files }: Progress): void {
    this.#sum = { bytes: this.#sum.bytes + bytes, files: this.#sum.files + files };
    if (performance.now() - this.#toldAtMs >= TELL_EVERY_MS) this.flush();
  }

  flush(): void {
    if (this.#sum.bytes > 0 || this.#sum.files > 0) this.#tell(this.#sum);
    this.#sum = { bytes: 0, files: 0 };
    this.#toldAtMs = performance.now();
  }
}

if (!isMainThread && workerData === ROLE && parentPort !== null) serve(parentPort);
