/** The key of one epoch, in a file of its own under the key-encryption key. When it is gone, no copy of that epoch opens any more. */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, readFile, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceFile, syncFolder } from "../../log/durable-file.ts";
import { KEY_BYTES } from "../keys/aead.ts";
import type { KeyEncryptionKey } from "../keys/key-encryption-key.ts";

export function epochFile(folder: string, id: string): string {
  return join(folder, `${id}.epoch`);
}

export async function makeEpochKey(folder: string, id: string, kek: KeyEncryptionKey): Promise<void> {
  await replaceFile(epochFile(folder, id), await kek.wrap(randomBytes(KEY_BYTES), purposeOf(id)), 0o400);
}

/** @throws when the file is gone, or UnsealError */
export async function readEpochKey(folder: string, id: string, kek: KeyEncryptionKey): Promise<Buffer> {
  return kek.unwrap(await readFile(epochFile(folder, id)), purposeOf(id));
}

/** Overwritten in place, then gone; one that is gone already is. */
export async function destroyEpochKey(folder: string, id: string): Promise<void> {
  const path = epochFile(folder, id);
  try {
    await using handle = await open(path, constants.O_RDWR);
    const { size } = await handle.stat();
    await handle.write(Buffer.alloc(size), 0, size, 0);
    await handle.sync();
    await handle.truncate(0);
    await handle.sync();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw error;
  }
  await unlink(path);
  await syncFolder(dirname(path));
}

function purposeOf(id: string): string {
  return `epoch\n${id}`;
}
