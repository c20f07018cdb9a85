/** A caller as policies see him, the principal: his class, what is his, and where he holds what. */
import type { RowOwner } from "../db/row-filter.ts";
import { type Action, ACTIONS } from "./actions.ts";
import { type Caller, isUserCaller, type SessionCaller } from "./caller.ts";
import type {
  PrincipalClass,
  RequestContext,
  Place,
  ResourceClass,
  Zone,
} from "./authorization-request.ts";
import { tells } from "./resources.ts";
import type { ProjectRole } from "./roles.ts";

/** What is known of a request beyond its caller. */
export type Given = {
  /** Unix milliseconds. @default the time */
  now?: number;
  /** @default by the kind of caller: each comes by a door of its own */
  zone?: Zone;
  /** Nobody else could approve. @default false */
  singlePerson?: boolean;
  /** Who agreed to this very action on this very row; whoever keeps approvals has checked that. */
  approval?: { approverId: string };
};

export type CedarPrincipal = {
  class: PrincipalClass;
  context: RequestContext;
  /** What tells a row of the caller's own; empty for who owns none. */
  own: Pick<RowOwner, "userId" | "node">;
  /** Projects in which he is somebody, by id. */
  places: ReadonlyMap<string, Place>;
};

/** A day; older sign-ins are alike. */
const MAX_MINUTES = 1_440;
const NO_PLACES: ReadonlyMap<string, Place> = new Map();

export function cedarPrincipalOf(caller: Caller, given: Given): CedarPrincipal {
  const base = {
    ...{ now: given.now ?? Date.now(), singlePerson: given.singlePerson ?? false },
    ...{ signIn: null, approval: null, proof: null },
    holds: isUserCaller(caller) ? sorted(caller.holds) : [],
  };
  const zoned = (zone: Zone): RequestContext => ({ ...base, zone: given.zone ?? zone });
  switch (caller.kind) {
    case "key":
      return {
        class: {
          type: "PlatformKey",
          role: caller.role,
          scopes: caller.scopes.toSorted(),
          isAdmin: caller.holds.includes("platform-admin"),
        },
        context: zoned("users"),
        own: { userId: caller.userId },
        places: new Map([[caller.projectId, "of-key"]]),
      };
    case "session":
      return {
        class: { type: "User", roles: sorted(caller.grants.map(({ role }) => role)) },
        context: { ...zoned("users"), ...ofSignIn(caller, base.now, given) },
        own: { userId: caller.userId },
        places: placesOf(caller),
      };
    case "service-account":
      return {
        class: {
          ...{ type: "PlatformKey", role: "service-account", isAdmin: false },
          scopes: caller.scopes.toSorted(),
        },
        ...{ context: zoned("users"), own: { userId: caller.userId } },
        places: new Map([[caller.projectId, "of-key"]]),
      };
    case "service":
      return {
        class: { type: "Service", service: caller.service },
        ...{ context: zoned("host"), own: {}, places: NO_PLACES },
      };
    case "node":
      return {
        class: { type: "Node" },
        context: { ...zoned("nodes"), proof: caller.by },
        ...{ own: { node: caller.node }, places: NO_PLACES },
      };
    case "operator":
      return {
        class: { type: "Operator" },
        ...{ context: zoned("host"), own: {}, places: NO_PLACES },
      };
  }
}

/** What the caller is to a row, by what rows of its kind tell. An attribute that the row lacks equals nothing. */
export function resourceClassOf(
  { own, places }: CedarPrincipal,
  action: Action,
  row: RowOwner,
): ResourceClass {
  const kind = ACTIONS[action];
  const isOwn = (["userId", "node"] as const).some(
    (name) => tells(kind, name) && own[name] !== undefined && own[name] === row[name],
  );
  const isPlaced = tells(kind, "projectId") && row.projectId !== undefined;
  return { isOwn, place: (isPlaced ? places.get(row.projectId!) : undefined) ?? [] };
}

function ofSignIn(
  { userId, signIn }: SessionCaller,
  now: number,
  { approval }: Given,
): Pick<RequestContext, "signIn" | "approval"> {
  const minutes = Math.ceil((now - signIn.at) / 60_000);
  return {
    signIn: {
      level: /^\d{1,3}$/.test(signIn.acr) ? Number(signIn.acr) : 0,
      // One from the future shows nothing: the oldest there is.
      minutesAgo: signIn.at > now || minutes > MAX_MINUTES ? MAX_MINUTES : minutes,
    },
    approval: approval === undefined ? null : approval.approverId === userId ? "own" : "others",
  };
}

function placesOf({ grants }: SessionCaller): Map<string, Place> {
  const roles = new Map<string, ProjectRole[]>();
  for (const grant of grants) {
    if (grant.projectId === null) continue;
    const held = roles.get(grant.projectId);
    if (held === undefined) roles.set(grant.projectId, [grant.role]);
    else if (!held.includes(grant.role)) held.push(grant.role);
  }
  for (const held of roles.values()) held.sort();
  return roles;
}

function sorted<T extends string>(values: readonly T[]): T[] {
  return [...new Set(values)].sort();
}
