/** What somebody left behind gets another owner; nothing is deleted. */
import { ApiError } from "../api-error.ts";
import type { WriteHandle } from "../db/open-database.ts";
import { findPersonById } from "./people-store.ts";
import { roleIn } from "./project-store.ts";

type Between = { from: string; to: string };

/** @throws ApiError not_found; member_active for somebody who still works in the project */
export function requireHandover(
  db: Pick<WriteHandle, "prepare">,
  projectId: string,
  { from, to }: Between,
): void {
  const [leaver, heir] = [findOwner(db, from), findPersonById(db, to)];
  if (leaver === null || heir === null) throw new ApiError("not_found", "there is no such user");
  if (!leaver.isDisabled && (leaver.isProgram || roleIn(db, projectId, from) !== null))
    throw new ApiError("member_active", `${leaver.username} works in the project and is not over`);
  const role = roleIn(db, projectId, to);
  if (heir.isDisabled || role === null || role === "viewer")
    throw new ApiError(
      "not_found",
      "who takes over must lead the project or be a researcher in it",
    );
}

/** Who owns jobs: a person, or a service account. */
function findOwner(
  db: Pick<WriteHandle, "prepare">,
  id: string,
): { username: string; isDisabled: boolean; isProgram: boolean } | null {
  const row = db
    .prepare<[string], { username: string; disabled_at: number | null; kind: string }>(
      "SELECT username, disabled_at, kind FROM users WHERE id = ?",
    )
    .get(id);
  if (row === undefined) return null;
  const { username, disabled_at, kind } = row;
  return { username, isDisabled: disabled_at !== null, isProgram: kind === "service-account" };
}

/** Jobs of the project, and the project itself where it was made for him. Answers how many jobs. Inside a transaction. */
export function handOver(db: WriteHandle, projectId: string, { from, to }: Between): number {
  db.prepare(
    "UPDATE projects SET owner_id = ? WHERE id = ? AND owner_id = ? AND is_default = 0",
  ).run(to, projectId, from);
  return db
    .prepare("UPDATE jobs SET user_id = ? WHERE project_id = ? AND user_id = ?")
    .run(to, projectId, from).changes;
}
