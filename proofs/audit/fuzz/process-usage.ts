/** What a process has taken so far, by the kernel. */
import { readFileSync } from "node:fs";

/** Of its clock for processes, `getconf CLK_TCK`. */
const TICKS_A_SECOND = 100;

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
