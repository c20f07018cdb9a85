/** Rows of administrators whom the host's root made, until a second person knows of each. Instants in Unix milliseconds. */
import { ApiError } from "../api-error.ts";
import { APPLIANCE_ROLES } from "../authorization/roles.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { otherHoldersOf } from "./role-holders.ts";

export type RestoredAdministrator = { userId: string; username: string; restoredAt: number };
type Row = RestoredAdministrator & { others: string };

/** Writes a row in the transaction that gives the role. Asking twice keeps the older row: nobody acknowledged that one either. */
export function noteRestored(db: WriteHandle, userId: string, restoredAt: number): void {
  const others = JSON.stringify(otherHoldersOf(db, APPLIANCE_ROLES, userId));
  db.prepare(
    `INSERT INTO restored_administrators (user_id, restored_at, others)
     SELECT @userId, @restoredAt, @others WHERE NOT EXISTS
       (SELECT 1 FROM restored_administrators WHERE user_id = @userId AND acknowledged_at IS NULL)`,
  ).run({ userId, restoredAt, others });
}

/**
 * Those that stand, the newest first. One is over when another person with a role of the whole appliance acknowledged it. It is also over once such a person
 * is there who was not there then.
 */
export function standingRestored(db: Pick<ReadHandle, "prepare">): RestoredAdministrator[] {
  return db
    .prepare<[], Row>(
      `SELECT r.user_id AS userId, u.username, r.restored_at AS restoredAt, r.others
       FROM restored_administrators r JOIN users u ON u.id = r.user_id
       WHERE r.acknowledged_at IS NULL ORDER BY r.restored_at DESC LIMIT 50`,
    )
    .all()
    .filter(({ userId, others }) => {
      const then = JSON.parse(others) as string[];
      return otherHoldersOf(db, APPLIANCE_ROLES, userId).every((one) => then.includes(one));
    })
    .map(({ userId, username, restoredAt }) => ({ userId, username, restoredAt }));
}

/** @throws ApiError own_request for the administrator himself; not_found where nothing stands */
export function acknowledgeRestored(
  db: WriteHandle,
  { userId, by, now }: { userId: string; by: string; now: number },
): void {
  if (userId === by)
    throw new ApiError("own_request", "a second person acknowledges an administrator");
  const { changes } = db
    .prepare(
      "UPDATE restored_administrators SET acknowledged_by = ?, acknowledged_at = ? WHERE user_id = ? AND acknowledged_at IS NULL",
    )
    .run(by, now, userId);
  if (changes === 0)
    throw new ApiError("not_found", "no administrator of this id waits for an acknowledgement");
}
