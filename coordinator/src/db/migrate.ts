import Database from "better-sqlite3";
import { DatabaseTooNew } from "./errors.ts";
import type { Migration } from "./migration.ts";

/**
 * Runs every pending migration in one transaction. A file that already holds data is copied first, beside itself, to
 * `<file>.before-<new version>`, complete and in one piece (`VACUUM INTO`), so that a bad step can be undone by hand.
 * @throws {@link DatabaseTooNew} when the file knows more than `migrations`
 */
export function migrate(db: Database.Database, migrations: readonly Migration[]): void {
  const current = db.pragma("user_version", { simple: true }) as number;
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest) throw new DatabaseTooNew(db.name, current, newest);
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
