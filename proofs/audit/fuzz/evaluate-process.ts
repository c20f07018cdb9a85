/** A judging process as its watcher has it: started, followed by the input that it is at, ended when it takes too much. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Fault, firstLines, OUT_OF_MEMORY } from "./fault.ts";
import { cpuLimitS, WORKER_HEAP_MIB, KILL_MIB } from "./limits.ts";
import type { Path } from "./make-input.ts";
import { boundedNode, usageOf } from "./process-usage.ts";
import type { WorkerNews, WorkerTask } from "./worker.ts";

const WORKER = fileURLToPath(new URL("worker.ts", import.meta.url));
const LOOK_MS = 200;
/** None of the small inputs is longer. */
const INPUT_BYTES = 8_388_608;
const STDERR_KEPT = 8_000;

export type Ending = { path: Path; fault: Fault } | null;

export class JudgeProcess {
  readonly #child: ChildProcess;
  readonly #progressFile: string;
  #stderr = "";
  #isAsked = false;
  #fault: Fault | null = null;

  /** @param limitS of CPU for one input */
  constructor(
    task: WorkerTask,
    onNews: (news: WorkerNews) => void,
    limitS: number = cpuLimitS(INPUT_BYTES),
  ) {
    this.#progressFile = task.progressFile;
    const flags = [
      `--max-old-space-size=${WORKER_HEAP_MIB}`,
      "--expose-gc",
      "--disable-warning=ExperimentalWarning",
    ];
    this.#child = spawn(
      ...boundedNode(process.execPath, [...flags, WORKER, JSON.stringify(task)]),
      {
        stdio: ["ignore", "ignore", "pipe", "ipc"],
      },
    );
    this.#child.stderr!.on("data", (part: Buffer) => {
      this.#stderr = (this.#stderr + part.toString("utf8")).slice(-STDERR_KEPT);
    });
    this.#child.on("message", (news) => onNews(news as WorkerNews));
    void this.#watch(limitS);
  }

  /** Resolves when it is gone: at which input and why, or null when it was asked to, or had done its task. */
  async ended(): Promise<Ending> {
    if (this.#child.exitCode === null && this.#child.signalCode === null)
      await once(this.#child, "close");
    if (this.#fault === null && (this.#isAsked || this.#child.exitCode === 0)) return null;
    return { path: this.path, fault: this.#fault ?? this.#ownEnd() };
  }

  end(): void {
    this.#isAsked = true;
    this.#child.kill("SIGKILL");
  }

  /** Of the input that it is at. */
  get path(): Path {
    try {
      return JSON.parse(readFileSync(this.#progressFile, "utf8")) as Path;
    } catch {
      return [];
    }
  }

  #ownEnd(): Fault {
    const { exitCode, signalCode } = this.#child;
    const what = OUT_OF_MEMORY.test(this.#stderr) ? "memory" : "crash";
    return { what, said: `ended with ${exitCode ?? signalCode}: ${firstLines(this.#stderr)}` };
  }

  /** By what the process itself took: on a busy machine a second lasts. */
  async #watch(limitS: number): Promise<void> {
    let at = "";
    let cpuAtS = 0;
    const { pid } = this.#child;
    const timer = setInterval(() => {
      const took = usageOf(pid!);
      if (took === null) return;
      const now = this.path.join();
      if (now !== at) [at, cpuAtS] = [now, took.cpuS];
      else if (took.cpuS - cpuAtS > limitS)
        this.#kill({ what: "hang", said: `over ${limitS} s of CPU` });
      if (took.rssMib > KILL_MIB) this.#kill({ what: "memory", said: `over ${KILL_MIB} MiB` });
    }, LOOK_MS);
    await once(this.#child, "close");
    clearInterval(timer);
  }

  #kill(fault: Fault): void {
    this.#fault ??= fault;
    this.#child.kill("SIGKILL");
  }
}
