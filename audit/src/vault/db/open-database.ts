import { chmodSync, closeSync, openSync } from "node:fs";
import Database from "better-sqlite3";
import { type Migration, migrate } from "./migrate.ts";

/**
 * Opens (or makes, mode 0600) a database of the vault. WAL and `synchronous=FULL`: what was committed is on the disk. `secure_delete`: what was
 * deleted is overwritten. Nothing but {@link scrub} spills to temporary files, which would hold pages that nobody overwrites.
 * @param timeoutMs so long a write waits for another connection's, and with it the thread
 * @throws DatabaseTooNew
 */
export function openDatabase(file: string, migrations: readonly Migration[], timeoutMs = 5_000): Database.Database {
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
  const db = new Database(file, { timeout: timeoutMs });
  try {
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.pragma("secure_delete = ON");
    db.pragma("temp_store = MEMORY");
    db.pragma("trusted_schema = OFF");
    // A table that others refer to is made anew only while nothing checks what they refer to.
    db.pragma("foreign_keys = OFF");
    migrate(db, migrations);
    db.pragma("foreign_keys = ON");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Takes what was deleted out of the file and its write-ahead log: the log is written back and emptied, the file made anew without free pages, and the
 * log of that emptied, too. It is made anew by way of a file without a name in {@link spillTo}'s folder, which holds only what lives: memory does not
 * grow with the database. Twice the file's size must be free on the disk.
 * @throws Error when a reader keeps the log from being emptied for longer than the connection waits
 */
export function scrub(db: Database.Database): void {
  truncateLog(db);
  db.pragma("temp_store = FILE");
  try {
    db.exec("VACUUM");
  } finally {
    db.pragma("temp_store = MEMORY");
  }
  truncateLog(db);
}

/** Where a process's SQLite makes temporary files. To be called before the first database is opened: it looks once. */
export function spillTo(folder: string): void {
  process.env["SQLITE_TMPDIR"] = folder;
}

function truncateLog(db: Database.Database): void {
  const [result] = db.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
  if (result?.busy !== 0) throw new Error(`${db.name}: its write-ahead log could not be emptied`);
}
