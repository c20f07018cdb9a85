import { readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";
import { DatabaseTooNew } from "./errors.ts";
import type { Migration } from "./migration.ts";

const COPY_LIFE_MS = 30 * 86_400_000;

/**
 * Runs every pending migration in one transaction. A file that already holds data is copied first, beside itself, to
 * `<file>.before-<new version>`, complete and in one piece (`VACUUM INTO`), so that a bad step can be undone by hand.
 * Copies go after thirty days, as long as copies of the vault's keys open: one holds what opens commitments of events that were on their way to the log.
 *
 * A file of a newer program is opened when that program said that this one may: `application_id` holds the lowest version that reads it.
 * @throws {@link DatabaseTooNew} when the file needs a newer program
 */
export function migrate(db: Database.Database, migrations: readonly Migration[]): void {
  const current = numberOf(db, "user_version");
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest && minReaderOf(db, current) > newest) throw new DatabaseTooNew(db.name, current, newest);
  removeOldCopies(db.name);
  if (current >= newest) return;
  if (current > 0) {
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
        throw new Error(`a migration leaves rows without their parents: ${JSON.stringify(broken.slice(0, 3))}`);
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

function numberOf(db: Database.Database, pragma: "user_version" | "application_id" | "foreign_keys"): number {
  return db.pragma(pragma, { simple: true }) as number;
}

function removeOldCopies(file: string): void {
  const prefix = `${basename(file)}.before-`;
  for (const name of readdirSync(dirname(file)).filter((one) => one.startsWith(prefix))) {
    const copy = join(dirname(file), name);
    if (Date.now() - statSync(copy).mtimeMs > COPY_LIFE_MS) rmSync(copy);
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
