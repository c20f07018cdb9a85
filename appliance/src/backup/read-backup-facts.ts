import type { BackupFacts } from "../commands/decisions/findings.ts";
import type { Layout } from "../layout.ts";
import { readBackupSchedule, readBackupState } from "./backup-schedule.ts";
import { isBackupOverdue } from "./decisions/due-backup.ts";

/** Of the schedule; null where there is none, or none that can be read. */
export function readBackupFacts(layout: Layout, nowMs: number): BackupFacts | null {
  try {
    const schedule = readBackupSchedule(layout);
    if (schedule === null) return null;
    const state = readBackupState(layout);
    const { taken, failed } = state;
    return {
      target: schedule.target,
      isOverdue: isBackupOverdue(schedule, state, schedule.setAtMs, nowMs),
      takenAtMs: taken?.atMs ?? null,
      failure: failed !== null && failed.atMs > (taken?.atMs ?? 0) ? failed.code : null,
    };
  } catch {
    return null;
  }
}
