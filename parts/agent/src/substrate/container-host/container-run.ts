import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunUsage } from "../../decisions/run-usage.ts";
import type { End, Run } from "../enclosure.ts";
import { EnclosureFailedError } from "../substrate-errors.ts";
import type { ContainerState } from "./containers/job-containers.ts";
import { ContainerUsage } from "./usage/container-usage.ts";

/** The engine learns of an end a moment after the process is gone. */
const END_KNOWN_MS = 15_000;
const LOOK_MS = 50;

/** PID 1 of a container by its number and start: asking the kernel costs microseconds, asking the engine a tenth of a second of CPU. */
export class ContainerRun implements Run {
  readonly #pid: number;
  readonly #born: string | null;
  readonly #look: () => Promise<ContainerState | null>;
  readonly #usage: ContainerUsage;

  /** @param found as it was observed; its pid on the host is 0 when it does not run @param look asks the engine */
  constructor(
    { id, pid }: Pick<ContainerState, "id" | "pid">,
    look: () => Promise<ContainerState | null>,
  ) {
    this.#pid = pid;
    this.#born = pid === 0 ? null : startOf(pid);
    this.#look = look;
    this.#usage = new ContainerUsage(pid, id);
  }

  isRunning(): boolean {
    return this.#born !== null && startOf(this.#pid) === this.#born;
  }

  /** The number of a process that has ended may be another's by now. */
  usage(): RunUsage {
    return this.isRunning() ? this.#usage.read() : {};
  }

  memoryBytes(): number | null {
    return this.isRunning() ? this.#usage.memoryBytes() : null;
  }

  /** The engine's word on the end, once it has one. */
  async end(until: AbortSignal): Promise<End> {
    for (const lastAtMs = performance.now() + END_KNOWN_MS; performance.now() < lastAtMs; ) {
      const state = await this.#look();
      if (state === null) throw new EnclosureFailedError("the container is gone");
      if (state.phase === "ended") return { exitCode: state.exitCode, oomKilled: state.oomKilled };
      await sleep(LOOK_MS, undefined, { signal: until });
    }
    throw new EnclosureFailedError("the engine takes an ended container for a running one");
  }
}

/** Field 22 of /proc/PID/stat, counted behind the name, which may hold anything; null for one that is gone or a zombie. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}
