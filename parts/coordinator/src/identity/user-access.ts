import type { WriteHandle } from "../db/open-database.ts";

/** @param at when the user was disabled, Unix milliseconds; null: the user's keys are good again */
export function setDisabled(db: WriteHandle, userId: string, at: number | null): void {
  db.prepare("UPDATE users SET disabled_at = ? WHERE id = ?").run(at, userId);
}
