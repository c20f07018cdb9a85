/** When the next scheduled backup is due, and when somebody should look why none was taken. Pure. */

export type BackupSchedule = {
  /** An absolute path. */
  target: string;
  everyMinutes: number;
  /** How many of the newest stay. */
  keep: number;
};

/** What the last runs came to; null where there was none. Milliseconds since the epoch. */
export type BackupState = {
  begunAtMs: number | null;
  taken: { id: string; atMs: number } | null;
  failed: { code: string; atMs: number } | null;
};

const MINUTE_MS = 60_000;
/** One that failed is tried again so soon, or earlier where backups are more frequent. */
const AGAIN_MS = 5 * MINUTE_MS;
export const EVERY_MINUTES = { least: 5, most: 7 * 24 * 60 };

export function isBackupDue(schedule: BackupSchedule, state: BackupState, nowMs: number): boolean {
  return nextBackupAt(schedule, state, nowMs) <= nowMs;
}

/** Counts from the beginning of the last run, so that a backup that takes long does not move the next. */
export function nextBackupAt(
  { everyMinutes }: BackupSchedule,
  { begunAtMs, taken, failed }: BackupState,
  nowMs: number,
): number {
  // A clock that was set back must not end all backups.
  if (begunAtMs === null || begunAtMs > nowMs) return nowMs;
  const everyMs = everyMinutes * MINUTE_MS;
  const hasFailed = failed !== null && failed.atMs > (taken?.atMs ?? 0);
  return begunAtMs + (hasFailed ? Math.min(AGAIN_MS, everyMs) : everyMs);
}

/** Twice the time has passed without a whole one. @param scheduledAtMs since when the schedule stands */
export function isBackupOverdue(
  { everyMinutes }: BackupSchedule,
  { taken }: BackupState,
  scheduledAtMs: number,
  nowMs: number,
): boolean {
  return nowMs - Math.max(taken?.atMs ?? 0, scheduledAtMs) > 2 * everyMinutes * MINUTE_MS;
}

/** `30m`, `1h`, `1d` → minutes; null for what is none, or beyond {@link EVERY_MINUTES}. */
export function parseEvery(text: string): number | null {
  const [, number = "", unit = ""] = /^([1-9]\d{0,4})(m|h|d)$/.exec(text) ?? [];
  const factor = { m: 1, h: 60, d: 24 * 60 }[unit] ?? Number.NaN;
  const minutes = Number(number) * factor;
  return minutes >= EVERY_MINUTES.least && minutes <= EVERY_MINUTES.most ? minutes : null;
}
