/** What a process takes, by the kernel: what it may, and what it has so far. */
import { readFileSync } from "node:fs";

/** Of its clock for processes, `getconf CLK_TCK`. */
const TICKS_A_SECOND = 100;

/** More than any watcher lets it have; where a watcher is late, the kernel refuses it. */
const MAX_DATA_KIB = 2_097_152;

/** Program and arguments of a Node process that can't take the machine's memory. */
export function boundedNode(
  node: string,
  args: readonly string[],
): [command: string, args: string[]] {
  return ["/bin/sh", ["-c", `ulimit -d ${MAX_DATA_KIB}; exec "$0" "$@"`, node, ...args]];
}

/** Null for a process that is gone. */
export function usageOf(pid: number): { cpuS: number; rssMib: number } | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const rssMib = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
    return { cpuS: (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND, rssMib };
  } catch {
    return null;
  }
}
