/** Which backups have served. Pure. */

/** As long as a copy of the vault's keys can be opened: what was erased is in no backup after that. */
export const MAX_BACKUP_LIFE_MS = 30 * 86_400_000;

/** `20261127T101500Z`: sorts by time, and is a name everywhere. */
export function backupId(atMs: number): string {
  return new Date(atMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
}

/** NaN for what is no {@link backupId}. */
export function backupTimeMs(id: string): number {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(id) ?? [];
  const [year, month, day, hour, minute, second] = parts;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/**
 * @param ids of whole backups
 * @param keep how many of the newest stay, at least one
 */
export function backupsToRemove(ids: readonly string[], keep: number, nowMs: number): string[] {
  const newestFirst = [...ids].sort().reverse();
  return newestFirst.filter(
    (id, at) => at >= Math.max(1, keep) || nowMs - backupTimeMs(id) > MAX_BACKUP_LIFE_MS,
  );
}
