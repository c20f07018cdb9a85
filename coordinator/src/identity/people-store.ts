/** Rows of people: which user Keycloak's subject is, and to which projects users belong. */
import type { ProjectRole } from "../authorization/roles.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";

export type Person = { userId: string; username: string; isDisabled: boolean };
export type Membership = { projectId: string; name: string; role: ProjectRole };

export function findPerson(db: ReadHandle, subject: string): Person | null {
  return personOf(db, "subject", subject);
}

export function findPersonById(db: ReadHandle, userId: string): Person | null {
  return personOf(db, "id", userId);
}

function personOf(db: ReadHandle, column: "subject" | "id", value: string): Person | null {
  const row = db
    .prepare<[string], { userId: string; username: string; disabledAt: number | null }>(
      `SELECT id AS userId, username, disabled_at AS disabledAt FROM users WHERE ${column} = ?`,
    )
    .get(value);
  if (row === undefined) return null;
  const { disabledAt, ...person } = row;
  return { ...person, isDisabled: disabledAt !== null };
}

/** Null until Keycloak knows the user. */
export function subjectOf(db: ReadHandle, userId: string): string | null {
  return (
    db
      .prepare<[string], string | null>("SELECT subject FROM users WHERE id = ?")
      .pluck()
      .get(userId) ?? null
  );
}

export function linkPerson(db: WriteHandle, userId: string, subject: string): void {
  db.prepare("UPDATE users SET subject = ? WHERE id = ?").run(subject, userId);
}

export function membershipsOf(db: ReadHandle, userId: string): Membership[] {
  return db
    .prepare<[string], Membership>(
      `SELECT m.project_id AS projectId, p.name, m.role FROM project_members m JOIN projects p ON p.id = m.project_id
       WHERE m.user_id = ? ORDER BY p.created_at, p.id`,
    )
    .all(userId);
}

export function listPeople(db: ReadHandle): {
  id: string;
  username: string;
  roles: string[];
  isDisabled: boolean;
  canSignIn: boolean;
  createdAt: number;
}[] {
  return db
    .prepare<
      [],
      {
        id: string;
        username: string;
        roles: string;
        disabledAt: number | null;
        subject: string | null;
        createdAt: number;
      }
    >(
      `SELECT u.id, u.username, u.disabled_at AS disabledAt, u.subject, u.created_at AS createdAt,
         (SELECT json_group_array(role) FROM role_holders h WHERE h.user_id = u.id) AS roles
       FROM users u ORDER BY u.username`,
    )
    .all()
    .map(({ roles, disabledAt, subject, ...person }) => ({
      ...person,
      roles: (JSON.parse(roles) as string[]).toSorted(),
      isDisabled: disabledAt !== null,
      canSignIn: subject !== null && disabledAt === null,
    }));
}

/** Users whom Keycloak does not know yet; a disabled one waits until the operator enables the user. */
export function unlinkedUsers(
  db: ReadHandle,
): { userId: string; username: string; isAdmin: boolean }[] {
  return db
    .prepare<[], { userId: string; username: string; isAdmin: number }>(
      `SELECT id AS userId, username, is_admin AS isAdmin FROM users
       WHERE subject IS NULL AND disabled_at IS NULL ORDER BY created_at, id`,
    )
    .all()
    .map((row) => ({ ...row, isAdmin: row.isAdmin === 1 }));
}
