/** A judging process as its watcher has it: started, followed by the input that it is at, ended when it takes too much. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { cpuLimitS, WORKER_HEAP_MIB, WORKER_KILL_MIB } from "./limits.ts";
import type { Path } from "./make-input.ts";
import type { Fault } from "./program.ts";
import type { WorkerNews, WorkerTask } from "./worker.ts";

const WORKER = fileURLToPath(new URL("worker.ts", import.meta.url));
const LOOK_MS = 200;
/** Of the kernel's clock for processes, `getconf CLK_TCK`. */
const TICKS_A_SECOND = 100;
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
  constructor(task: WorkerTask, onNews: (news: WorkerNews) => void, limitS: number = cpuLimitS(INPUT_BYTES)) {
    this.#progressFile = task.progressFile;
    const flags = [`--max-old-space-size=${WORKER_HEAP_MIB}`, "--expose-gc", "--disable-warning=ExperimentalWarning"];
    this.#child = spawn(process.execPath, [...flags, WORKER, JSON.stringify(task)], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
    this.#child.stderr!.on("data", (part: Buffer) => {
      this.#stderr = (this.#stderr + part.toString("utf8")).slice(-STDERR_KEPT);
    });
    this.#child.on("message", (news) => onNews(news as WorkerNews));
    void this.#watch(limitS);
  }

  /** Resolves when it is gone: at which input and why, or null when it was asked to. */
  async ended(): Promise<Ending> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "close");
    if (this.#isAsked && this.#fault === null) return null;
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
    const what = /heap out of memory|Array buffer allocation failed/.test(this.#stderr) ? "memory" : "crash";
    return { what, said: `ended with ${exitCode ?? signalCode}: ${this.#stderr.trim().split("\n").slice(0, 8).join(" | ")}` };
  }

  /** By what the process itself took: on a busy machine a second lasts. */
  async #watch(limitS: number): Promise<void> {
    let at = "";
    let cpuAtS = 0;
    const { pid } = this.#child;
    const timer = setInterval(() => {
      const took = takenBy(pid!);
      if (took === null) return;
      const now = this.path.join();
      if (now !== at) [at, cpuAtS] = [now, took.cpuS];
      else if (took.cpuS - cpuAtS > limitS) this.#kill({ what: "hang", said: `over ${limitS} s of CPU` });
      if (took.rssMib > WORKER_KILL_MIB) this.#kill({ what: "memory", said: `over ${WORKER_KILL_MIB} MiB` });
    }, LOOK_MS);
    await once(this.#child, "close");
    clearInterval(timer);
  }

  #kill(fault: Fault): void {
    this.#fault ??= fault;
    this.#child.kill("SIGKILL");
  }
}

/** Null for a process that is gone. */
function takenBy(pid: number): { cpuS: number; rssMib: number } | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /, "").split(" ");
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const rssMib = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
    return { cpuS: (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND, rssMib };
  } catch {
    return null;
  }
}
