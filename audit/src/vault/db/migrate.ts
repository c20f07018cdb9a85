import type Database from "better-sqlite3";

/** One numbered step of a schema. Never edited once released; `version` is what `user_version` reads after it. */
export type Migration = { version: number; name: string; sql: string };

/** The file was written by a newer program; running an older one on it would lose what it does not know. */
export class DatabaseTooNew extends Error {
  override readonly name = "DatabaseTooNew";
  readonly code = "database_too_new";

  constructor(file: string, found: number, known: number) {
    super(`${file} has schema ${found}, this program knows ${known}`);
  }
}

/**
 * Runs every pending migration in one transaction. Nothing is copied before: a copy would outlive the erasure of what is in it.
 * @throws {@link DatabaseTooNew}
 */
export function migrate(db: Database.Database, migrations: readonly Migration[]): void {
  const current = db.pragma("user_version", { simple: true }) as number;
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest) throw new DatabaseTooNew(db.name, current, newest);
  db.transaction(() => {
    for (const { version, sql } of migrations) {
      if (version <= current) continue;
      db.exec(sql);
      db.pragma(`user_version = ${version}`);
    }
  }).immediate();
}
