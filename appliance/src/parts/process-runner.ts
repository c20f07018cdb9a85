import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Running } from "./part.ts";

export type ProcessCommand = {
  program: string;
  args: readonly string[];
  /** The whole environment: nothing of the supervisor's leaks through. Never argv for a secret: every user can read argv. */
  env: Readonly<Record<string, string>>;
  uid: number;
  gid: number;
  cwd: string;
  /** Standard output and error are appended here. */
  logFile: string;
  /** Names the running process across a crash of the supervisor. */
  pidFile: string;
};

/** Starts a process in a group of its own. It writes to its log by itself, so it outlives a killed supervisor unharmed. */
export async function startProcess(command: ProcessCommand): Promise<Running> {
  mkdirSync(dirname(command.logFile), { recursive: true, mode: 0o750 });
  const log = openSync(command.logFile, "a", 0o640);
  try {
    const child = spawn(command.program, command.args, {
      cwd: command.cwd,
      env: { ...command.env },
      uid: command.uid,
      gid: command.gid,
      detached: true,
      stdio: ["ignore", log, log],
    });
    const exited = new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(`could not start: ${error.message}`));
      child.once("exit", (code, signal) => resolve(signal ?? `exit ${code ?? "?"}`));
    });
    const { pid } = child;
    if (pid !== undefined) {
      writeFileSync(command.pidFile, `${pid} ${startTimeOf(pid) ?? ""}\n`);
      void exited.then(() => rmSync(command.pidFile, { force: true }));
    }
    return {
      pid: pid ?? null,
      exited,
      signal: async (name) => {
        if (pid !== undefined) signalGroup(pid, name);
      },
    };
  } finally {
    closeSync(log);
  }
}

/** Ends what a killed supervisor left behind this pid file; a recycled pid is told by its start time and left alone. */
export async function endPredecessor(pidFile: string, graceMs: number): Promise<void> {
  if (!existsSync(pidFile)) return;
  const [first = "", startTime = ""] = readFileSync(pidFile, "utf8").trim().split(" ");
  const pid = Number(first);
  const isSame = (): boolean => pid > 1 && startTimeOf(pid) === startTime;
  if (isSame()) signalGroup(pid, "SIGTERM");
  for (let waitedMs = 0; isSame() && waitedMs < graceMs; waitedMs += 50) await sleep(50);
  if (isSame()) signalGroup(pid, "SIGKILL");
  while (isSame()) await sleep(20);
  rmSync(pidFile, { force: true });
}

function signalGroup(pid: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Field 22 of /proc/<pid>/stat: clock ticks after boot; with the pid it names one process for ever. Null when it is gone or a zombie. */
function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}
