/** Rows of groups: which roles they give, and who is in those that give any. */
import {
  APPLIANCE_ROLES,
  type ApplianceRole,
  type ProjectRole,
} from "../../authorization/roles.ts";
import type { ReadHandle, WriteHandle } from "../../db/open-database.ts";

export type GroupRole = {
  group: string;
  /** Null of a role of the whole appliance, which is asked for. */
  project: string | null;
  role: ProjectRole | ApplianceRole;
};

export function listGroupRoles(db: ReadHandle): GroupRole[] {
  return db
    .prepare<[], GroupRole>(
      `SELECT group_name AS "group", project_id AS project, role FROM group_roles
       UNION ALL SELECT group_name, NULL, role FROM group_requests ORDER BY 1, 2, 3`,
    )
    .all();
}

/** Ties a role to a group. In a project a group gives one role; the newer one stands. */
export function mapGroup(db: WriteHandle, { group, project, role }: GroupRole): void {
  if (project === null)
    db.prepare("INSERT OR IGNORE INTO group_requests (group_name, role) VALUES (?, ?)").run(
      group,
      role,
    );
  else
    db.prepare(
      "INSERT OR REPLACE INTO group_roles (group_name, project_id, role) VALUES (?, ?, ?)",
    ).run(group, project, role);
}

/** Everything that the group gives, or what it gives in one project. Answers how much that was. */
export function unmapGroup(db: WriteHandle, group: string, project: string | null): number {
  if (project !== null)
    return db
      .prepare("DELETE FROM group_roles WHERE group_name = ? AND project_id = ?")
      .run(group, project).changes;
  const roles = db.prepare("DELETE FROM group_roles WHERE group_name = ?").run(group).changes;
  return roles + db.prepare("DELETE FROM group_requests WHERE group_name = ?").run(group).changes;
}

/** Whether {@link noteGroups} would change nothing and ask for nothing: most looks find what the last one found. */
export function areGroupsNoted(db: ReadHandle, userId: string, groups: readonly string[]): boolean {
  return (
    db
      .prepare<[{ userId: string; groups: string }], number>(
        `SELECT EXISTS (SELECT 1 FROM user_groups WHERE user_id = @userId
                        AND group_name NOT IN (SELECT value FROM json_each(@groups)))
             OR EXISTS (SELECT 1 FROM json_each(@groups)
                        WHERE value IN (SELECT group_name FROM group_roles UNION ALL SELECT group_name FROM group_requests)
                        AND value NOT IN (SELECT group_name FROM user_groups WHERE user_id = @userId))
             OR EXISTS (SELECT 1 FROM group_requests WHERE group_name IN (SELECT value FROM json_each(@groups))
                        AND role NOT IN (SELECT role FROM role_requests WHERE user_id = @userId))`,
      )
      .pluck()
      .get({ userId, groups: JSON.stringify(groups) }) === 0
  );
}

/** The person's groups of now, as far as they mean something here. Answers with the roles that are to be asked for. */
export function noteGroups(
  db: WriteHandle,
  userId: string,
  groups: readonly string[],
): ApplianceRole[] {
  const json = JSON.stringify(groups);
  db.prepare(
    "DELETE FROM user_groups WHERE user_id = ? AND group_name NOT IN (SELECT value FROM json_each(?))",
  ).run(userId, json);
  db.prepare(
    `INSERT OR IGNORE INTO user_groups (user_id, group_name)
     SELECT ?, value FROM json_each(?)
     WHERE value IN (SELECT group_name FROM group_roles UNION ALL SELECT group_name FROM group_requests)`,
  ).run(userId, json);
  const asked = db
    .prepare<[string], string>(
      `SELECT DISTINCT role FROM group_requests WHERE group_name IN (SELECT value FROM json_each(?))`,
    )
    .pluck()
    .all(json);
  return APPLIANCE_ROLES.filter((role) => asked.includes(role));
}
