import { chmodSync, closeSync, openSync } from "node:fs";
import Database from "better-sqlite3";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";

/** The one connection that writes; every write goes through {@link GroupCommit}. */
export type WriteHandle = Database.Database;
/** A connection that can't write. It sees what is committed, never a transaction under way. */
export type ReadHandle = Pick<Database.Database, "prepare"> & { readonly __readonly: true };

export type OpenedDatabase = { write: WriteHandle; read: ReadHandle; [Symbol.dispose](): void };

/**
 * Opens (or makes, mode 0600) the coordinator's database and brings its schema up to date. WAL and `synchronous=FULL`: what
 * was committed is on the disk.
 * @throws DatabaseTooNew
 */
export function openDatabase(file: string): OpenedDatabase {
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
  const write = new Database(file);
  try {
    write.pragma("journal_mode = WAL");
    write.pragma("synchronous = FULL");
    write.pragma("foreign_keys = ON");
    write.pragma("secure_delete = ON");
    write.pragma("trusted_schema = OFF");
    migrate(write, MIGRATIONS);
    const read = new Database(file, { readonly: true });
    return {
      write,
      read: read as unknown as ReadHandle,
      [Symbol.dispose]() {
        read.close();
        write.close();
      },
    };
  } catch (error) {
    write.close();
    throw error;
  }
}
