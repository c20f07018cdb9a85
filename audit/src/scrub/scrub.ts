/**
 * What SQLite leaves of deleted rows. `secure_delete` overwrites what is deleted; but where rows move from page to page, copies of them stay in the unused
 * parts of the pages that they left, and nothing overwrites those. Only a file that is made anew is without them.
 */
import type Database from "better-sqlite3";

/**
 * Takes what was deleted out of the file and its write-ahead log: the log is written back and emptied, the file made anew without free pages, and the
 * log of that emptied, too. It is made anew by way of a file without a name in {@link spillTo}'s folder, which holds only what lives: memory does not
 * grow with the database. What it needs of the disk, {@link roomToScrub} says; where that fails, it gives back what it took.
 * @throws Error when a reader keeps the log from being emptied for longer than the connection waits; SqliteError `SQLITE_FULL`
 */
export function scrub(db: Database.Database): void {
  truncateLog(db);
  db.pragma("temp_store = FILE");
  try {
    db.exec("VACUUM");
  } catch (error) {
    giveBackLog(db);
    throw error;
  } finally {
    db.pragma("temp_store = MEMORY");
  }
  truncateLog(db);
}

/** Half a copy may stand in the log of changes, uncommitted: of one that failed, or whose process was killed. What can't be given back harms nobody. */
export function giveBackLog(db: Database.Database): void {
  try {
    truncateLog(db);
  } catch {
    // Somebody reads, or what was committed has no room in the file: it stays where it is.
  }
}

/** Sets where a process's SQLite makes temporary files. Call it before the first database is opened: SQLite looks once. */
export function spillTo(folder: string): void {
  process.env["SQLITE_TMPDIR"] = folder;
}

function truncateLog(db: Database.Database): void {
  const [result] = db.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
  if (result?.busy !== 0) throw new Error(`${db.name}: its write-ahead log could not be emptied`);
}
