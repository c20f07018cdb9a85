import { randomBytes } from "node:crypto";
import { FIRST_TEAM } from "@resontech/contracts/http-projects";
import { ApiError } from "../api-error.ts";
import type { WriteHandle } from "../db/open-database.ts";
import { bucketNameFor, usernameFor } from "./decisions/user-names.ts";
import { requireMayBeMember } from "./memberships.ts";
import { insertProject } from "./project-store.ts";

export type ProjectRequest = { name: string; team: string | undefined; leadId: string };
export type PlannedProject = { projectId: string; team: string };

/** The id stands in the log before the project is there. */
export function planProject({ team }: ProjectRequest): PlannedProject {
  return { projectId: `p_${randomBytes(12).toString("hex")}`, team: team ?? FIRST_TEAM };
}

/** Rows of a project with lead and bucket, which the object store gets with the first key pair. Inside a transaction. @throws ApiError project_exists, duties_conflict */
export function createProject(
  db: WriteHandle,
  { projectId, team }: PlannedProject,
  { name, leadId }: ProjectRequest,
  { quotaBytes, now }: { quotaBytes: number; now: number },
): void {
  requireMayBeMember(db, leadId);
  const bucket = bucketNameFor(usernameFor(name), randomBytes(4).toString("hex"));
  const isNew = insertProject(db, { projectId, name, team, leadId, bucket, quotaBytes, now });
  if (!isNew) throw new ApiError("project_exists", `${team} has a project ${name} already`);
}
