/** Rows of people: which user Keycloak's subject is, and to which projects users belong. */
import type { ApplianceRole, ProjectRole, Role } from "../authorization/roles.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { allHeld, givenBeside } from "./decisions/duties.ts";
import { type Source, strongest } from "./decisions/group-names.ts";
import { rolesOf } from "./role-holders.ts";

/** @property hasLeft the account is gone where it was kept; a sign-in takes that back @property source null of a user whom Keycloak itself keeps */
export type Person = {
  userId: string;
  username: string;
  isDisabled: boolean;
  hasLeft: boolean;
  source: Pick<Source, "name" | "kind"> | null;
};
export type Membership = { projectId: string; name: string; role: ProjectRole };

export function findPerson(db: ReadHandle, subject: string): Person | null {
  return personOf(db, "subject = ?", [subject]);
}

/** Finds a person by the id that they have in the directory. */
export function findPersonOf(db: ReadHandle, { name, subject }: Source): Person | null {
  return personOf(db, "source = ? AND source_subject = ?", [name, subject]);
}

export function findPersonById(db: Pick<WriteHandle, "prepare">, userId: string): Person | null {
  return personOf(db, "id = ?", [userId]);
}

type PersonRow = {
  id: string;
  username: string;
  disabled_at: number | null;
  left_at: number | null;
  source: string | null;
  source_kind: Source["kind"] | null;
};

function personOf(
  db: Pick<WriteHandle, "prepare">,
  where: string,
  values: readonly string[],
): Person | null {
  const row = db
    .prepare<string[], PersonRow>(
      `SELECT id, username, disabled_at, left_at, source, source_kind FROM users WHERE kind = 'person' AND ${where}`,
    )
    .get(...values);
  if (row === undefined) return null;
  const { source: name, source_kind: kind } = row;
  return {
    ...{ userId: row.id, username: row.username },
    ...{ isDisabled: row.disabled_at !== null, hasLeft: row.left_at !== null },
    source: name === null || kind === null ? null : { name, kind },
  };
}

/** Answers Keycloak's id; null until Keycloak knows the user. */
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

/** Whom Keycloak names in a token, and from which directory the person came. */
export function linkSource(db: WriteHandle, userId: string, { name, subject, kind }: Source): void {
  db.prepare("UPDATE users SET source = ?, source_subject = ?, source_kind = ? WHERE id = ?").run(
    name,
    subject,
    kind,
    userId,
  );
}

export function noteSignIn(db: WriteHandle, userId: string, now: number): void {
  db.prepare("UPDATE users SET signed_in_at = ?, left_at = NULL WHERE id = ?").run(now, userId);
}

/** Notes when somebody left; false when that was known. */
export function noteLeft(db: WriteHandle, userId: string, now: number): boolean {
  return (
    db.prepare("UPDATE users SET left_at = ? WHERE id = ? AND left_at IS NULL").run(now, userId)
      .changes > 0
  );
}

/** Everybody whose account at Keycloak is looked after: linked, not disabled, not known to have left. */
export function peopleToLookAfter(
  db: ReadHandle,
): { userId: string; subject: string; source: Person["source"] }[] {
  return db
    .prepare<
      [],
      { id: string; subject: string; source: string | null; kind: Source["kind"] | null }
    >(
      `SELECT id, subject, source, source_kind AS kind FROM users
       WHERE kind = 'person' AND subject IS NOT NULL AND disabled_at IS NULL AND left_at IS NULL ORDER BY id`,
    )
    .all()
    .map(({ id, subject, source, kind }) => ({
      ...{ userId: id, subject },
      source: source === null || kind === null ? null : { name: source, kind },
    }));
}

/** Names of those who left and were not disabled yet, the last ones first. */
export function peopleWhoLeft(db: Pick<ReadHandle, "prepare">): string[] {
  return db
    .prepare<[], string>(
      "SELECT username FROM users WHERE left_at IS NOT NULL AND disabled_at IS NULL ORDER BY left_at DESC LIMIT 50",
    )
    .pluck()
    .all();
}

