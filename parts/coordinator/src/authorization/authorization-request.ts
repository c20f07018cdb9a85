/**
 * What a decision is asked for, in Cedar's words: the class of the principal, what the principal is to the resource, the context. The request holds nobody's id,
 * so one answer is good for all who are alike. A policy that names somebody is refused when it is loaded.
 */
import type {
  CedarValueJson,
  EntityJson,
  StatefulAuthorizationCall,
  TypeAndId,
} from "@cedar-policy/cedar-wasm/nodejs";
import type { KeyScope } from "@resontech/contracts/http-identity";
import { type Action, ACTIONS } from "./actions.ts";
import { RESOURCES, tells } from "./resources.ts";
import {
  type ApplianceRole,
  type NodeProof,
  PROJECT_ROLES,
  type ProjectRole,
  type Role,
  type Service,
} from "./roles.ts";

/** Sorted, each once. `roles` are all that the person holds anywhere. */
export type PrincipalClass =
  | { type: "PlatformKey"; role: ProjectRole; scopes: readonly KeyScope[]; isAdmin: boolean }
  | { type: "User"; roles: readonly (ApplianceRole | ProjectRole)[] }
  | { type: "Service"; service: Service }
  | { type: "Node" }
  | { type: "Operator" };

/** What the caller is in the row's project: the project of the key, or the roles that the person holds there; `[]` is any other project. */
export type Place = "of-key" | readonly ProjectRole[];
export type ResourceClass = { isOwn: boolean; place: Place };

/** The door that the caller came by. */
export type Zone = "users" | "nodes" | "host";
export type RequestContext = {
  /** Unix milliseconds. */
  now: number;
  zone: Zone;
  singlePerson: boolean;
  signIn: { level: number; minutesAgo: number } | null;
  /** Who agreed to this action: the caller himself, or somebody else. */
  approval: "own" | "others" | null;
  proof: NodeProof | null;
  /** All roles of the person behind the credential, sorted, whether or not the credential shows them; none of who is no person. */
  holds: readonly Role[];
};

export type AuthorizationRequest = {
  action: Action;
  principal: PrincipalClass;
  resource: ResourceClass;
  context: RequestContext;
};

type Entity = EntityJson & { uid: TypeAndId };
type CedarCall = Pick<
  StatefulAuthorizationCall,
  "principal" | "action" | "resource" | "context" | "entities"
>;

const CALLER = { type: "User", id: "caller" };
const ANOTHER = { type: "User", id: "another" };
/** The members of a `Project` in the schema, by the role that they gather. */
const GROUPS: Record<ProjectRole, string> = {
  "project-lead": "leads",
  researcher: "researchers",
  viewer: "viewers",
  "service-account": "services",
};
const ROW_PROJECT = { type: "Project", id: "of the row" };
const KEY_PROJECT = { type: "Project", id: "of the key" };

/**
 * The request as the engine reads it, about one principal and one resource that stand for all like them.
 * @param known members of the context that the set's schema has: a set of the release before lacks what came later
 */
export function cedarCallOf(
  { action, principal: asking, resource: { isOwn, place }, context }: AuthorizationRequest,
  known: ReadonlySet<string>,
): CedarCall {
  const project = place === "of-key" ? KEY_PROJECT : ROW_PROJECT;
  const principal = principalEntityOf(asking, place);
  const resource = resourceOf(action, isOwn, project);
  const projects = [
    ...(tells(ACTIONS[action], "projectId") ? [project] : []),
    ...(asking.type === "PlatformKey" ? [KEY_PROJECT] : []),
  ];
  // Each once: a node can be the row that it asks about.
  const entities = new Map(
    [...projects.map(projectOf), resource, principal].map((one) => [nameOf(one), one]),
  );
  return {
    principal: principal.uid,
    action: { type: "Action", id: action },
    resource: resource.uid,
    context: Object.fromEntries(
      Object.entries(contextOf(context)).filter(([name]) => known.has(name)),
    ),
    entities: [...entities.values()],
  };
}

function principalEntityOf(caller: PrincipalClass, place: Place): Entity {
  switch (caller.type) {
    case "PlatformKey":
      return {
        uid: { type: "PlatformKey", id: "caller" },
        attrs: {
          user: reference(CALLER),
          project: reference(KEY_PROJECT),
          scopes: [...caller.scopes],
          admin: caller.isAdmin,
        },
        parents: [groupOf(KEY_PROJECT, caller.role)],
      };
    case "User":
      return {
        uid: CALLER,
        attrs: {},
        parents: [
          ...caller.roles.map((id) => ({ type: "Role", id })),
          ...(place === "of-key" ? [] : place.map((role) => groupOf(ROW_PROJECT, role))),
        ],
      };
    case "Service":
      return { uid: { type: "Service", id: caller.service }, attrs: {}, parents: [] };
    case "Node":
      return { uid: { type: "Node", id: "caller" }, attrs: {}, parents: [] };
    case "Operator":
      return { uid: { type: "Operator", id: "root" }, attrs: {}, parents: [] };
  }
}

function resourceOf(action: Action, isOwn: boolean, project: TypeAndId): Entity {
  const { type, attributes } = RESOURCES[ACTIONS[action]];
  const named: Partial<Record<string, string>> = attributes;
  const whose: Record<string, TypeAndId> = {
    userId: isOwn ? CALLER : ANOTHER,
    projectId: project,
    node: { type: "Node", id: isOwn ? "caller" : "another" },
  };
  const self = Object.keys(named).find((name) => named[name] === "self");
  const members = Object.entries(named).flatMap(([name, member]) =>
    member === undefined || name === self ? [] : [[member, reference(whose[name]!)] as const],
  );
  const uid =
    self === undefined ? { type, id: type === "Appliance" ? "appliance" : "row" } : whose[self]!;
  return {
    uid,
    attrs: Object.fromEntries(members),
    parents: [],
  };
}

function projectOf(uid: TypeAndId): Entity {
  const groups = PROJECT_ROLES.map(
    (role) => [GROUPS[role], reference(groupOf(uid, role))] as const,
  );
  return { uid, attrs: Object.fromEntries(groups), parents: [] };
}

function groupOf(project: TypeAndId, role: ProjectRole): TypeAndId {
  return { type: "ProjectRole", id: `${role} ${project.id}` };
}

function contextOf({
  now,
  zone,
  singlePerson,
  signIn,
  approval,
  proof,
  holds,
}: RequestContext): Record<string, CedarValueJson> {
  return {
    now: { __extn: { fn: "datetime", arg: new Date(now).toISOString() } },
    ...{ zone, singlePerson, holds: [...holds] },
    ...(signIn === null ? {} : { signIn }),
    ...(approval === null
      ? {}
      : { approval: { approver: reference(approval === "own" ? CALLER : ANOTHER) } }),
    ...(proof === null ? {} : { proof }),
  };
}

function reference(uid: TypeAndId): { __entity: TypeAndId } {
  return { __entity: uid };
}

function nameOf({ uid }: Entity): string {
  return `${uid.type} ${uid.id}`;
}
