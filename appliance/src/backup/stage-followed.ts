/** The coordinator's database as it was followed, in the place of the older one that the backup has. */
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { BackupError } from "@resontech/backup/backup-error";
import { checkDatabase } from "@resontech/backup/database-part";
import { backupIds } from "@resontech/backup/find-backups";
import type { OpenedBackup } from "@resontech/backup/open-backup";
import type { RecoveryKey } from "@resontech/backup/recovery-key";
import { restoreFollowed } from "@resontech/backup/restore-followed";
import type { Target } from "@resontech/backup/target";
import { reconcileNewer } from "@resontech/backup/reconcile-newer";

const PART = "coordinator";

export type FollowedFrom = {
  target: Target;
  key: RecoveryKey;
  /** Nothing later is looked at; null: as far as it goes. */
  upToMs: number | null;
};
/** How far the database goes beyond the backup. */
export type StagedFollowed = { upTo: string; changes: number };

/**
 * @param folder where the backup was unpacked
 * @returns null where nothing followed it, or only what another release wrote; also for a backup that is not the newest
 * @throws BackupError `followed_damaged`
 */
export async function stageFollowed(
  { manifest }: Pick<OpenedBackup, "manifest">,
  folder: string,
  { target, key, upToMs }: FollowedFrom,
): Promise<StagedFollowed | null> {
  const part = manifest.parts.find(({ name }) => name === PART);
  if (part === undefined || (await backupIds(target))[0] !== manifest.id) return null;
  const file = join(folder, part.path);
  const newer = `${file}.newer`;
  const restored = await restoreFollowed(target, key, newer, {
    ...{ release: manifest.release, upToMs },
    fromMs: part.readAtMs ?? Date.parse(manifest.takenAt),
  });
  if (restored === null) return null;
  const schema = checkDatabase(newer);
  if (schema !== part.schema)
    throw new BackupError("followed_damaged", `what followed has the schema ${schema}`);
  reconcileNewer(newer, file);
  // Of a look into it; everything is in the file itself.
  for (const suffix of ["-wal", "-shm"]) await rm(`${newer}${suffix}`, { force: true });
  await rename(newer, file);
  return { upTo: new Date(restored.upToMs).toISOString(), changes: restored.changes };
}
