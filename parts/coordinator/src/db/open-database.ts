import { openDatabase as openFile } from "@resontech/frame/open-database";
import Database from "better-sqlite3";
import { MIGRATIONS } from "./migrations.ts";

/** As long as copies of the vault's keys open: a copy holds what opens commitments of events that were on their way to the log. */
const COPY_LIFE_MS = 30 * 86_400_000;

/** The one connection that writes; every write goes through {@link GroupCommit}. */
export type WriteHandle = Database.Database;
/** A connection that can't write. It sees what is committed, never a transaction under way. */
export type ReadHandle = Pick<Database.Database, "prepare"> & { readonly __readonly: true };

export type OpenedDatabase = { write: WriteHandle; read: ReadHandle; [Symbol.dispose](): void };

/**
 * Opens (or makes) the coordinator's database and brings its schema up to date, with a copy of the file before.
 * @throws DatabaseTooNew
 */
export function openDatabase(file: string): OpenedDatabase {
  const write = openFile(file, MIGRATIONS, { copyLifeMs: COPY_LIFE_MS });
  try {
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
