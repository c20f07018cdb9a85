/** The key of one epoch, in a file of its own under the key-encryption key. When it is gone, no copy of that epoch opens any more. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@resontech/frame/durable-file";
import { KEY_BYTES } from "../keys/aead.ts";
import { destroyFile } from "../keys/destroy-file.ts";
import type { KeyEncryptionKey } from "../keys/key-encryption-key.ts";

export function epochFile(folder: string, id: string): string {
  return join(folder, `${id}.epoch`);
}

export async function makeEpochKey(
  folder: string,
  id: string,
  kek: KeyEncryptionKey,
): Promise<void> {
  await replaceFile(
    epochFile(folder, id),
    await kek.wrap(randomBytes(KEY_BYTES), purposeOf(id)),
    0o400,
  );
}

/** @throws when the file is gone, or UnsealError */
export async function readEpochKey(
  folder: string,
  id: string,
  kek: KeyEncryptionKey,
): Promise<Buffer> {
  return kek.unwrap(await readFile(epochFile(folder, id)), purposeOf(id));
}

export async function destroyEpochKey(folder: string, id: string): Promise<void> {
  await destroyFile(epochFile(folder, id));
}

function purposeOf(id: string): string {
  return `epoch\n${id}`;
}
