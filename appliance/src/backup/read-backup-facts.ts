import type { Layout } from "@resontech/frame/layout";
import { readBackupSchedule, readBackupState } from "./backup-schedule.ts";
import { isBackupOverdue, nextBackupAt } from "./decisions/due-backup.ts";
import { readFollowed } from "./follow-state.ts";

/** Of scheduled backups. */
export type BackupFacts = {
  target: string;
  everyMinutes: number;
  /** How many of the newest stay. */
  keep: number;
  /** When the next is due; milliseconds since the epoch. */
  nextAtMs: number;
  isOverdue: boolean;
  /** When the last whole one was taken; milliseconds since the epoch. */
  takenAtMs: number | null;
  /** Why the last one failed, where it did. */
  failure: string | null;
  /** Of the database that is followed; null while it is not looked at. */
  followed: { behindS: number; failure: string | null } | null;
};

/** After a start, or after a schedule was set, the follower comes last. */
const FOLLOWER_STARTS_MS = 60_000;

/**
 * Of the schedule; null where there is none, or none that can be read.
 * @param runsForMs since the follower was to run; null: nothing runs
 */
export function readBackupFacts(
  layout: Layout,
  nowMs: number,
  runsForMs: number | null = null,
): BackupFacts | null {
  try {
    const schedule = readBackupSchedule(layout);
    if (schedule === null) return null;
    const state = readBackupState(layout);
    const { taken, failed } = state;
    const isStarting =
      runsForMs === null || Math.min(runsForMs, nowMs - schedule.setAtMs) < FOLLOWER_STARTS_MS;
    return {
      ...{ target: schedule.target, everyMinutes: schedule.everyMinutes, keep: schedule.keep },
      nextAtMs: nextBackupAt(schedule, state, nowMs),
      isOverdue: isBackupOverdue(schedule, state, schedule.setAtMs, nowMs),
      takenAtMs: taken?.atMs ?? null,
      failure: failed !== null && failed.atMs > (taken?.atMs ?? 0) ? failed.code : null,
      followed: isStarting ? null : followedFacts(layout, schedule.setAtMs, nowMs),
    };
  } catch {
    return null;
  }
}

function followedFacts(
  layout: Layout,
  setAtMs: number,
  nowMs: number,
): NonNullable<BackupFacts["followed"]> {
  const state = readFollowed(layout);
  const behindMs = Math.max(0, nowMs - (state?.upToMs ?? setAtMs));
  return { behindS: Math.round(behindMs / 1_000), failure: state?.failure ?? null };
}
