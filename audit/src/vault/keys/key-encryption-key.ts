/**
 * The key that all other keys lie under. What implements it may be a module that never gives it away (PKCS#11, TPM); here it is a file.
 *
 * What a file gives: whoever has `keys.sqlite` alone, say from a stolen backup, has nothing. It gives nothing against root on the running appliance,
 * nor against whoever has both files.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigError } from "../config.ts";
import { syncFolder } from "../../log/durable-file.ts";
import { KEY_BYTES, seal, unseal } from "./aead.ts";

export interface KeyEncryptionKey {
  /** @param purpose names the one key that is wrapped; needed again to unwrap it */
  wrap(key: Uint8Array, purpose: string): Promise<Buffer>;
  /** @throws UnsealError */
  unwrap(wrapped: Uint8Array, purpose: string): Promise<Buffer>;
}

/**
 * @param mayMake there is no key yet that lies under one: the file may be made
 * @throws ConfigError when it is missing, of another length, or open to others
 */
export async function openKeyFile(path: string, mayMake: boolean): Promise<KeyEncryptionKey> {
  const key = await readOrMake(path, mayMake);
  return {
    wrap: async (plain, purpose) => seal(key, plain, Buffer.from(purpose)),
    unwrap: async (wrapped, purpose) => unseal(key, wrapped, Buffer.from(purpose)),
  };
}

async function readOrMake(path: string, mayMake: boolean): Promise<Buffer> {
  try {
    await using handle = await open(path, constants.O_RDONLY);
    const { mode } = await handle.stat();
    if ((mode & 0o377) !== 0) throw new ConfigError(`${path} must be 0400`);
    const key = await handle.readFile();
    if (key.length !== KEY_BYTES) throw new ConfigError(`${path} holds no key of ${KEY_BYTES} bytes`);
    return key;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    if (!mayMake) throw new ConfigError(`${path} is gone: without it no key of the vault can be opened`);
  }
  await using handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o400);
  const key = randomBytes(KEY_BYTES);
  await handle.writeFile(key);
  await handle.sync();
  await syncFolder(dirname(path));
  return key;
}
