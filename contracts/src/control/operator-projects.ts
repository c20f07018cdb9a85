/** Projects of everybody, and which groups of a connected directory give which roles. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { IdParam, Instant } from "../http/http-common.ts";
import { Nullable } from "../nullable.ts";
import { CreateProjectBody, ProjectReply } from "../http/http-projects.ts";
import { AskedName, Nothing, operatorRoute } from "./operator-route.ts";

/** A connection's name, a stroke, and the group's name there. */
const GroupName = Type.String({ pattern: "^[a-z][a-z0-9-]{0,30}/[^\\p{Cc}]{1,224}$" });
/** Roles in a project, which a group gives, and those of the whole appliance, for which it asks. */
export const MAPPED_ROLES = [
  ...["project-lead", "researcher", "viewer"],
  ...["platform-admin", "security-officer", "compliance-auditor", "data-steward"],
] as const;

/** @property team null for a user's own first project */
export const ProjectFacts = Type.Object(
  {
    project: Type.String(),
    name: Type.String(),
    team: Nullable(Type.String()),
    bucket: Type.String(),
    quotaBytes: Type.Integer({ minimum: 0 }),
    members: Type.Integer({ minimum: 0 }),
    leads: Type.Array(Type.String()),
    createdAt: Instant,
  },
  closed,
);
export type ProjectFacts = Static<typeof ProjectFacts>;

/** @property project null of a role of the whole appliance, which is asked for */
export const GroupFacts = Type.Object(
  { group: Type.String(), project: Nullable(Type.String()), role: Type.String() },
  closed,
);
export type GroupFacts = Static<typeof GroupFacts>;

export const PROJECT_ROUTES = {
  "project-list": operatorRoute({
    ...{ method: "GET", path: "/api/operator/projects" },
    answer: Type.Object({ projects: Type.Array(ProjectFacts) }, closed),
  }),
  /** A project of a team, which is made where it is not there; the lead says who else is a member. */
  "project-add": operatorRoute({
    ...{ method: "POST", path: "/api/projects", body: CreateProjectBody },
    answer: ProjectReply,
  }),
  /** Takes somebody out of a project: keys and key pair of it are refused at once. */
  "member-remove": operatorRoute({
    ...{ method: "DELETE", path: "/api/operator/projects/:project/members/:username" },
    params: Type.Object({ project: IdParam, username: AskedName }, closed),
    answer: Nothing,
  }),
  "group-list": operatorRoute({
    ...{ method: "GET", path: "/api/operator/groups" },
    answer: Type.Object({ groups: Type.Array(GroupFacts) }, closed),
  }),
  /** A role of the whole appliance, without a project, is asked for and not given. */
  "group-map": operatorRoute({
    ...{ method: "POST", path: "/api/operator/groups" },
    body: Type.Object(
      { group: GroupName, project: Nullable(IdParam), role: Type.Enum([...MAPPED_ROLES]) },
      closed,
    ),
    answer: Type.Object({ group: Type.String(), role: Type.String() }, closed),
  }),
  /** Everything that the group gives, or what it gives in one project. */
  "group-unmap": operatorRoute({
    ...{ method: "DELETE", path: "/api/operator/groups" },
    query: Type.Object({ group: GroupName, project: Type.Optional(IdParam) }, closed),
    answer: Type.Object({ group: Type.String(), taken: Type.Integer({ minimum: 0 }) }, closed),
  }),
} as const;
