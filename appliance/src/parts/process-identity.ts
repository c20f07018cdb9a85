/** One process for as long as the host is up: its id, and when it started, because ids are used again. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export type ProcessIdentity = { pid: number; startTicks: string };
export type StopSignal = "SIGTERM" | "SIGINT" | "SIGKILL";

const POLL_MS = 50;

/** Reads when a process started; null when no such process runs, or only its exit status is left of it. */
export function identify(pid: number): ProcessIdentity | null {
  try {
    // Field 22 is the start in clock ticks after boot; the name before it may hold blanks and brackets.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[19] === undefined ? null : { pid, startTicks: fields[19] };
  } catch {
    return null;
  }
}

export function isAlive({ pid, startTicks }: ProcessIdentity): boolean {
  return identify(pid)?.startTicks === startTicks;
}

/** @returns false when it still runs after `timeoutMs` */
export async function untilGone(
  identity: ProcessIdentity,
  timeoutMs: number = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const startedAt = performance.now();
  while (isAlive(identity)) {
    if (performance.now() - startedAt > timeoutMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}

export function writePidFile(file: string, { pid, startTicks }: ProcessIdentity): void {
  writeFileSync(file, `${pid} ${startTicks}\n`);
}

/** One that names another process by now stays. */
export function removePidFile(file: string, { pid, startTicks }: ProcessIdentity): void {
  const named = readPidFile(file);
  if (named?.pid === pid && named.startTicks === startTicks) rmSync(file, { force: true });
}

/** Ends what a killed supervisor left behind this pid file, gently first. A process that only has the same id is left alone. */
export async function endLeftover(
  pidFile: string,
  options: { graceMs: number; stopSignal: StopSignal; wholeGroup: boolean },
): Promise<void> {
  const identity = readPidFile(pidFile);
  if (identity !== null && isAlive(identity)) {
    const target = options.wholeGroup ? -identity.pid : identity.pid;
    signalProcess(target, options.stopSignal);
    if (!(await untilGone(identity, options.graceMs))) {
      signalProcess(target, "SIGKILL");
      await untilGone(identity);
    }
  }
  rmSync(pidFile, { force: true });
}

/** Signals the process that the pid file names, if it still runs. */
export function signalRecorded(pidFile: string, signal: NodeJS.Signals): void {
  const identity = readPidFile(pidFile);
  if (identity !== null && isAlive(identity)) signalProcess(identity.pid, signal);
}

/** Reads the process that a file names; null when there is no such file, or it names none. */
export function readPidFile(file: string): ProcessIdentity | null {
  if (!existsSync(file)) return null;
  const [pid = "", startTicks = ""] = readFileSync(file, "utf8").trim().split(" ");
  return Number(pid) > 1 ? { pid: Number(pid), startTicks } : null;
}

/** @param target a process id, or minus that of a group's leader; one that has just ended is fine */
export function signalProcess(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
