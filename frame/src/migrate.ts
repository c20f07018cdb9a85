import { readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";

/**
 * One numbered step of a schema. Never edited once released; `version` is what `user_version` reads after it.
 * A step that adds what older programs may pass over leaves `minReader` out; any other names the lowest version that may still open the file.
 */
export type Migration = { version: number; name: string; sql: string; minReader?: number };

/** The file was written by a newer program; running an older one on it would lose what it does not know. */
export class DatabaseTooNew extends Error {
  override readonly name = "DatabaseTooNew";
  readonly code = "database_too_new";
  readonly file: string;
  readonly found: number;
  readonly known: number;

  constructor(file: string, found: number, known: number) {
    super(`${file} has schema ${found}, this program knows ${known}`);
    this.file = file;
    this.found = found;
    this.known = known;
  }
}

/**
 * Runs every pending migration in one transaction. With `copyLifeMs` a file that already holds data is copied first, beside itself, to
 * `<file>.before-<new version>`, complete and in one piece (`VACUUM INTO`), so that a bad step can be undone by hand. So old a copy goes.
 *
 * A file of a newer program is opened when that program said that this one may: `application_id` holds the lowest version that reads it.
 * @throws {@link DatabaseTooNew} when the file needs a newer program
 */
export function migrate(
  db: Database.Database,
  migrations: readonly Migration[],
  { copyLifeMs }: { copyLifeMs?: number } = {},
): void {
  const current = numberOf(db, "user_version");
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest && minReaderOf(db, current) > newest)
    throw new DatabaseTooNew(db.name, current, newest);
  if (copyLifeMs !== undefined) removeCopies(db.name, copyLifeMs);
  if (current >= newest) return;
  if (current > 0 && copyLifeMs !== undefined) {
    const backup = `${db.name}.before-${newest}`;
    // A crash between copy and commit leaves a copy of the same, unmigrated state: that one stays.
    if (!isReadableDatabase(backup)) db.prepare("VACUUM INTO ?").run(backup);
  }
  // A table that is made anew is dropped: its rows' children must not go with it. Only outside a transaction does this take effect.
  const keepsForeignKeys = numberOf(db, "foreign_keys");
  db.pragma("foreign_keys = OFF");
  try {
    db.transaction(() => {
      for (const { version, sql, minReader } of migrations) {
        if (version <= current) continue;
        db.exec(sql);
        db.pragma(`user_version = ${version}`);
        if (minReader !== undefined) db.pragma(`application_id = ${minReader}`);
      }
      const broken = db.pragma("foreign_key_check") as unknown[];
      if (broken.length > 0)
        throw new Error(
          `a migration leaves rows without their parents: ${JSON.stringify(broken.slice(0, 3))}`,
        );
    }).immediate();
  } finally {
    db.pragma(`foreign_keys = ${keepsForeignKeys}`);
  }
}

/** Files from before programs said it are read by programs of their own version alone. */
function minReaderOf(db: Database.Database, current: number): number {
  const said = numberOf(db, "application_id");
  return said === 0 ? current : said;
}

function numberOf(
  db: Database.Database,
  pragma: "user_version" | "application_id" | "foreign_keys",
): number {
  return db.pragma(pragma, { simple: true }) as number;
}

function removeCopies(file: string, olderThanMs: number): void {
  const prefix = `${basename(file)}.before-`;
  for (const name of readdirSync(dirname(file)).filter((one) => one.startsWith(prefix))) {
    const copy = join(dirname(file), name);
    if (Date.now() - statSync(copy).mtimeMs > olderThanMs) rmSync(copy);
  }
}

function isReadableDatabase(file: string): boolean {
  try {
    using copy = disposable(new Database(file, { readonly: true, fileMustExist: true }));
    return copy.db.pragma("quick_check", { simple: true }) === "ok";
  } catch {
    return false;
  }
}

function disposable(db: Database.Database) {
  return { db, [Symbol.dispose]: () => void db.close() };
}
