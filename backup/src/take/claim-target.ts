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
  const claim = Buffer.from(`${JSON.stringify({ format: FORMAT, appliance, signer })}\n`);
  const found = await readIfThere(target, FILE, MAX_BYTES);
  if (found === null) return await target.put(FILE, once(claim));
  if (!found.equals(claim))
    throw new BackupError(
      "backup_target_taken",
      `${target.name} holds backups of another appliance, or for another recovery key: ${found.toString("utf8").trim()}`,
    );
}

/** A content that is one chunk. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
