import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { REPLICA_SPEC, type ReplicaSpecFile } from "@resontech/contracts/replica-spec";
import { wholeLines } from "@resontech/house/whole-lines";

/** Linux counts processor time a hundred times a second. */
const MS_A_TICK = 10;
const RUNNERS = join(import.meta.dirname, "../../../agent/runners");

/** What the agent gives a container of an engine. */
export type EngineContainer = {
  /** Of the runners: its `main.main(root)` is the program. */
  module: string;
  /** Below `/rt/job`. */
  file: string;
  spec: { port: number };
  environment?: Record<string, string>;
};

/** The real program of a container with an engine, in a folder that stands for the container's root. */
export class EngineReplica implements AsyncDisposable {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #root: string;
  #output = "";

  private constructor(child: ChildProcess, root: string, port: number) {
    this.port = port;
    this.#child = child;
    this.#root = root;
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => (this.#output += chunk.toString("utf8")));
  }

  /** @param root a folder of its own */
  static start(
    python: string,
    root: string,
    { module, file, spec, environment = {} }: EngineContainer,
  ): EngineReplica {
    for (const folder of ["rt/job", "rt/events", "tmp"])
      mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, "rt/job", file), JSON.stringify(spec));
    // One processor, as a container with a quota of one has: threads of an engine wait for one another busily, and stand still beside other work.
    const program = `import os, random, sys, pathlib
os.sched_setaffinity(0, {random.choice(sorted(os.sched_getaffinity(0)))})
sys.path.insert(0, ${JSON.stringify(RUNNERS)})
from ${module}.main import main
sys.exit(main(pathlib.Path(${JSON.stringify(root)})))`;
    const child = spawn(python, ["-u", "-c", program], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...{ ...process.env, PYTHONDONTWRITEBYTECODE: "1", TMPDIR: join(root, "tmp") },
        ...environment,
      },
    });
    return new EngineReplica(child, root, spec.port);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Of the process that the engine runs in. */
  get enginePid(): number {
    const children = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, "utf8");
    return Number(children.trim().split(" ")[0]);
  }

  /** What the engine's process has worked so far, all its threads together, to 10 ms. */
  engineCpuMs(): number {
    const stat = readFileSync(`/proc/${this.enginePid}/stat`, "utf8");
    // After the name, which may have any character: user and system time are the 12th and 13th.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * MS_A_TICK;
  }

  /** As the agent passes it on. */
  wish(order: number, asleep: boolean): void {
    const wish: ReplicaSpecFile = { formatVersion: 1, order, asleep };
    const file = join(this.#root, "rt/job", REPLICA_SPEC);
    writeFileSync(`${file}.fresh`, JSON.stringify(wish));
    renameSync(`${file}.fresh`, file);
  }

  /** Waits until it has said so. @throws Error when it does not within `ms` */
  async stands(standing: string, order: number, ms: number): Promise<void> {
    for (const end = Date.now() + ms; ; await sleep(10)) {
      const last = this.told().findLast(({ kind }) => kind === "standing");
      if (last?.["standing"] === standing && last["order"] === order) return;
      if (Date.now() > end) throw new Error(`it stands ${JSON.stringify(last)}: ${this.#output}`);
    }
  }

  get output(): string {
    return this.#output;
  }

  /** What it told the agent so far. */
  told(): Record<string, unknown>[] {
    const lines = wholeLines(join(this.#root, "rt/events/events.jsonl"));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** @throws Error when it ends, or says nothing for so long */
  async ready(ms = 60_000): Promise<void> {
    for (const end = Date.now() + ms; ; await sleep(50)) {
      if (this.told().some(({ kind }) => kind === "ready")) return;
      if (this.#child.exitCode !== null || Date.now() > end)
        throw new Error(`the replica is not ready: ${this.#output}`);
    }
  }

  /** Its exit code. @throws Error when it does not end within `ms` */
  async ended(ms = 60_000): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null)
      await once(this.#child, "exit", { signal: AbortSignal.timeout(ms) });
    return this.#child.exitCode;
  }

  stop(signal: NodeJS.Signals = "SIGTERM"): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop("SIGKILL");
    await this.ended();
  }
}
