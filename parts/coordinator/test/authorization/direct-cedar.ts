/**
 * The same policies asked about the very caller and row, with every id and every membership: what `authorization/` answers by classes
 * must be the same. Made from the schema alone; it shares no line with `authorization-request.ts`.
 */
import {
  type CedarValueJson,
  type EntityJson,
  statefulIsAuthorized,
} from "@cedar-policy/cedar-wasm/nodejs";
import { type Action, ACTIONS } from "../../src/authorization/actions.ts";
import type { Given } from "../../src/authorization/cedar-principal.ts";
import type { Caller } from "../../src/authorization/caller.ts";
import { policiesInForce } from "../../src/authorization/policies-in-force.ts";
import type { AnyRow } from "./cells.ts";

const uid = (type: string, id: string) => ({ type, id });
const ref = (type: string, id: string) => ({ __entity: { type, id } });
const PROJECTS = ["p1", "p2", "p3", "p4"];

export function isPermitted(
  caller: Caller,
  action: Action,
  row: AnyRow,
  { now = 0, approval, singlePerson = false }: Given,
): boolean {
  const projects = PROJECTS.map((id) => ({
    uid: uid("Project", id),
    attrs: {
      leads: ref("ProjectRole", `${id}/project-lead`),
      researchers: ref("ProjectRole", `${id}/researcher`),
      viewers: ref("ProjectRole", `${id}/viewer`),
      services: ref("ProjectRole", `${id}/service-account`),
    },
    parents: [],
  }));
  const [owner, project] = [ref("User", row.userId), ref("Project", row.projectId)];
  const resources = {
    appliance: { uid: uid("Appliance", "appliance"), attrs: {} },
    job: { uid: uid("Job", "j"), attrs: { owner, project } },
    project: { uid: uid("ProjectRecord", "r"), attrs: { project } },
    bucket: { uid: uid("Bucket", "b"), attrs: { project } },
    key: { uid: uid("KeyRecord", "k"), attrs: { owner } },
    user: { uid: uid("User", row.userId), attrs: {} },
    log: { uid: uid("LogEntry", "l"), attrs: { owner } },
    node: { uid: uid("Node", row.node), attrs: {} },
    member: { uid: uid("Member", "m"), attrs: { node: ref("Node", row.node) } },
    membership: { uid: uid("Membership", "m"), attrs: { person: owner, project } },
    session: { uid: uid("Session", "s"), attrs: { owner } },
    approval: { uid: uid("Approval", "a"), attrs: { requester: owner, project } },
  };
  const resource = { parents: [], ...resources[ACTIONS[action]] };
  const { principal, context } = principalOf(caller, now);
  const { sha256 } = policiesInForce();
  const entities = new Map(
    [...projects, resource, principal].map((one) => [JSON.stringify(one.uid), one]),
  );
  const answer = statefulIsAuthorized({
    ...{ principal: principal.uid, action: uid("Action", action), resource: resource.uid },
    context: {
      now: { __extn: { fn: "datetime", arg: new Date(now).toISOString() } },
      ...{ zone: "users", singlePerson, ...context },
      holds: "holds" in caller ? [...caller.holds] : [],
      ...(approval === undefined
        ? {}
        : { approval: { approver: ref("User", approval.approverId) } }),
    },
    // The groups of actions come from the schema.
    ...{ preparsedPolicySetId: sha256, preparsedSchemaName: sha256 },
    // Who may not ask at all is permitted nothing either.
    validateRequest: false,
    entities: [...entities.values()],
  });
  if (answer.type === "failure") throw new Error(JSON.stringify(answer.errors));
  const { decision, diagnostics } = answer.response;
  if (diagnostics.errors.length > 0) throw new Error(JSON.stringify(diagnostics.errors));
  return decision === "allow";
}

type Principal = { principal: EntityJson; context: Record<string, CedarValueJson> };

function principalOf(caller: Caller, now: number): Principal {
  switch (caller.kind) {
    case "key":
      return {
        context: {},
        principal: {
          uid: uid("PlatformKey", caller.keyId),
          attrs: {
            ...{ user: ref("User", caller.userId), project: ref("Project", caller.projectId) },
            ...{ scopes: [...caller.scopes], admin: caller.holds.includes("platform-admin") },
          },
          parents: [uid("ProjectRole", `${caller.projectId}/${caller.role}`)],
        },
      };
    case "service-account":
      return {
        context: {},
        principal: {
          uid: uid("PlatformKey", caller.userId),
          attrs: {
            ...{ user: ref("User", caller.userId), project: ref("Project", caller.projectId) },
            ...{ scopes: [...caller.scopes], admin: false },
          },
          parents: [uid("ProjectRole", `${caller.projectId}/service-account`)],
        },
      };
    case "session": {
      const level = /^\d+$/.test(caller.signIn.acr) ? Number(caller.signIn.acr) : 0;
      const minutesAgo = Math.ceil((now - caller.signIn.at) / 60_000);
      const parents = caller.grants.flatMap(({ role, projectId }) => [
        uid("Role", role),
        ...(projectId === null ? [] : [uid("ProjectRole", `${projectId}/${role}`)]),
      ]);
      return {
        context: { signIn: { level, minutesAgo } },
        principal: { uid: uid("User", caller.userId), attrs: {}, parents },
      };
    }
    case "service":
      return {
        context: {},
        principal: { uid: uid("Service", caller.service), attrs: {}, parents: [] },
      };
    case "node":
      return {
        context: { proof: caller.by },
        principal: { uid: uid("Node", caller.node), attrs: {}, parents: [] },
      };
    case "operator":
      return { context: {}, principal: { uid: uid("Operator", "root"), attrs: {}, parents: [] } };
  }
}
