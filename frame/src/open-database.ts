import { chmodSync, closeSync, openSync } from "node:fs";
import Database from "better-sqlite3";
import { type Migration, migrate } from "./migrate.ts";

export type DatabaseOptions = {
  /** So long a write waits for another connection's, and with it the thread. @default 5000 */
  timeoutMs?: number;
  /** See {@link migrate}; without it no copy is made: one would outlive the erasure of what is in it. */
  copyLifeMs?: number;
  /** What SQLite needs beside the file stays in memory, but for what a `VACUUM` writes: nobody overwrites the pages of a temporary file. */
  spillsNothing?: boolean;
};

/**
 * Opens (or makes, mode 0600) a database and brings its schema up to date. WAL and `synchronous=FULL`: what was committed is on the disk.
 * `secure_delete`: what was deleted is overwritten.
 * @throws DatabaseTooNew
 */
export function openDatabase(
  file: string,
  migrations: readonly Migration[],
  options: DatabaseOptions = {},
): Database.Database {
  const { timeoutMs = 5_000, copyLifeMs, spillsNothing = false } = options;
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
  const db = new Database(file, { timeout: timeoutMs });
  try {
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.pragma("foreign_keys = ON");
    db.pragma("secure_delete = ON");
    db.pragma("trusted_schema = OFF");
    if (spillsNothing) db.pragma("temp_store = MEMORY");
    migrate(db, migrations, copyLifeMs === undefined ? {} : { copyLifeMs });
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
