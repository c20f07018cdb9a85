import { BackupError } from "../backup-error.ts";
import { FORMAT } from "../manifest/manifest.ts";
import { readIfThere, type Target } from "../targets/target.ts";

const FILE = "resontech-backup.json";
const MAX_BYTES = 4_096;

/**
 * A target is one appliance's under one recovery key: others' backups would be taken for its own, and removed.
 * @throws BackupError `backup_target_taken`
 */
export async function claimTarget(
  target: Target,
  appliance: string,
  signer: string,
): Promise<void> {
  if (await isClaimed(target, appliance, signer)) return;
  await target.put(FILE, once(claimOf(appliance, signer)));
}

/**
 * For whoever adds to backups that are there: a folder without any may be one that nobody mounted a disk on.
 * @throws BackupError `backup_missing`, `backup_target_taken`
 */
export async function requireClaimed(
  target: Target,
  appliance: string,
  signer: string,
): Promise<void> {
  if (await isClaimed(target, appliance, signer)) return;
  throw new BackupError("backup_missing", `${target.name} holds no backup of this appliance`);
}

function claimOf(appliance: string, signer: string): Buffer {
  return Buffer.from(`${JSON.stringify({ format: FORMAT, appliance, signer })}\n`);
}

/** @throws BackupError `backup_target_taken` by somebody else */
async function isClaimed(target: Target, appliance: string, signer: string): Promise<boolean> {
  const found = await readIfThere(target, FILE, MAX_BYTES);
  if (found !== null && !found.equals(claimOf(appliance, signer)))
    throw new BackupError(
      "backup_target_taken",
      `${target.name} holds backups of another appliance, or for another recovery key: ${found.toString("utf8").trim()}`,
    );
  return found !== null;
}

/** A content that is one chunk. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
