/** Rows of people's SSH public keys. */
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";

/** Lines as a `.pub` file has them, in the order in which the person gave them. */
export function sshKeysOf(db: ReadHandle, userId: string): string[] {
  return db
    .prepare<[string], string>("SELECT line FROM ssh_keys WHERE user_id = ? ORDER BY position")
    .pluck()
    .all(userId);
}

/** All that the person has from now on. */
export function setSshKeys(db: WriteHandle, userId: string, lines: readonly string[]): void {
  db.prepare("DELETE FROM ssh_keys WHERE user_id = ?").run(userId);
  const insert = db.prepare("INSERT INTO ssh_keys (user_id, position, line) VALUES (?, ?, ?)");
  for (const [position, line] of lines.entries()) insert.run(userId, position, line);
}
