/** The database as it was followed: the newest whole state, then all changes after it. Nothing is believed that the appliance did not sign. */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { decryptWith } from "../age/decrypt-with.ts";
import { BackupError } from "../backup-error.ts";
import {
  type FollowedChain,
  followedChain,
  type FollowedFile,
  followedFile,
} from "../decisions/followed-chain.ts";
import { NUMBER_BYTES } from "../follow/followed-content.ts";
import { type FollowedStatement, openStatement } from "../follow/followed-statement.ts";
import type { RecoveryKey } from "../recovery-key.ts";
import type { Target } from "../targets/target.ts";
import { unzipped } from "./unzipped.ts";

const MAX_STATEMENT_BYTES = 16_384;
const RECORDS_AT_ONCE = 64;

export type RestoredFollowed = {
  /** All that was committed before it is in the database. */
  upToMs: number;
  /** Files of changes that were put over the whole state. */
  changes: number;
};

/** How far a target says that it goes, which its files alone say; null where nothing is followed. @throws BackupError `backup_target` */
export async function followedUpTo(target: Target): Promise<number | null> {
  const chain = await chainOn(target);
  return chain === null ? null : (chain.changes.at(-1) ?? chain.whole).atMs;
}

/**
 * Writes the followed database into a file that is not there yet.
 * @param limits `release`: whose database it must be; `upToMs`: nothing that was written later is looked at; `fromMs`: an older one is of no use
 * @returns null where the target has none of these
 * @throws BackupError `followed_damaged`, which says how far all is whole
 */
export async function restoreFollowed(
  target: Target,
  key: RecoveryKey,
  file: string,
  { release, upToMs, fromMs }: { release: string; upToMs: number | null; fromMs: number },
): Promise<RestoredFollowed | null> {
  const chain = await chainOn(target, upToMs);
  if (chain === null || (chain.changes.at(-1) ?? chain.whole).atMs < fromMs) return null;
  const work = `${file}.followed`;
  const into = await open(file, "wx", 0o600);
  let done: { number: number; atMs: number; link: string } | null = null;
  try {
    for (const one of [chain.whole, ...chain.changes]) {
      const { statement, link } = await putOver(into, { target, key, work }, one);
      if (statement.release !== release) {
        await rm(file);
        return null;
      }
      if (done !== null && statement.previous !== done.link)
        throw new BackupError("backup_damaged", `${one.path} does not follow the one before`);
      done = {
        number: one.number,
        atMs: one.atMs,
        link: done === null ? statement.previous : link,
      };
    }
    if (chain.missing !== null)
      throw new BackupError(
        "backup_missing",
        `changes ${chain.missing} of ${chain.whole.stream} are missing on ${target.name}`,
      );
    await into.sync();
  } catch (error) {
    throw error instanceof BackupError ? explained(error, done?.atMs ?? null) : error;
  } finally {
    await into.close();
    await rm(work, { force: true });
  }
  return { upToMs: done?.atMs ?? 0, changes: chain.changes.length };
}

/** What can't be reached says nothing of what is there. */
function explained(error: BackupError, wholeUpToMs: number | null): BackupError {
  if (error.code === "backup_target" || error.code === "backup_key_wrong") return error;
  const far =
    wholeUpToMs === null
      ? "no state before it is whole"
      : `all before it is whole, up to ${new Date(wholeUpToMs).toISOString()}`;
  return new BackupError("followed_damaged", `${error.message}; ${far}`, { cause: error });
}

async function chainOn(
  target: Target,
  upToMs: number | null = null,
): Promise<FollowedChain | null> {
  const files: FollowedFile[] = [];
  for await (const path of target.list("follow")) {
    const file = followedFile(path);
    if (file !== null && (upToMs === null || file.atMs <= upToMs)) files.push(file);
  }
  return followedChain(files);
}

type Source = { target: Target; key: RecoveryKey; work: string };

async function putOver(
  into: FileHandle,
  { target, key, work }: Source,
  file: FollowedFile,
): Promise<{ statement: FollowedStatement; link: string }> {
  const { path } = file;
  await rm(work, { force: true });
  const plain = unzipped(decryptWith(key.secret, target.get(path), path), path);
  await pipeline(Readable.from(plain), createWriteStream(work, { mode: 0o600, flags: "wx" }));
  const from = await open(work, "r");
  try {
    const { end, ...stated } = await statementAt(from, key.signer, path);
    const { stream, kind, number, atMs } = stated.statement;
    if (
      stream !== file.stream ||
      kind !== file.kind ||
      number !== file.number ||
      atMs !== file.atMs
    )
      throw new BackupError("backup_forged", `${path} was written under another name`);
    await requireHash(from, end, stated.statement, path);
    await putPages(from, end, stated.statement, into, path);
    return stated;
  } finally {
    await from.close();
  }
}

async function statementAt(from: FileHandle, signer: string, path: string) {
  const { size } = await from.stat();
  const length =
    size < NUMBER_BYTES
      ? 0
      : (await bytesAt(from, size - NUMBER_BYTES, NUMBER_BYTES)).readUInt32BE();
  const end = size - NUMBER_BYTES - length;
  if (length === 0 || length > MAX_STATEMENT_BYTES || end < 0)
    throw new BackupError("backup_damaged", `${path} ends with nothing that was signed`);
  return { end, ...openStatement(await bytesAt(from, end, length), signer, path) };
}

/** Checks, before a page of it is put anywhere, that the file is what was signed. */
async function requireHash(
  from: FileHandle,
  end: number,
  { sha256, pageBytes }: FollowedStatement,
  path: string,
): Promise<void> {
  const hash = createHash("sha256");
  for await (const run of runs(from, end, pageBytes)) hash.update(run);
  if (hash.digest("hex") !== sha256 || end % (NUMBER_BYTES + pageBytes) !== 0)
    throw new BackupError("backup_damaged", `${path} is not what was signed`);
}

async function putPages(
  from: FileHandle,
  end: number,
  { pageBytes, pages }: FollowedStatement,
  into: FileHandle,
  path: string,
): Promise<void> {
  for await (const run of runs(from, end, pageBytes))
    for (let at = 0; at < run.length; at += NUMBER_BYTES + pageBytes) {
      const page = run.readUInt32BE(at);
      if (page < 1 || page > pages)
        throw new BackupError("backup_damaged", `${path} has a page ${page} of ${pages}`);
      await into.write(run, at + NUMBER_BYTES, pageBytes, (page - 1) * pageBytes);
    }
  await into.truncate(pages * pageBytes);
}

async function* runs(from: FileHandle, end: number, pageBytes: number): AsyncGenerator<Buffer> {
  const runBytes = RECORDS_AT_ONCE * (NUMBER_BYTES + pageBytes);
  for (let at = 0; at < end; at += runBytes)
    yield await bytesAt(from, at, Math.min(runBytes, end - at));
}

async function bytesAt(from: FileHandle, at: number, count: number): Promise<Buffer> {
  const bytes = Buffer.alloc(count);
  const { bytesRead } = await from.read(bytes, 0, count, at);
  return bytes.subarray(0, bytesRead);
}
