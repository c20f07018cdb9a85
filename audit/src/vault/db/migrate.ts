import type Database from "better-sqlite3";

/**
 * One numbered step of a schema. Never edited once released; `version` is what `user_version` reads after it.
 * A step that adds what older programs may pass over leaves `minReader` out; any other names the lowest version that may still open the file.
 */
export type Migration = { version: number; name: string; sql: string; minReader?: number };

/** The file needs a newer program; running this one on it would lose what it does not know. */
export class DatabaseTooNew extends Error {
  override readonly name = "DatabaseTooNew";
  readonly code = "database_too_new";

  constructor(file: string, found: number, known: number) {
    super(`${file} has schema ${found}, this program knows ${known}`);
  }
}

/**
 * Runs every pending migration in one transaction. Nothing is copied before: a copy would outlive the erasure of what is in it.
 *
 * A file of a newer program is opened when that program said that this one may: `application_id` holds the lowest version that reads it.
 * @throws {@link DatabaseTooNew}
 */
export function migrate(db: Database.Database, migrations: readonly Migration[]): void {
  const current = numberOf(db, "user_version");
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest && minReaderOf(db, current) > newest) throw new DatabaseTooNew(db.name, current, newest);
  if (current >= newest) return;
  db.transaction(() => {
    for (const { version, sql, minReader } of migrations) {
      if (version <= current) continue;
      db.exec(sql);
      db.pragma(`user_version = ${version}`);
      if (minReader !== undefined) db.pragma(`application_id = ${minReader}`);
    }
  }).immediate();
}

/** Files from before programs said it are read by programs of their own version alone. */
function minReaderOf(db: Database.Database, current: number): number {
  const said = numberOf(db, "application_id");
  return said === 0 ? current : said;
}

function numberOf(db: Database.Database, pragma: "user_version" | "application_id"): number {
  return db.pragma(pragma, { simple: true }) as number;
}
