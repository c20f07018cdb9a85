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
 * @throws {@link DatabaseTooNew} when the file knows more than `migrations`
 */
export function migrate(db: Database.Database, migrations: readonly Migration[]): void {
  const current = db.pragma("user_version", { simple: true }) as number;
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest) throw new DatabaseTooNew(db.name, current, newest);
  removeOldCopies(db.name);
  if (current === newest) return;
  if (current > 0) {
    const backup = `${db.name}.before-${newest}`;
    // A crash between copy and commit leaves a copy of the same, unmigrated state: that one stays.
    if (!isReadableDatabase(backup)) db.prepare("VACUUM INTO ?").run(backup);
  }
  db.transaction(() => {
    for (const { version, sql } of migrations) {
      if (version <= current) continue;
      db.exec(sql);
      db.pragma(`user_version = ${version}`);
    }
  }).immediate();
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
