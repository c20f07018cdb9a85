/** What a container uses, by files of the kernel alone: no program is asked, and a look takes a fraction of a millisecond. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { networkBytesOf } from "../../../decisions/network-bytes.ts";
import type { RunUsage } from "../../../decisions/run-usage.ts";
import {
  controlGroupPlaces,
  type ControlGroupPlaces,
  readCount,
  cpuMsOfStat,
  cpuMsOfUsage,
  diskBytesOfIoStat,
  limitOf,
  workingSetOf,
} from "../decisions/control-group.ts";

/** Where the kernel's own files are mounted. */
export type KernelFiles = { procfs: string; cgroups: string };
const KERNEL_FILES: KernelFiles = { procfs: "/proc", cgroups: "/sys/fs/cgroup" };

/** Files of one controller by what they say, in version 2 and in version 1. */
const FILES = {
  cpu: { controller: "cpuacct", of2: "cpu.stat", of1: "cpuacct.usage" },
  memory: { controller: "memory", of2: "memory.current", of1: "memory.usage_in_bytes" },
  memoryStat: { controller: "memory", of2: "memory.stat", of1: "memory.stat" },
  memoryPeak: { controller: "memory", of2: "memory.peak", of1: "memory.max_usage_in_bytes" },
  memoryLimit: { controller: "memory", of2: "memory.max", of1: "memory.limit_in_bytes" },
  // Version 1 leaves out what the kernel writes later, which is nearly all: it has no such controller, and nothing is told.
  disk: { controller: "io", of2: "io.stat", of1: "io.stat" },
} as const;

export class ContainerUsage {
  readonly #pid: number;
  readonly #container: string;
  readonly #kernel: KernelFiles;
  #places: ControlGroupPlaces | null = null;

  /** @param pid of its PID 1, on the host @param container the engine's id */
  constructor(pid: number, container: string, kernel = KERNEL_FILES) {
    this.#pid = pid;
    this.#container = container;
    this.#kernel = kernel;
  }

  /** What can't be read, because the kernel does not say it or the container is gone, is absent. */
  read(): RunUsage {
    const cpu = this.#read("cpu");
    const disk = this.#read("disk");
    const stat = this.#read("memoryStat");
    const network = this.#proc("net/dev");
    const peak = this.#read("memoryPeak");
    const limit = this.#read("memoryLimit");
    const disks = disk === null ? null : diskBytesOfIoStat(disk.text);
    const sent = network === null ? null : networkBytesOf(network);
    return known({
      cpuMs: cpu === null ? null : (cpu.isOf2 ? cpuMsOfStat : cpuMsOfUsage)(cpu.text),
      memoryBytes: workingSetOf(this.memoryBytes(), stat?.text ?? ""),
      memoryPeakBytes: peak === null ? null : readCount(peak.text),
      memoryLimitBytes: limit === null ? null : limitOf(limit.text),
      ...{ diskReadBytes: disks?.read ?? null, diskWrittenBytes: disks?.written ?? null },
      ...{ networkReceivedBytes: sent?.received ?? null, networkSentBytes: sent?.sent ?? null },
    });
  }

  /** All memory that counts to its limit, cached files included; null where that is not known. One file: it may be asked each second. */
  memoryBytes(): number | null {
    const memory = this.#read("memory");
    return memory === null ? null : readCount(memory.text);
  }

  #read(name: keyof typeof FILES): { text: string; isOf2: boolean } | null {
    const { controller, of1, of2 } = FILES[name];
    const { unified, controllers } = this.#groups();
    const place = controllers.get(controller);
    if (place === undefined && unified === null) return null;
    const { cgroups } = this.#kernel;
    const isOf2 = place === undefined;
    const text = textOf(
      isOf2 ? join(cgroups, unified!, of2) : join(cgroups, controller, place, of1),
    );
    return text === null ? null : { text, isOf2 };
  }

  /** They stay the same for as long as the container runs. */
  #groups(): ControlGroupPlaces {
    if (this.#places !== null) return this.#places;
    const text = this.#proc("cgroup");
    if (text === null) return { unified: null, controllers: new Map() };
    this.#places = controlGroupPlaces(text, this.#container);
    return this.#places;
  }

  #proc(file: string): string | null {
    return textOf(join(this.#kernel.procfs, String(this.#pid), file));
  }
}

/** Leaves out what is null. */
function known(values: Record<keyof RunUsage, number | null>): RunUsage {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
