/** Who holds which role of the whole appliance: as the newest token of the person said, or the newest change here. */
import type { ApplianceRole } from "../authorization/roles.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";

export function rolesOf(db: Pick<ReadHandle, "prepare">, userId: string): ApplianceRole[] {
  return db
    .prepare<[string], ApplianceRole>(
      "SELECT role FROM role_holders WHERE user_id = ? ORDER BY role",
    )
    .pluck()
    .all(userId);
}

/** All that the person holds from now on. `users.is_admin` says the same for the release before, and nobody reads it here. */
export function setRoles(db: WriteHandle, userId: string, roles: readonly ApplianceRole[]): void {
  db.prepare("DELETE FROM role_holders WHERE user_id = ?").run(userId);
  const insert = db.prepare("INSERT INTO role_holders (user_id, role) VALUES (?, ?)");
  for (const role of roles) insert.run(userId, role);
  db.prepare(
    `UPDATE users SET is_admin = EXISTS (SELECT 1 FROM role_holders h WHERE h.user_id = users.id AND h.role = 'platform-admin')
     WHERE id = ?`,
  ).run(userId);
}

/** People beside this one who are not disabled and hold one of the roles. */
export function otherHoldersOf(
  db: Pick<ReadHandle, "prepare">,
  roles: readonly ApplianceRole[],
  userId: string,
): string[] {
  return db
    .prepare<[string, string], string>(
      `SELECT DISTINCT h.user_id FROM role_holders h JOIN users u ON u.id = h.user_id
       WHERE h.role IN (SELECT value FROM json_each(?)) AND h.user_id <> ? AND u.disabled_at IS NULL ORDER BY h.user_id`,
    )
    .pluck()
    .all(JSON.stringify(roles), userId);
}

/** People who are not disabled and hold the role. */
export function holdersOf(db: Pick<ReadHandle, "prepare">, role: ApplianceRole): string[] {
  return db
    .prepare<[string], string>(
      `SELECT h.user_id FROM role_holders h JOIN users u ON u.id = h.user_id
       WHERE h.role = ? AND u.disabled_at IS NULL ORDER BY h.user_id`,
    )
    .pluck()
    .all(role);
}
