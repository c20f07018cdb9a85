/** A SQLite file as one transaction has it, while its process goes on writing. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";
import { BackupError } from "../backup-error.ts";
import type { Opened, Part } from "./part.ts";
import { readOnce } from "./read-once.ts";

/** A write of another process is waited for so long. */
const BUSY_MS = 60_000;
/** In one step, which holds one state of the file: a write of another process makes the next step begin anew, and a file that grows would never end. */
const ALL_PAGES = 0x7fff_ffff;

/**
 * @param file the database that is in use
 * @param workDir where the copy lies until it is read; root's own
 */
export function databasePart(
  { name, path, file }: { name: string; path: string; file: string },
  workDir: string,
): Part {
  return {
    ...{ name, path, kind: "database" },
    open: async (): Promise<Opened> => {
      const copy = join(workDir, `${name}.copy`);
      await rm(copy, { force: true });
      const schema = await copyDatabase(file, copy);
      return { bytes: readOnce(copy), schema, readAtMs: Date.now() };
    },
  };
}

/** @returns its `user_version` @throws BackupError `backup_source` */
export async function copyDatabase(file: string, copy: string): Promise<number> {
  try {
    using source = opened(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
    await source.db.backup(copy, { progress: () => ALL_PAGES });
  } catch (cause) {
    throw new BackupError("backup_source", `${file} can't be copied: ${messageOf(cause)}`, {
      cause,
    });
  }
  return checkDatabase(copy);
}

/** @returns its `user_version` @throws BackupError `backup_damaged` */
export function checkDatabase(file: string): number {
  try {
    using copy = opened(file, { readonly: true, fileMustExist: true });
    const found = copy.db.pragma("integrity_check", { simple: true });
    if (found !== "ok") throw new Error(String(found));
    return copy.db.pragma("user_version", { simple: true }) as number;
  } catch (cause) {
    throw new BackupError("backup_damaged", `${file} is no whole database: ${messageOf(cause)}`, {
      cause,
    });
  }
}

function opened(file: string, options: Database.Options) {
  const db = new Database(file, options);
  return { db, [Symbol.dispose]: () => void db.close() };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * A copy that is put back runs under another generation: fences that were given out after it was taken are in no row of it.
 * @param file the coordinator's, which nobody has open
 */
export function moveGeneration(file: string): void {
  using copy = opened(file, { fileMustExist: true });
  copy.db
    .prepare(
      "UPDATE meta SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE name = 'generation'",
    )
    .run();
}

/** An entry of the audit log. */
export type LeafOfLog = { index: number; leafHash: string };

/**
 * The newest entry that the log had acknowledged when the copy was made; null where there was none.
 * @param file the coordinator's, which nobody has open
 */
export function lastAcknowledged(file: string): LeafOfLog | null {
  using copy = opened(file, { fileMustExist: true });
  const text = copy.db
    .prepare<[], string>("SELECT value FROM meta WHERE name = 'record-ack'")
    .pluck()
    .get();
  if (text === undefined) return null;
  const { index, leafHash } = JSON.parse(text) as LeafOfLog;
  return { index, leafHash };
}
