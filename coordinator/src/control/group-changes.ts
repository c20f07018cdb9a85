/** What the operator says of groups of a connected directory: each change on record. */
import type { OperatorReply, OperatorRequest } from "@resontech/contracts/operator-control";
import { ApiError } from "../api-error.ts";
import { APPLIANCE_ROLES, PROJECT_ROLES } from "../authorization/roles.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { mapGroup, unmapGroup } from "../identity/directories/group-store.ts";
import { byOperator, type ByOperatorDeps } from "./by-operator.ts";

type Deps = ByOperatorDeps & { read: ReadHandle; commit: GroupCommit };
type Request<V extends OperatorRequest["verb"]> = Extract<OperatorRequest, { verb: V }>;
const APPLIANCE = { kind: "appliance", id: "appliance" } as const;

/** @throws ApiError not_found of a project that is not there, role_without_project, role_in_project */
export async function mapToRole(
  deps: Deps,
  { group, project, role: name }: Request<"group-map">,
): Promise<OperatorReply> {
  const role = [...PROJECT_ROLES, ...APPLIANCE_ROLES].find((one) => one === name);
  if (role === undefined) throw new ApiError("validation_failed", `there is no role ${name}`);
  const isOfProject = PROJECT_ROLES.some((one) => one === role);
  if (isOfProject && project === null)
    throw new ApiError("role_without_project", `${role} is a role in a project`);
  if (!isOfProject && project !== null)
    throw new ApiError("role_in_project", `${role} is a role of the whole appliance`);
  if (project !== null) requireProject(deps.read, project);
  await byOperator(
    deps,
    "iam.group.map",
    APPLIANCE,
    { change: "given", role, ...(project === null ? {} : { project }) },
    async ({ completeIn }) => {
      await deps.commit.run((db) => {
        mapGroup(db, { group, project, role });
        completeIn(db);
      });
    },
  );
  return { ok: true, verb: "group-map", group, role };
}

/** @throws ApiError not_found where the group gives nothing */
export async function unmapFromRoles(
  deps: Deps,
  { group, project }: Request<"group-unmap">,
): Promise<OperatorReply> {
  const taken = await byOperator(
    deps,
    "iam.group.map",
    APPLIANCE,
    { change: "taken", ...(project === null ? {} : { project }) },
    ({ completeIn }) =>
      deps.commit.run((db) => {
        const changes = unmapGroup(db, group, project);
        if (changes === 0) throw new ApiError("not_found", `the group ${group} gives nothing`);
        completeIn(db);
        return changes;
      }),
  );
  return { ok: true, verb: "group-unmap", group, taken };
}

function requireProject(read: ReadHandle, project: string): void {
  if (read.prepare("SELECT 1 FROM projects WHERE id = ?").get(project) === undefined)
    throw new ApiError("not_found", `there is no project ${project}`);
}
