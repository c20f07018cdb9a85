/** The two keys that sign a shard: Ed25519 for every reader there is, ML-DSA-44 for those to come. Both are the shard's own. */
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { chmod, open, readFile, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { replaceFile, syncFolder } from "../log/durable-file.ts";
import { KEY_TYPE, type NoteSigner, noteSigner } from "../log/note-key.ts";
import { ConfigError } from "./config.ts";
import { exists, type ShardFiles } from "./shard-files.ts";

const KINDS = [
  { kind: "ed25519", type: KEY_TYPE.ed25519, algorithm: "ed25519" },
  { kind: "mlDsa44", type: KEY_TYPE.mlDsa44, algorithm: "ml-dsa-44" },
] as const;

/** Makes the keys that are missing. */
export async function ensureKeys({ keyFiles }: ShardFiles): Promise<void> {
  for (const { kind, algorithm } of KINDS) {
    if (await exists(keyFiles[kind])) {
      // Whoever made it may have been killed before its name was durable.
      await syncFolder(dirname(keyFiles[kind]));
      continue;
    }
    // One call for each: the overloads of generateKeyPairSync know no union.
    const { privateKey } = algorithm === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ml-dsa-44");
    await replaceFile(keyFiles[kind], privateKey.export({ format: "pem", type: "pkcs8" }), 0o400);
  }
}

/** The key that a shard lacks; null when it has both. */
export async function missingKey({ keyFiles }: ShardFiles): Promise<string | null> {
  for (const { kind } of KINDS) if (!(await exists(keyFiles[kind]))) return keyFiles[kind];
  return null;
}

/** Whether any key of the shard is there, whole or not. */
export async function hasKeys({ keyFiles }: ShardFiles): Promise<boolean> {
  return (await Promise.all(KINDS.map(({ kind }) => exists(keyFiles[kind])))).some(Boolean);
}

/** @throws ConfigError when a key is missing, open to others, or of another kind */
export async function loadSigners({ keyFiles, origin }: ShardFiles): Promise<NoteSigner[]> {
  return await Promise.all(
    KINDS.map(async ({ kind, type, algorithm }) => {
      const file = keyFiles[kind];
      try {
        if (((await stat(file)).mode & 0o077) !== 0) throw new Error("is open to others: its mode must be 0400");
        const key = createPrivateKey(await readFile(file));
        if (key.asymmetricKeyType !== algorithm) throw new Error(`is no ${algorithm} key`);
        return noteSigner(origin, type, key);
      } catch (error) {
        throw new ConfigError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }),
  );
}

/**
 * Destroys the private keys of a shard that nothing is signed for again: overwritten, then removed. Safe to repeat: a name that a power cut brings back
 * stands for zeros.
 */
export async function destroyKeys({ keyFiles }: ShardFiles): Promise<void> {
  for (const { kind } of KINDS) {
    const file = keyFiles[kind];
    if (!(await exists(file))) continue;
    await chmod(file, 0o600);
    const handle = await open(file, "r+");
    try {
      await handle.write(Buffer.alloc((await handle.stat()).size), 0);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await unlink(file);
  }
}
