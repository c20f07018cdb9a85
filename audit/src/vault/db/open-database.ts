import { chmodSync, closeSync, openSync } from "node:fs";
import Database from "better-sqlite3";
import { type Migration, migrate } from "./migrate.ts";

/**
 * Opens (or makes, mode 0600) a database of the vault. WAL and `synchronous=FULL`: what was committed is on the disk. `secure_delete`: what was
 * deleted is overwritten. Nothing but `scrub` spills to temporary files, which would hold pages that nobody overwrites.
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
