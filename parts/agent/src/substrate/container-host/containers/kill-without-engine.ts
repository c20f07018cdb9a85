import { readFileSync } from "node:fs";
import { processesOf } from "./job-containers.ts";

/**
 * Ends a container whose engine does not: its PID 1 is killed, and the kernel ends all others of its namespace. The engine's own monitor is
 * left, so that the engine hears of the end.
 */
export function killWithoutEngine(containerId: string): void {
  // Looked up and killed without a pause: a number would have to go once round all others to be somebody else's.
  for (const pid of processesOf(containerId)) if (isFirstOfItsNamespace(pid)) kill(pid);
}

function isFirstOfItsNamespace(pid: number): boolean {
  try {
    const numbers =
      /^NSpid:(.*)$/m
        .exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
        ?.trim()
        .split(/\s+/) ?? [];
    return numbers.length > 1 && numbers.at(-1) === "1";
  } catch {
    // It ended while we looked.
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
