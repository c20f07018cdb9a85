/** A project of a team: an administrator makes one, or the host's root. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { CreateProjectBody, ProjectReply } from "@resontech/contracts/http-projects";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { createProject, planProject } from "../../identity/create-project.ts";
import { authorize } from "../authorization.ts";
import { instant } from "../decisions/job-replies.ts";
import { enabledUser } from "../enabled-user.ts";
import { responses } from "../responses.ts";

/** @property quotaBytes of a new project's bucket */
export type ProjectCreationDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  now: () => number;
  quotaBytes: number;
};

export const projectCreationRoute: FastifyPluginAsyncTypebox<ProjectCreationDeps> = async (
  app,
  { read, commit, now: clock, quotaBytes },
) => {
  app.post(
    "/api/projects",
    {
      schema: {
        summary: "Make a project of a team, with its first lead",
        ...{ tags: ["projects"], body: CreateProjectBody, response: responses(201, ProjectReply) },
      },
      config: { access: { action: "project.create" }, audit: { event: "iam.project.create" } },
    },
    async (request, reply) => {
      const { name, team, lead } = request.body;
      await authorize(request, "project.create", "every");
      const leadId = enabledUser(read, lead);
      const wish = { name, team, leadId };
      const planned = planProject(wish);
      const { projectId } = planned;
      const now = clock();
      await request.audit.operation(
        {
          type: "iam.project.create",
          object: { kind: "project", id: projectId },
          detail: { lead: leadId },
        },
        (operation) =>
          commit.run((db) => {
            createProject(db, planned, wish, { quotaBytes, now });
            operation.completeIn(db);
          }),
      );
      return reply.code(201).send({
        ...{ id: projectId, name, team: planned.team },
        ...{
          isDefault: false,
          exportsByApproval: false,
          refusesNonFinite: false,
          createdAt: instant(now),
        },
      });
    },
  );
};
