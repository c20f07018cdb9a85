/** Who may do what now, read for a review: people with roles, projects and living keys, and programs. Instants in Unix milliseconds. */
import type { KeyScope } from "@resontech/contracts/http-identity";
import type { ApplianceRole, ProjectRole } from "../authorization/roles.ts";
import type { ReadHandle } from "../db/open-database.ts";

type AccessProject = {
  id: string;
  name: string;
  role: ProjectRole;
  by: "lead" | "group" | "own";
};
type AccessKey = {
  id: string;
  last4: string;
  projectId: string;
  project: string;
  scopes: KeyScope[];
  createdAt: number;
  expiresAt: number;
  lastUsedAt: number | null;
};
/** @property hasSecondFactor of the newest session that is open; null where none is */
export type PersonAccess = {
  id: string;
  username: string;
  roles: ApplianceRole[];
  projects: AccessProject[];
  keys: AccessKey[];
  createdAt: number;
  lastSignInAt: number | null;
  hasSecondFactor: boolean | null;
  isDisabled: boolean;
  hasLeft: boolean;
};
export type ProgramAccess = {
  id: string;
  name: string;
  projectId: string;
  project: string;
  scopes: string[];
  answeredBy: string;
  isOrphan: boolean;
  expiresAt: number;
  lastUsedAt: number | null;
};

type Row = Omit<
  PersonAccess,
  "roles" | "projects" | "keys" | "hasSecondFactor" | "isDisabled" | "hasLeft"
> & {
  roles: string;
  projects: string;
  keys: string;
  sessionAt: number | null;
  acr: string | null;
  disabledAt: number | null;
  leftAt: number | null;
};

/** `1` is a password or a directory, `2` a second factor. */
const WITH_SECOND_FACTOR = "2";

/** People by name. A question for all of them: a review is of everybody. */
export function accessOfPeople(db: ReadHandle, now: number): PersonAccess[] {
  return db
    .prepare<[number, number], Row>(
      `SELECT u.id, u.username, u.created_at AS createdAt, u.signed_in_at AS lastSignInAt, u.disabled_at AS disabledAt, u.left_at AS leftAt,
         (SELECT json_group_array(role) FROM role_holders h WHERE h.user_id = u.id) AS roles,
         (SELECT max(s.signed_in_at) FROM sessions s WHERE s.user_id = u.id) AS sessionAt,
         (SELECT s.acr FROM sessions s WHERE s.user_id = u.id AND s.ends_at > ? ORDER BY s.signed_in_at DESC LIMIT 1) AS acr,
         (SELECT json_group_array(json_object('id', p.id, 'name', p.name, 'role', given.role, 'by', given.by)) FROM (
            SELECT m.project_id, m.role, CASE WHEN o.is_default = 1 AND o.owner_id = m.user_id THEN 'own' ELSE 'lead' END AS by
              FROM project_members m JOIN projects o ON o.id = m.project_id WHERE m.user_id = u.id
            UNION ALL SELECT r.project_id, r.role, 'group' FROM user_groups g
              JOIN group_roles r ON r.group_name = g.group_name WHERE g.user_id = u.id AND r.project_id IS NOT NULL
          ) AS given JOIN projects p ON p.id = given.project_id) AS projects,
         (SELECT json_group_array(json_object('id', k.id, 'last4', k.last4, 'projectId', k.project_id, 'project', p.name,
             'scopes', json(k.scopes), 'createdAt', k.created_at, 'expiresAt', k.expires_at, 'lastUsedAt', k.last_used_at))
            FROM platform_keys k JOIN projects p ON p.id = k.project_id
            WHERE k.user_id = u.id AND k.revoked_at IS NULL AND k.expires_at > ?) AS keys
       FROM users u WHERE u.kind = 'person' ORDER BY u.username`,
    )
    .all(now, now)
    .map(({ roles, projects, keys, sessionAt, acr, disabledAt, leftAt, ...person }) => ({
      ...person,
      lastSignInAt: Math.max(person.lastSignInAt ?? 0, sessionAt ?? 0) || null,
      roles: (JSON.parse(roles) as ApplianceRole[]).toSorted(),
      projects: (JSON.parse(projects) as AccessProject[]).toSorted((a, b) =>
        a.name.localeCompare(b.name),
      ),
      keys: (JSON.parse(keys) as AccessKey[]).toSorted((a, b) => a.createdAt - b.createdAt),
      hasSecondFactor: acr === null ? null : acr === WITH_SECOND_FACTOR,
      ...{ isDisabled: disabledAt !== null, hasLeft: leftAt !== null },
    }));
}

/** Living programs by project and name. */
export function accessOfPrograms(db: ReadHandle, now: number): ProgramAccess[] {
  return db
    .prepare<
      [number],
      Omit<ProgramAccess, "scopes" | "isOrphan"> & { scopes: string; orphanedAt: number | null }
    >(
      `SELECT a.id, a.name, a.project_id AS projectId, p.name AS project, a.scopes, r.username AS answeredBy, a.orphaned_at AS orphanedAt,
         a.expires_at AS expiresAt, a.last_used_at AS lastUsedAt
       FROM service_accounts a JOIN projects p ON p.id = a.project_id JOIN users r ON r.id = coalesce(a.answerable_id, a.created_by)
       WHERE a.revoked_at IS NULL AND a.expires_at > ? ORDER BY p.name, a.name`,
    )
    .all(now)
    .map(({ scopes, orphanedAt, ...program }) => ({
      ...program,
      scopes: JSON.parse(scopes) as string[],
      isOrphan: orphanedAt !== null,
    }));
}
