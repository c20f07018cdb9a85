/** Unpacks a whole backup below a folder that nobody uses yet, and believes nothing that it has not checked: hashes, databases, archives. */
import { createReadStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BackupError } from "../backup-error.ts";
import type { ManifestPart } from "../manifest/manifest.ts";
import { checkDatabase } from "../parts/database-part.ts";
import { unpackFolder } from "../parts/folder-part.ts";
import type { OpenedBackup } from "./open-backup.ts";
import { checkObjects, restoreObjects } from "./restore-objects.ts";

export type StageBackup = {
  /** Root's own, and empty; each part lies at its path below it. */
  folder: string;
  xattrProgram: string;
  /** False: objects are read and hashed, and not written. */
  writesObjects: boolean;
  /** Judges an archive before it is unpacked. */
  checkArchive: (part: ManifestPart, file: string) => Promise<void>;
  onPart: (name: string) => void;
};
export type StagedBackup = { parts: number; objects: { count: number; bytes: number } };

/** @throws BackupError, and what `checkArchive` throws */
export async function stageBackup(
  backup: OpenedBackup,
  options: StageBackup,
): Promise<StagedBackup> {
  const staged: StagedBackup = { parts: 0, objects: { count: 0, bytes: 0 } };
  // What judges an archive may need what lies in the folders.
  for (const part of inOrder(backup.manifest.parts)) {
    options.onPart(part.name);
    const into = join(options.folder, part.path);
    await mkdir(dirname(into), { recursive: true, mode: 0o700 });
    switch (part.kind) {
      case "database":
        await stageDatabase(backup, part, into);
        break;
      case "folder":
        await unpackFolder(backup.read(part), into);
        break;
      case "archive":
        await stageArchive(backup, part, into, options);
        break;
      case "objects":
        staged.objects = options.writesObjects
          ? await restoreObjects(backup, part, { ...options, folder: into })
          : await checkObjects(backup, part);
        break;
    }
    staged.parts += 1;
  }
  const { count, bytes } = backup.manifest.objects;
  if (staged.objects.count !== count || staged.objects.bytes !== bytes)
    throw new BackupError("backup_damaged", "the index of objects is not what the manifest says");
  return staged;
}

function inOrder(parts: readonly ManifestPart[]): ManifestPart[] {
  const order: readonly ManifestPart["kind"][] = ["folder", "database", "archive", "objects"];
  return [...parts].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

async function stageDatabase(
  backup: OpenedBackup,
  part: ManifestPart,
  into: string,
): Promise<void> {
  await backup.readInto(part, into);
  const schema = checkDatabase(into);
  if (schema !== part.schema)
    throw new BackupError("backup_damaged", `${part.name} has the schema ${schema}`);
}

async function stageArchive(
  backup: OpenedBackup,
  part: ManifestPart,
  into: string,
  { checkArchive }: StageBackup,
): Promise<void> {
  const file = `${into}.tar`;
  await backup.readInto(part, file);
  await checkArchive(part, file);
  await unpackFolder(createReadStream(file) as AsyncIterable<Buffer>, into);
  await rm(file);
}
