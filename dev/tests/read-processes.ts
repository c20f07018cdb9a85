import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { ProcessSample } from "./process-costs.ts";

/** Ticks a second of /proc/PID/stat on x86-64: man 5 proc_pid_stat. */
const TICKS = 100;

/** Every process of this machine; one that ends meanwhile is left out. */
export function readProcesses(): ProcessSample[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
}

function readProcess(pid: number): ProcessSample | null {
  try {
    return parseProcess(pid, readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return null;
  }
}

/** @param stat as the kernel writes it; the name of the program may hold blanks and parentheses */
export function parseProcess(pid: number, stat: string): ProcessSample {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
  return {
    ...{ pid, parent: Number(fields[1]), startedAt: Number(fields[19]) },
    cpuSeconds: ticks / TICKS,
    cwd: () => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`);
      } catch {
        return null;
      }
    },
  };
}

/** The command of a process, as far as a line has room; `?` when it has ended. */
export function commandOf(pid: number): string {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words.join(" ").trim().slice(0, 120);
  } catch {
    return "?";
  }
}
