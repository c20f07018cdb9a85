/**
 * The key that all other keys lie under: 32 bytes in a file, as they are, sealed by the TPM to this machine's boot, or by a
 * PKCS#11 token.
 *
 * What a plain file gives: whoever has `keys.sqlite` alone, say from a stolen backup, has nothing. A sealed one gives the same against whoever has both
 * files, or the disk. Neither gives anything against root on the running appliance.
 */
import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { replaceFile } from "@resontech/frame/durable-file";
import type { Seal } from "@resontech/audit/keys/seal";
import { ConfigError } from "../config.ts";
import { KEY_BYTES, seal, unseal } from "./aead.ts";
import { destroyFile } from "./destroy-file.ts";

export interface KeyEncryptionKey {
  /** @param purpose names the one key that is wrapped; needed again to unwrap it */
  wrap(key: Uint8Array, purpose: string): Promise<Buffer>;
  /** @throws UnsealError */
  unwrap(wrapped: Uint8Array, purpose: string): Promise<Buffer>;
}

const OTHERS = 0o377;
/** By the suffix of the files that it seals. */
const SEALERS: Readonly<Record<string, string>> = { ".tpm": "a TPM", ".p11": "a token" };

/**
 * @param mayMake there is no key yet that lies under one: the file may be made
 * @param by null: it is a plain file
 * @throws ConfigError when it is missing, of another length, open to others, or sealed and not to be opened
 */
export async function openKeyFile(
  path: string,
  mayMake: boolean,
  by: Seal | null,
): Promise<KeyEncryptionKey> {
  await refuseOthers(path, by);
  const key =
    by === null ? await readOrMakePlain(path, mayMake) : await readOrMakeSealed(path, mayMake, by);
  return {
    wrap: async (plain, purpose) => seal(key, plain, Buffer.from(purpose)),
    unwrap: async (wrapped, purpose) => unseal(key, wrapped, Buffer.from(purpose)),
  };
}

/** @throws ConfigError for a file that somebody else sealed: a key beside it would be another one */
async function refuseOthers(path: string, by: Seal | null): Promise<void> {
  for (const [suffix, sealer] of Object.entries(SEALERS))
    if (suffix !== by?.suffix && (await readIfThere(path + suffix)) !== null)
      throw new ConfigError(
        `${path + suffix} is sealed by ${sealer}, and the configuration names none`,
      );
}

async function readOrMakePlain(path: string, mayMake: boolean): Promise<Buffer> {
  const existing = await readIfThere(path);
  if (existing !== null) return wholeKey(path, existing);
  return await make(path, mayMake, async (key) => key);
}

async function readOrMakeSealed(path: string, mayMake: boolean, by: Seal): Promise<Buffer> {
  const file = path + by.suffix;
  const sealing = (key: Buffer): Promise<Buffer> => explained(file, by.seal(key, basename(file)));
  const [plain, sealed] = [await readIfThere(path), await readIfThere(file)];
  if (sealed === null && plain === null) return await make(file, mayMake, sealing);
  if (sealed === null) await replaceFile(file, await sealing(wholeKey(path, plain!)), 0o400);
  const key = wholeKey(
    file,
    await explained(file, by.unseal(sealed ?? (await readFile(file)), basename(file))),
  );
  // Only now that it opens: from here on its holder is the one way to it.
  if (plain?.equals(key) === false)
    throw new ConfigError(`${path} and ${file} hold two keys: remove the one that is wrong`);
  if (plain !== null) await destroyFile(path);
  return key;
}

async function make(
  file: string,
  mayMake: boolean,
  bytesOf: (key: Buffer) => Promise<Buffer>,
): Promise<Buffer> {
  if (!mayMake)
    throw new ConfigError(`${file} is gone: without it no key of the vault can be opened`);
  const key = randomBytes(KEY_BYTES);
  await replaceFile(file, await bytesOf(key), 0o400);
  return key;
}

/** Reads a file that is closed to others; null where there is none. */
async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    if (((await stat(path)).mode & OTHERS) !== 0) throw new ConfigError(`${path} must be 0400`);
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function wholeKey(path: string, key: Buffer): Buffer {
  if (key.length !== KEY_BYTES) throw new ConfigError(`${path} holds no key of ${KEY_BYTES} bytes`);
  return key;
}

async function explained<T>(file: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new ConfigError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
