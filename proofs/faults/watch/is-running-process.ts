import { readFileSync } from "node:fs";

/** Whether a process of the host still runs; one that has ended and was not collected yet does not. */
export function isRunningProcess(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) !== "Z";
  } catch {
    return false;
  }
}
