/** Projects, and who is what in them. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import {
  ExportsBody,
  ModelsBody,
  HandoverBody,
  HandoverReply,
  MemberBody,
  MemberReply,
  ProjectReply,
} from "@resontech/contracts/http-projects";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { BucketKeys } from "../../identity/bucket-keys.ts";
import { handOver, requireHandover } from "../../identity/hand-over.ts";
import { endMembership, giveRole, type MembershipDeps } from "../../identity/memberships.ts";
import {
  findMember,
  listProjects,
  type Member,
  membersOf,
  type Project,
  projectName,
  roleIn,
  setRefusesNonFinite,
} from "../../identity/project-store.ts";
import { setLeavesByApproval } from "../../storage/export-grants.ts";
import { authorize } from "../authorization.ts";
import { instant } from "../decisions/job-replies.ts";
import { enabledUser } from "../enabled-user.ts";
import { responses } from "../responses.ts";

export type ProjectRoutesDeps = MembershipDeps & { bucketKeys: BucketKeys };

const tags = ["projects"];
const closed = { additionalProperties: false } as const;
const Params = Type.Object({ id: IdParam }, closed);
const MemberParams = Type.Object({ id: IdParam, user: IdParam }, closed);

export const projectRoutes: FastifyPluginAsyncTypebox<ProjectRoutesDeps> = async (app, deps) => {
  const { read, commit } = deps;

  app.get(
    "/api/projects",
    {
      schema: {
        summary: "The projects that one is a member of; of a key its own",
        ...{ tags, response: responses(200, Type.Array(ProjectReply)) },
      },
      config: { access: { action: "project.list" }, audit: { none: "status" } },
    },
    async (request) => {
      const { rows } = await authorize(request, "project.list", "rows");
      return listProjects(read, rows).map(projectReply);
    },
  );

  app.get(
    "/api/projects/:id/members",
    {
      schema: {
        summary: "Who is what in a project",
        ...{ tags, params: Params, response: responses(200, Type.Array(MemberReply)) },
      },
      config: { access: { action: "membership.list" }, audit: { event: "iam.project.members" } },
    },
    async (request) => {
      const { id } = request.params;
      await authorize(request, "membership.list", anyMemberOf(id));
      const members = membersOf(read, id);
      await request.audit.fact({
        type: "iam.project.members",
        object: { kind: "project", id },
        detail: { count: members.length },
      });
      return members.map(memberReply);
    },
  );

  app.post(
    "/api/projects/:id/members",
    {
      schema: {
        summary: "Make somebody a member, or give a member another role",
        ...{ tags, params: Params, body: MemberBody, response: responses(200, MemberReply) },
      },
      config: { access: { action: "membership.change" }, audit: { event: "iam.project.member" } },
    },
    async (request) => {
      const { id } = request.params;
      const { username, role } = request.body;
      await authorize(request, "membership.change", anyMemberOf(id));
      const userId = enabledUser(read, username);
      await request.audit.operation(
        {
          type: "iam.project.member",
          object: { kind: "project", id },
          detail: { change: "grant", member: userId, role },
        },
        (operation) => giveRole(deps, { projectId: id, userId }, role, operation),
      );
      const member = findMember(read, id, userId);
      if (member === null) throw new ApiError("not_found", "the member has left meanwhile");
      return memberReply(member);
    },
  );

  app.delete(
    "/api/projects/:id/members/:user",
    {
      schema: {
        summary:
          "Take a member out, as a lead or a security officer: keys and key pair of the project are refused at once",
        ...{ tags, params: MemberParams, response: responses(200, Type.Object({}, closed)) },
      },
      config: { access: { action: "membership.end" }, audit: { event: "iam.project.member" } },
    },
    async (request) => {
      const { id, user } = request.params;
      await authorize(request, "membership.end", anyMemberOf(id));
      // Whoever was never there leaves no operation behind.
      if (roleIn(deps.read, id, user) === null)
        throw new ApiError("not_found", "there is no such member");
      await request.audit.operation(
        {
          type: "iam.project.member",
          object: { kind: "project", id },
          detail: { change: "revoke", member: user },
        },
        (operation) => endMembership(deps, { projectId: id, userId: user }, operation),
      );
      return {};
    },
  );

  app.put(
    "/api/projects/:id/exports",
    {
      schema: {
        summary:
          "Let outputs of the project's jobs leave by approval alone, or as its members like",
        ...{ tags, params: Params, body: ExportsBody, response: responses(200, ExportsBody) },
      },
      config: { access: { action: "exports.guard" }, audit: { event: "iam.project.change" } },
    },
    async (request) => {
      const { id } = request.params;
      const { byApproval } = request.body;
      const row = projectName(read, id) === null ? null : { projectId: id };
      await authorize(request, "exports.guard", row);
      // Whoever is to be held back by it must not be able to take it away.
      if (!byApproval) await authorize(request, "exports.open", row);
      await request.audit.operation(
        {
          type: "iam.project.change",
          object: { kind: "project", id },
          detail: { change: "exports", by_approval: byApproval },
        },
        ({ completeIn }) =>
          commit.run((db) => {
            setLeavesByApproval(db, id, byApproval);
            completeIn(db);
          }),
      );
      return { byApproval };
    },
  );

  app.put(
    "/api/projects/:id/models",
    {
      schema: {
        summary: "Let a model with weights that are no numbers fail its job, or not",
        ...{ tags, params: Params, body: ModelsBody, response: responses(200, ModelsBody) },
      },
      config: { access: { action: "models.guard" }, audit: { event: "iam.project.change" } },
    },
    async (request) => {
      const { id } = request.params;
      const { refusesNonFinite } = request.body;
      const row = projectName(read, id) === null ? null : { projectId: id };
      await authorize(request, "models.guard", row);
      await request.audit.operation(
        {
          type: "iam.project.change",
          object: { kind: "project", id },
          detail: { change: "models", refuses_non_finite: refusesNonFinite },
        },
        ({ completeIn }) =>
          commit.run((db) => {
            setRefusesNonFinite(db, id, refusesNonFinite);
            completeIn(db);
          }),
      );
      return { refusesNonFinite };
    },
  );

  app.post(
    "/api/projects/:id/handover",
    {
      schema: {
        summary: "Hand the jobs of somebody who left or was disabled to another member",
        ...{ tags, params: Params, body: HandoverBody, response: responses(200, HandoverReply) },
      },
      config: { access: { action: "membership.change" }, audit: { event: "iam.project.change" } },
    },
    async (request) => {
      const { id } = request.params;
      const { from, to } = request.body;
      await authorize(request, "membership.change", anyMemberOf(id));
      // A wish that can't be granted leaves no operation behind.
      requireHandover(read, id, { from, to });
      return await request.audit.operation(
        {
          type: "iam.project.change",
          object: { kind: "project", id },
          detail: { change: "handover", from, to },
        },
        (operation) =>
          commit.run((db) => {
            requireHandover(db, id, { from, to });
            const jobs = handOver(db, id, { from, to });
            operation.tell({ change: "handover", from, to, jobs });
            operation.completeIn(db);
            return { jobs };
          }),
      );
    },
  );

  /** What is asked about all members alike; null where there is no such project. */
  function anyMemberOf(id: string): { projectId: string; userId: string } | null {
    return projectName(read, id) === null ? null : { projectId: id, userId: "" };
  }
};

function projectReply({ team, createdAt, ...project }: Project): ProjectReply {
  return { ...project, ...(team === null ? {} : { team }), createdAt: instant(createdAt) };
}

function memberReply({ since, ...member }: Member): MemberReply {
  return { ...member, since: instant(since) };
}
