import {
  backupsToRemove,
  backupTimeMs,
  MAX_BACKUP_LIFE_MS,
} from "../decisions/backups-to-remove.ts";
import { objectNameOf } from "../objects/object-entry.ts";
import { manifestPath } from "../manifest/backup-paths.ts";
import { backupIds, objectNames, pathsByBackup, readManifest } from "../open/find-backups.ts";
import type { Target } from "../targets/target.ts";

/** Removes the manifest first: a backup that is cut while it goes counts as none. */
export async function removeBackup(
  target: Target,
  id: string,
  paths: readonly string[],
): Promise<void> {
  if (paths.includes(manifestPath(id))) await target.remove(manifestPath(id));
  for (const path of paths) if (path !== manifestPath(id)) await target.remove(path);
}

/** What is older than any backup may be, whether or not another one can be taken. @returns the ids @throws BackupError */
export async function removeOverdue(target: Target, nowMs: number): Promise<string[]> {
  const all = await pathsByBackup(target);
  const overdue = [...all].filter(([id]) => nowMs - backupTimeMs(id) > MAX_BACKUP_LIFE_MS);
  for (const [id, paths] of overdue) await removeBackup(target, id, paths);
  return overdue.map(([id]) => id);
}

/**
 * Leaves the newest backups, whole ones, and the objects that they need.
 * @param signer whose manifests say which objects that are; where one can't be read, no object is removed
 * @returns ids of what was removed
 * @throws BackupError
 */
export async function pruneTarget(
  target: Target,
  { keep, nowMs, signer }: { keep: number; nowMs: number; signer: string },
): Promise<string[]> {
  const whole = await backupIds(target);
  const served = new Set(backupsToRemove(whole, keep, nowMs));
  const kept = whole.filter((id) => !served.has(id));
  const removed: string[] = [];
  for (const [id, paths] of await pathsByBackup(target)) {
    if (kept.includes(id)) continue;
    await removeBackup(target, id, paths);
    removed.push(id);
  }
  await removeUnneeded(target, kept, signer);
  return removed;
}

async function removeUnneeded(
  target: Target,
  kept: readonly string[],
  signer: string,
): Promise<void> {
  const needed = new Set<string>();
  for (const id of kept)
    for await (const name of objectNames(target, await readManifest(target, id, signer)))
      needed.add(name);
  for await (const path of target.list("objects")) {
    const name = objectNameOf(path);
    if (name === null || !needed.has(name)) await target.remove(path);
  }
}
