/** Rows of projects, their teams and their members. */
import { randomBytes } from "node:crypto";
import type { ProjectRole } from "../authorization/roles.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { type RowFilter, whereOf } from "../db/row-filter.ts";
import { insertBucket } from "./bucket-store.ts";

/** Roles that a person may hold in a project; service accounts come by another way. */
export type MemberRole = Exclude<ProjectRole, "service-account">;
/** @property team null for a user's own first project */
export type Project = {
  id: string;
  name: string;
  team: string | null;
  isDefault: boolean;
  exportsByApproval: boolean;
  refusesNonFinite: boolean;
  createdAt: number;
};
export type Member = { userId: string; username: string; role: MemberRole; since: number };

type ProjectRow = {
  id: string;
  name: string;
  team: string | null;
  is_default: number;
  exports_by_approval: number;
  refuses_non_finite: number;
  created_at: number;
};

/** Whom the appliance belongs to: migration 15 makes the row. */
const OWN_ORGANISATION = "o_own";
const PROJECTS = `SELECT p.id, p.name, p.is_default, p.exports_by_approval, p.refuses_non_finite, p.created_at, t.name AS team
  FROM projects p LEFT JOIN teams t ON t.id = p.team_id`;

const MEMBERS = `SELECT m.user_id AS userId, u.username, m.role, m.created_at AS since
  FROM project_members m JOIN users u ON u.id = m.user_id`;
/** Inside a transaction and out of one. */
type AnyHandle = Pick<WriteHandle, "prepare">;

export function listProjects(db: ReadHandle, filter: RowFilter): Project[] {
  const { sql, values } = whereOf(filter, { projectId: "p.id" });
  return db
    .prepare<string[], ProjectRow>(`${PROJECTS} WHERE ${sql} ORDER BY p.created_at, p.id`)
    .all(...values)
    .map((row) => ({
      ...{ id: row.id, name: row.name, team: row.team },
      ...{ isDefault: row.is_default === 1, exportsByApproval: row.exports_by_approval === 1 },
      ...{ refusesNonFinite: row.refuses_non_finite === 1, createdAt: row.created_at },
    }));
}

/** The user's own first project, made with the user. */
export function findDefaultProject(db: ReadHandle, userId: string): string | null {
  const row = db
    .prepare<[string], { id: string }>(
      "SELECT id FROM projects WHERE owner_id = ? AND is_default = 1",
    )
    .get(userId);
  return row?.id ?? null;
}

/** Reads how a project is named; null where there is no such project. */
export function projectName(db: ReadHandle, projectId: string): string | null {
  return (
    db.prepare<[string], string>("SELECT name FROM projects WHERE id = ?").pluck().get(projectId) ??
    null
  );
}

export type NewProject = {
  projectId: string;
  name: string;
  team: string;
  leadId: string;
  bucket: string;
  quotaBytes: number;
  now: number;
};

/** Writes a project with its lead and its bucket; the team is made where it is not there. False: the team has a project of this name. */
export function insertProject(db: WriteHandle, project: NewProject): boolean {
  const { projectId, name, leadId, bucket, quotaBytes, now } = project;
  db.prepare(
    "INSERT OR IGNORE INTO teams (id, organisation_id, name, created_at) VALUES (?, ?, ?, ?)",
  ).run(`t_${randomBytes(12).toString("hex")}`, OWN_ORGANISATION, project.team, now);
  const { changes } = db
    .prepare(
      `INSERT OR IGNORE INTO projects (id, owner_id, name, is_default, created_at, team_id)
       SELECT ?, ?, ?, 0, ?, id FROM teams WHERE organisation_id = ? AND name = ?`,
    )
    .run(projectId, leadId, name, now, OWN_ORGANISATION, project.team);
  if (changes === 0) return false;
  setMember(db, projectId, leadId, "project-lead", now);
  insertBucket(db, { bucket, projectId, logId: projectId, quotaBytes, now });
  return true;
}

/** Sets, inside a transaction, whether files of a project's sites may leave them. */
export function setSiteFiles(db: WriteHandle, projectId: string, allowed: boolean): void {
  db.prepare("UPDATE projects SET returns_site_files = ? WHERE id = ?").run(
    Number(allowed),
    projectId,
  );
}

/** Sets, inside a transaction, whether a model with a weight that is no number fails its job, from its next attempt on. */
export function setRefusesNonFinite(db: WriteHandle, projectId: string, refuses: boolean): void {
  db.prepare("UPDATE projects SET refuses_non_finite = ? WHERE id = ?").run(
    Number(refuses),
    projectId,
  );
}

/** Lists a project's people by name. */
export function membersOf(db: ReadHandle, projectId: string): Member[] {
  return db
    .prepare<[string], Member>(`${MEMBERS} WHERE m.project_id = ? ORDER BY u.username`)
    .all(projectId);
}

export function findMember(db: ReadHandle, projectId: string, userId: string): Member | null {
  return (
    db
      .prepare<[string, string], Member>(`${MEMBERS} WHERE m.project_id = ? AND m.user_id = ?`)
      .get(projectId, userId) ?? null
  );
}

/** Answers a member's role; null for who is no member. */
export function roleIn(db: AnyHandle, projectId: string, userId: string): MemberRole | null {
  return (
    db
      .prepare<[string, string], MemberRole>(
        "SELECT role FROM project_members WHERE project_id = ? AND user_id = ?",
      )
      .pluck()
      .get(projectId, userId) ?? null
  );
}

/** Whether the person is in a project beside the own first one. */
export function isMemberBeyondOwn(db: AnyHandle, userId: string): boolean {
  return (
    db
      .prepare(
        `SELECT 1 FROM project_members m JOIN projects p ON p.id = m.project_id
         WHERE m.user_id = ? AND NOT (p.is_default = 1 AND p.owner_id = m.user_id) LIMIT 1`,
      )
      .get(userId) !== undefined
  );
}

/** One who is not disabled. */
export function hasOtherLead(db: AnyHandle, projectId: string, userId: string): boolean {
  return (
    db
      .prepare(
        `SELECT 1 FROM project_members m JOIN users u ON u.id = m.user_id
         WHERE m.project_id = ? AND m.role = 'project-lead' AND m.user_id <> ? AND u.disabled_at IS NULL`,
      )
      .get(projectId, userId) !== undefined
  );
}

export function setMember(
  db: WriteHandle,
  projectId: string,
  userId: string,
  role: MemberRole,
  now: number,
): void {
  db.prepare(
    `INSERT INTO project_members (project_id, user_id, role, created_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (project_id, user_id) DO UPDATE SET role = excluded.role`,
  ).run(projectId, userId, role, now);
}

export function removeMember(db: WriteHandle, projectId: string, userId: string): void {
  db.prepare("DELETE FROM project_members WHERE project_id = ? AND user_id = ?").run(
    projectId,
    userId,
  );
}
