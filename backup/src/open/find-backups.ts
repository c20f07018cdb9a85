/** Whole backups of a target, and what belongs to none. */
import { createHash } from "node:crypto";
import { BackupError } from "../backup-error.ts";
import { manifestPath, namesPath } from "../manifest/backup-paths.ts";
import { BACKUP_ID, type Manifest } from "../manifest/manifest.ts";
import { MAX_MANIFEST_BYTES, openManifest } from "../manifest/signed-manifest.ts";
import { textLines } from "../objects/text-lines.ts";
import { readIfThere, type Target } from "../targets/target.ts";

/** Paths of each backup, whole or cut, by its id. @throws BackupError */
export async function pathsByBackup(target: Target): Promise<Map<string, string[]>> {
  const all = new Map<string, string[]>();
  for await (const path of target.list("backups")) {
    const [, id = ""] = path.split("/");
    if (new RegExp(BACKUP_ID).test(id)) all.set(id, [...(all.get(id) ?? []), path]);
  }
  return all;
}

/** Lists the ids of whole backups, newest first. @throws BackupError */
export async function backupIds(target: Target): Promise<string[]> {
  const all = await pathsByBackup(target);
  return [...all]
    .filter(([id, paths]) => paths.includes(manifestPath(id)))
    .map(([id]) => id)
    .sort()
    .reverse();
}

/**
 * @param signer who must have signed it
 * @throws BackupError `backup_missing`, `backup_forged`, `backup_format`, `backup_damaged`
 */
export async function readManifest(target: Target, id: string, signer: string): Promise<Manifest> {
  const path = manifestPath(id);
  const bytes = await readIfThere(target, path, MAX_MANIFEST_BYTES);
  if (bytes === null)
    throw new BackupError("backup_missing", `there is no backup ${id} on ${target.name}`);
  const manifest = openManifest(bytes, signer, path);
  // One that lies under another's name would make an old state look new.
  if (manifest.id === id) return manifest;
  throw new BackupError("backup_forged", `${path} is the manifest of ${manifest.id}`);
}

/** Names of the objects that a backup needs. @throws BackupError `backup_damaged`, `backup_missing` */
export async function* objectNames(target: Target, manifest: Manifest): AsyncGenerator<string> {
  const hash = createHash("sha256");
  const source = target.get(namesPath(manifest.id));
  const hashed = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      hash.update(chunk);
      yield chunk;
    }
  };
  yield* textLines(hashed());
  if (hash.digest("hex") !== manifest.objects.namesSha256)
    throw new BackupError("backup_damaged", `${namesPath(manifest.id)} was changed`);
}
