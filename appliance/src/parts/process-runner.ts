import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Running } from "./part.ts";
import { identify, removePidFile, signalProcess, writePidFile } from "./process-identity.ts";

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
  /** Handed down as its descriptors 3 and on. @default none */
  fds?: readonly number[];
  /** −1000…1000: who is spared when the host's memory is full. */
  oomScore: number;
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
      stdio: ["ignore", log, log, ...(command.fds ?? [])],
    });
    const exited = new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(`could not start: ${error.message}`));
      child.once("exit", (code, signal) => resolve(signal ?? `exit ${code ?? "?"}`));
    });
    const { pid } = child;
    const identity = pid === undefined ? null : identify(pid);
    if (identity !== null) {
      writePidFile(command.pidFile, identity);
      setOomScore(identity.pid, command.oomScore);
      void exited.then(() => removePidFile(command.pidFile, identity));
    }
    return {
      pid: pid ?? null,
      exited,
      stop: () => {
        if (pid !== undefined) signalProcess(-pid, "SIGTERM");
      },
      kill: () => {
        if (pid !== undefined) signalProcess(-pid, "SIGKILL");
      },
      letGo: () => child.unref(),
    };
  } finally {
    closeSync(log);
  }
}

/** Stated for each process, because a child inherits the supervisor's. Lowering it needs CAP_SYS_RESOURCE, which a guest may lack. */
function setOomScore(pid: number, score: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(score));
  } catch {
    // The host then chooses by size alone.
  }
}
