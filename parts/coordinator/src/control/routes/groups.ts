/** What the operator says of groups of a connected directory. */
import type { FastifyInstance } from "fastify";
import { ApiError } from "../../api-error.ts";
import { APPLIANCE_ROLES, PROJECT_ROLES } from "../../authorization/roles.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { listGroupRoles, mapGroup, unmapGroup } from "../../identity/directories/group-store.ts";
import { projectName } from "../../identity/project-store.ts";
import { answerOperator } from "../answer-operator.ts";

export type OperatorGroupDeps = { read: ReadHandle; commit: GroupCommit };

const APPLIANCE = { kind: "appliance", id: "appliance" } as const;

export async function operatorGroupRoutes(
  app: FastifyInstance,
  { read, commit }: OperatorGroupDeps,
): Promise<void> {
  answerOperator(
    app,
    "group-list",
    { action: "identity.diff", audit: { none: "settings, and nothing of people" } },
    async () => ({ groups: listGroupRoles(read) }),
  );

  answerOperator(
    app,
    "group-map",
    { action: "identity.apply", audit: { event: "iam.group.map" } },
    async ({ group, project, role: name }, request) => {
      const role = [...PROJECT_ROLES, ...APPLIANCE_ROLES].find((one) => one === name);
      if (role === undefined) throw new ApiError("validation_failed", `there is no role ${name}`);
      const isOfProject = PROJECT_ROLES.some((one) => one === role);
      if (isOfProject && project === null)
        throw new ApiError("role_without_project", `${role} is a role in a project`);
      if (!isOfProject && project !== null)
        throw new ApiError("role_in_project", `${role} is a role of the whole appliance`);
      if (project !== null && projectName(read, project) === null)
        throw new ApiError("not_found", `there is no project ${project}`);
      await request.audit.operation(
        {
          ...{ type: "iam.group.map", object: APPLIANCE },
          detail: { change: "given", role, ...(project === null ? {} : { project }) },
        },
        ({ completeIn }) =>
          commit.run((db) => {
            mapGroup(db, { group, project, role });
            completeIn(db);
          }),
      );
      return { group, role };
    },
  );

  answerOperator(
    app,
    "group-unmap",
    { action: "identity.apply", audit: { event: "iam.group.map" } },
    async ({ group, project }, request) => {
      const taken = await request.audit.operation(
        {
          ...{ type: "iam.group.map", object: APPLIANCE },
          detail: { change: "taken", ...(project === undefined ? {} : { project }) },
        },
        ({ completeIn }) =>
          commit.run((db) => {
            const changes = unmapGroup(db, group, project ?? null);
            if (changes === 0) throw new ApiError("not_found", `the group ${group} gives nothing`);
            completeIn(db);
            return changes;
          }),
      );
      return { group, taken };
    },
  );
}
