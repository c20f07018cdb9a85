/** Takes the backups of the schedule, each by a process of its own: what one needs of CPU and memory is not the supervisor's. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { readBackupSchedule, readBackupState } from "./backup-schedule.ts";
import { type BackupSchedule, isBackupDue } from "./decisions/due-backup.ts";
import type { Layout } from "@resontech/frame/layout";

const LOOK_MS = 15_000;
/** After a start: parts come up first. */
const FIRST_LOOK_MS = 120_000;
const MAX_SAID = 2_000;

export type RunBackups = {
  layout: Layout;
  /** Command and arguments before `backup take …`. */
  appliance: readonly string[];
  log: Logger;
  firstLookMs?: number;
  lookMs?: number;
};

/** Takes backups by the schedule until `signal`, which ends one that runs as well. */
export async function runBackups(options: RunBackups, signal: AbortSignal): Promise<void> {
  const { layout, log, firstLookMs = FIRST_LOOK_MS, lookMs = LOOK_MS } = options;
  await pause(firstLookMs, undefined, { signal }).catch(() => {});
  while (!signal.aborted) {
    try {
      const schedule = readBackupSchedule(layout);
      if (schedule !== null && isBackupDue(schedule, readBackupState(layout), Date.now()))
        await takeOne(options, schedule, signal);
    } catch (err) {
      log.error({ err }, "backups of the schedule");
    }
    await pause(lookMs, undefined, { signal }).catch(() => {});
  }
}

async function takeOne(
  { appliance, log }: RunBackups,
  { target, keep }: BackupSchedule,
  signal: AbortSignal,
): Promise<void> {
  const [command = "", ...args]: readonly string[] = [...appliance, "backup", "take", target];
  const child = spawn(command, [...args, "--keep", String(keep), "--json"], {
    ...{ cwd: "/", stdio: ["ignore", "ignore", "pipe"] },
  });
  let said = "";
  child.stderr
    .setEncoding("utf8")
    .on("data", (text: string) => (said = (said + text).slice(-MAX_SAID)));
  const end = (): void => void child.kill("SIGTERM");
  signal.addEventListener("abort", end, { once: true });
  try {
    const [code] = (await once(child, "close")) as [number | null];
    if (code === 0) log.info({ target }, "a backup was taken");
    else if (!signal.aborted) log.error({ target, code, said: said.trim() }, "a backup failed");
  } finally {
    signal.removeEventListener("abort", end);
  }
}
