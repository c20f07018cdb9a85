import { commandOf } from "./read-processes.ts";

/** Kills what may have ended by itself. @returns its command, as far as a line has room */
export function endProcess(pid: number): string {
  const command = commandOf(pid);
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
  return command;
}
