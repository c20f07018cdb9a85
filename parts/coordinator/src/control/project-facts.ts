import type { ProjectFacts } from "@resontech/contracts/operator-projects";
import type { ReadHandle } from "../db/open-database.ts";
import { instant } from "../http/decisions/job-replies.ts";

type ProjectRow = Omit<ProjectFacts, "leads" | "createdAt"> & { leads: string; created_at: number };

const PROJECTS = `SELECT p.id AS project, p.name, t.name AS team, p.created_at, b.name AS bucket, b.quota_bytes AS quotaBytes,
    (SELECT count(*) FROM project_members m WHERE m.project_id = p.id) AS members,
    (SELECT json_group_array(u.username) FROM project_members m JOIN users u ON u.id = m.user_id
      WHERE m.project_id = p.id AND m.role = 'project-lead') AS leads
  FROM projects p JOIN buckets b ON b.project_id = p.id LEFT JOIN teams t ON t.id = p.team_id
  ORDER BY t.name IS NULL, t.name, p.name, p.created_at, p.id`;

/** Projects of everybody, by team and name, users' own first projects last. */
export function projectFacts(db: ReadHandle): ProjectFacts[] {
  return db
    .prepare<[], ProjectRow>(PROJECTS)
    .all()
    .map(({ leads, created_at, ...project }) => ({
      ...project,
      leads: (JSON.parse(leads) as string[]).toSorted(),
      createdAt: instant(created_at),
    }));
}
