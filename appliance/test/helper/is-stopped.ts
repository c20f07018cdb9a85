import { readdirSync, readFileSync } from "node:fs";

/** Whether SIGSTOP has reached every thread: each stops by itself. */
export function isStopped(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((task) =>
    /^State:\s+T/m.test(readFileSync(`/proc/${pid}/task/${task}/status`, "utf8")),
  );
}
