/** Puts the object store's files back: contents first, then what the store keeps of them in attributes, then folders as they were. */
import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { type ObjectEntry, readObjectEntry } from "../objects/object-entry.ts";
import { writeAttributes } from "../objects/file-attributes.ts";
import { textLines } from "../objects/text-lines.ts";
import type { ManifestPart } from "../manifest/manifest.ts";
import type { OpenedBackup } from "./open-backup.ts";

const BATCH = 512;

/** Each file and folder of the store, folders before what is in them. @throws BackupError */
async function* objectEntries(
  backup: OpenedBackup,
  part: ManifestPart,
): AsyncGenerator<ObjectEntry> {
  for await (const line of textLines(backup.read(part))) yield readObjectEntry(line);
}

/**
 * Into a folder that has none of them.
 * @param xattrProgram `rt-xattr`
 * @throws BackupError
 */
export async function restoreObjects(
  backup: OpenedBackup,
  part: ManifestPart,
  { folder, xattrProgram }: { folder: string; xattrProgram: string },
): Promise<{ count: number; bytes: number }> {
  const folders: ObjectEntry[] = [];
  const restored = { count: 0, bytes: 0 };
  let batch: ObjectEntry[] = [];
  const settle = async (): Promise<void> => {
    await writeAttributes(
      xattrProgram,
      batch.map(({ path, attributes }) => ({ path: join(folder, path), attributes })),
    );
    // Attributes are written to what its owner may write; only then it is what it was.
    for (const entry of batch) if (entry.file !== null) await reconcileEntry(folder, entry);
    batch = [];
  };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for await (const entry of objectEntries(backup, part)) {
    if (entry.file === null) {
      await mkdir(join(folder, entry.path), { mode: 0o700 });
      folders.push(entry);
    } else {
      await writeContent(join(folder, entry.path), backup.readObject(entry.file));
      restored.count += 1;
      restored.bytes += entry.file.bytes;
    }
    batch.push(entry);
    if (batch.length >= BATCH) await settle();
  }
  await settle();
  // Innermost first: what is put into a folder changes its time.
  for (const entry of folders.reverse()) await reconcileEntry(folder, entry);
  return restored;
}

/** Reads every object, and writes none. @throws BackupError */
export async function checkObjects(
  backup: OpenedBackup,
  part: ManifestPart,
): Promise<{ count: number; bytes: number }> {
  const checked = { count: 0, bytes: 0 };
  const seen = new Set<string>();
  for await (const { file } of objectEntries(backup, part)) {
    if (file === null) continue;
    checked.count += 1;
    checked.bytes += file.bytes;
    if (file.object === null || seen.has(file.object)) continue;
    seen.add(file.object);
    for await (const _ of backup.readObject(file));
  }
  return checked;
}

async function writeContent(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const handle = await open(path, flags, 0o600);
  try {
    for await (const chunk of content) await handle.appendFile(chunk);
  } finally {
    await handle.close();
  }
}

async function reconcileEntry(folder: string, entry: ObjectEntry): Promise<void> {
  const handle = await open(join(folder, entry.path), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await handle.chown(entry.uid, entry.gid);
    await handle.chmod(entry.mode);
    await handle.utimes(entry.mtimeMs / 1000, entry.mtimeMs / 1000);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
