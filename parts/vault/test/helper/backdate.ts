import { join } from "node:path";
import Database from "better-sqlite3";

/** As if what a stopped vault has of somebody, or of all, had been logged three years ago: keys are looked for by the month that is written beside the rows. */
export function backdate(root: string, subject: string | null): void {
  for (const [file, table] of [
    ["sealed/sealed.sqlite", "commitments"],
    ["vault-keys/keys.sqlite", "keys"],
  ] as const) {
    const db = new Database(join(root, file));
    db.prepare(`UPDATE ${table} SET month = '2023-11' WHERE subject = coalesce(?, subject)`).run(
      subject,
    );
    db.close();
  }
}
