/**
 * The object store's files on the target, each content once and encrypted, under a name that tells nobody but this appliance what it is. A file that
 * stands as it stood at the last backup is not read again.
 */
import { createHash, createHmac, type Hash } from "node:crypto";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { encryptTo } from "../age/encrypt-to.ts";
import { BackupError } from "../backup-error.ts";
import { openHeld, readHeld } from "../parts/held-file.ts";
import type { Target } from "../targets/target.ts";
import { readAttributes } from "./file-attributes.ts";
import { type ObjectEntry, objectPath } from "./object-entry.ts";

/** As many paths as one run of `rt-xattr` is asked for. */
const BATCH = 512;
/** Of uploads that are not complete; a restore has none of them. */
const UNFINISHED = ".sgwtmp";

/** What a file was like when it was last copied; where nothing of it changed, its content did not. */
export type Stand = { ino: string; size: string; mtimeNs: string; ctimeNs: string };
export type KnownEntry = { stand: Stand; entry: ObjectEntry };
export type ObjectsCopied = {
  count: number;
  bytes: number;
  /** Encrypted and written by this run. */
  written: { count: number; bytes: number };
};

export type CopyObjects = {
  /** Of the store. */
  folder: string;
  /** What of it is copied. */
  below: readonly string[];
  target: Target;
  recipient: Uint8Array;
  /** Keys the names of objects. */
  nameKey: Uint8Array;
  xattrProgram: string;
  /** Objects that are whole on the target, by name; what is written is added. */
  present: Set<string>;
  /** By path, of the last backup. */
  known: ReadonlyMap<string, KnownEntry>;
  /** Told of each entry. */
  onEntry: (known: KnownEntry) => Promise<void>;
};

/** @throws BackupError */
export async function copyObjects(options: CopyObjects): Promise<ObjectsCopied> {
  const copied: ObjectsCopied = { count: 0, bytes: 0, written: { count: 0, bytes: 0 } };
  let batch: Found[] = [];
  for await (const found of walkAll(options)) {
    batch.push(found);
    if (batch.length < BATCH) continue;
    await copyBatch(options, batch, copied);
    batch = [];
  }
  await copyBatch(options, batch, copied);
  return copied;
}

type Found = { path: string; isFolder: boolean; stand: Stand };

async function* walkAll({ folder, below }: CopyObjects): AsyncGenerator<Found> {
  for (const path of below) yield* walk(folder, path);
}

/** A folder before what is in it. */
async function* walk(root: string, path: string): AsyncGenerator<Found> {
  const found = await lstat(join(root, path), { bigint: true }).catch(() => null);
  if (found === null || !(found.isFile() || found.isDirectory())) return;
  yield { path, isFolder: found.isDirectory(), stand: standOf(found) };
  if (!found.isDirectory()) return;
  const names: string[] = await readdir(join(root, path)).catch((error: unknown) => {
    if (isGone(error)) return [];
    throw error;
  });
  for (const name of names.sort()) if (name !== UNFINISHED) yield* walk(root, `${path}/${name}`);
}

function standOf(found: { ino: bigint; size: bigint; mtimeNs: bigint; ctimeNs: bigint }): Stand {
  return {
    ino: String(found.ino),
    size: String(found.size),
    mtimeNs: String(found.mtimeNs),
    ctimeNs: String(found.ctimeNs),
  };
}

function isSame(one: Stand, other: Stand): boolean {
  return (Object.keys(one) as (keyof Stand)[]).every((key) => one[key] === other[key]);
}

async function copyBatch(
  options: CopyObjects,
  batch: readonly Found[],
  copied: ObjectsCopied,
): Promise<void> {
  const { known, present, folder, xattrProgram } = options;
  const unchanged = ({ path, stand }: Found): KnownEntry | null => {
    const before = known.get(path);
    if (before === undefined || !isSame(before.stand, stand)) return null;
    const object = before.entry.file?.object ?? null;
    return object === null || present.has(object) ? before : null;
  };
  const changed = batch.filter((found) => unchanged(found) === null);
  const attributes = await attributesOf(xattrProgram, folder, changed);
  // In the order of the walk: a folder stands before what is in it.
  for (const found of batch) {
    const before = unchanged(found);
    const its = attributes.get(found.path);
    if (before !== null) await tell(options, before, copied);
    else if (its !== undefined) {
      const entry = await copyOne(options, found, its, copied);
      if (entry !== null) await tell(options, { stand: found.stand, entry }, copied);
    }
  }
}

async function tell(
  { onEntry }: CopyObjects,
  known: KnownEntry,
  copied: ObjectsCopied,
): Promise<void> {
  copied.count += known.entry.file === null ? 0 : 1;
  copied.bytes += known.entry.file?.bytes ?? 0;
  await onEntry(known);
}

/** One by one where a file of the batch went away meanwhile: that one is in no backup. */
async function attributesOf(
  program: string,
  folder: string,
  batch: readonly Found[],
): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const paths = batch.map(({ path }) => join(folder, path));
  try {
    const all = await readAttributes(program, paths);
    return new Map(batch.map(({ path }, at) => [path, all[at] ?? {}]));
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
  }
  const each = new Map<string, Readonly<Record<string, string>>>();
  for (const { path } of batch) {
    if ((await lstat(join(folder, path)).catch(() => null)) === null) continue;
    const [its] = await readAttributes(program, [join(folder, path)]);
    if (its !== undefined) each.set(path, its);
  }
  return each;
}

/** Describes a file or folder, and copies what the target lacks of it; null where it went away meanwhile. */
async function copyOne(
  options: CopyObjects,
  { path, isFolder }: Found,
  attributes: Readonly<Record<string, string>>,
  copied: ObjectsCopied,
): Promise<ObjectEntry | null> {
  const handle = await openHeld(join(options.folder, path)).catch((error: unknown) => {
    if (isGone(error)) return null;
    throw error;
  });
  if (handle === null) return null;
  try {
    const { mode, uid, gid, mtimeMs, size } = await handle.stat();
    const about = { path, mode: mode & 0o7777, uid, gid, mtimeMs, attributes };
    if (isFolder) return { ...about, file: null };
    const sha256 = await digestOf(readHeld(handle, size));
    const file = { bytes: size, sha256, object: size === 0 ? null : nameOf(options, sha256) };
    if (file.object !== null && !options.present.has(file.object)) {
      const hash = createHash("sha256");
      const content = encryptTo(options.recipient, hashed(readHeld(handle, size), hash));
      await options.target.put(objectPath(file.object), content);
      if (hash.digest("hex") !== sha256)
        throw new BackupError("backup_source_changes", `${path} changed while it was read`);
      options.present.add(file.object);
      copied.written.count += 1;
      copied.written.bytes += size;
    }
    return { ...about, file };
  } finally {
    await handle.close();
  }
}

/** Keyed: who reads the target can't ask whether a file that he knows is there. */
function nameOf({ nameKey }: CopyObjects, sha256: string): string {
  return createHmac("sha256", nameKey).update(sha256).digest("hex").slice(0, 40);
}

async function digestOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of content) hash.update(chunk);
  return hash.digest("hex");
}

async function* hashed(content: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