/** The person's own project first, which a request means that names none; then others by an own row, then those that groups give. @param shown roles of the whole appliance that a newer token than the rows names */
export function membershipsOf(
  db: Pick<ReadHandle, "prepare">,
  userId: string,
  shown: readonly ApplianceRole[] = [],
): Membership[] {
  const all = db
    .prepare<[string, string, string], Membership>(
      `SELECT p.id AS projectId, p.name, given.role FROM (
         SELECT project_id, role, 0 AS isGroup FROM project_members WHERE user_id = ?
         UNION ALL SELECT r.project_id, r.role, 1 FROM user_groups g
           JOIN group_roles r ON r.group_name = g.group_name WHERE g.user_id = ?
       ) AS given JOIN projects p ON p.id = given.project_id
       ORDER BY p.is_default = 1 AND p.owner_id = ? DESC, given.isGroup, p.created_at, p.id`,
    )
    .all(userId, userId, userId);
  return strongest(givenBeside([...rolesOf(db, userId), ...shown], all));
}

/** All roles that the person holds anywhere. @param shown as for {@link membershipsOf} */
export function heldBy(
  db: Pick<ReadHandle, "prepare">,
  userId: string,
  shown: readonly ApplianceRole[] = [],
): Role[] {
  return allHeld([...rolesOf(db, userId), ...shown], membershipsOf(db, userId, shown));
}

/** Groups that would make an auditor a member of a project: they give nothing, and somebody should mend the directory or the mapping. */
export function groupsThatGiveNothing(
  db: Pick<ReadHandle, "prepare">,
): { username: string; group: string; project: string }[] {
  return db
    .prepare<[], { username: string; group: string; project: string }>(
      `SELECT u.username, r.group_name AS "group", p.name AS project FROM user_groups g
         JOIN group_roles r ON r.group_name = g.group_name JOIN projects p ON p.id = r.project_id
         JOIN users u ON u.id = g.user_id JOIN role_holders h ON h.user_id = u.id
       WHERE h.role = 'compliance-auditor' AND u.disabled_at IS NULL ORDER BY u.username, r.group_name, p.name LIMIT 50`,
    )
    .all();
}

/** @property projects of teams, in which the person's own row makes a member: what a group gives ends in the directory */
export function listPeople(db: ReadHandle): {
  id: string;
  username: string;
  roles: string[];
  projects: Membership[];
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
        projects: string;
        disabledAt: number | null;
        subject: string | null;
        createdAt: number;
      }
    >(
      `SELECT u.id, u.username, u.disabled_at AS disabledAt, u.subject, u.created_at AS createdAt,
         (SELECT json_group_array(role) FROM role_holders h WHERE h.user_id = u.id) AS roles,
         (SELECT json_group_array(json_object('projectId', p.id, 'name', p.name, 'role', m.role)) FROM project_members m
            JOIN projects p ON p.id = m.project_id WHERE m.user_id = u.id AND p.is_default = 0) AS projects
       FROM users u WHERE u.kind = 'person' ORDER BY u.username`,
    )
    .all()
    .map(({ roles, projects, disabledAt, subject, ...person }) => ({
      ...person,
      roles: (JSON.parse(roles) as string[]).toSorted(),
      projects: (JSON.parse(projects) as Membership[]).toSorted((a, b) =>
        a.name.localeCompare(b.name),
      ),
      isDisabled: disabledAt !== null,
      canSignIn: subject !== null && disabledAt === null,
    }));
}

/** Users whom Keycloak does not know yet; a disabled one waits until the operator enables the user. */
export function unlinkedUsers(
  db: ReadHandle,
): { userId: string; username: string; roles: ApplianceRole[] }[] {
  return db
    .prepare<[], { userId: string; username: string }>(
      `SELECT id AS userId, username FROM users
       WHERE kind = 'person' AND subject IS NULL AND disabled_at IS NULL ORDER BY created_at, id`,
    )
    .all()
    .map((user) => ({ ...user, roles: rolesOf(db, user.userId) }));
}
