/**
 * The one door: may this caller do this, and to what? Pure. Every right is a reach, the set of rows on which the caller may do the
 * action; a list is filtered by it and a single row is looked up in it, so that the two can't differ.
 */
import { ERROR_CATALOGUE, type ErrorCode } from "@resontech/contracts/error-catalogue";
import type { PolicyId } from "@resontech/contracts/policies";
import { isInFilter, type RowFilter, type RowMatch } from "../db/row-filter.ts";
import type { Caller, KeyCaller, RoleGrant, SessionCaller } from "./caller.ts";
import {
  type Action,
  OUT_OF_REACH,
  type OutOfReach,
  POLICY,
  type PolicyRow,
  type Reach,
  type ResourceKind,
  type ResourceOf,
  RESOURCES,
} from "./policy.ts";

/**
 * What is asked about. `rows`: which rows are in reach, refused only to who may not ask at all; `every`: all that there are;
 * a row: this one; null: one that is not there, which is answered as one out of reach.
 */
export type Asked<A extends Action> = "rows" | "every" | ResourceOf<A> | null;

/** @property policies by which it was let through, where the audit event names them */
export type Allowed = { effect: "allow"; rows: RowFilter; policies: readonly PolicyId[] };
/** @property policies by which it was refused; none where the row is simply not there for this caller, which nobody logs */
export type Refused = {
  effect: "deny";
  code: ErrorCode;
  status: number;
  message: string;
  hint: string;
  policies: readonly PolicyId[];
};
export type Verdict = Allowed | Refused;

export function decide<A extends Action>(caller: Caller, action: A, asked: Asked<A>): Verdict {
  const policy: PolicyRow = POLICY[action];
  const standing = standingOf(caller, policy);
  if (standing.effect === "deny" || asked === "rows") return standing;
  const { rows } = standing;
  const isReached = asked === "every" ? rows === "all" : asked !== null && isInFilter(rows, asked);
  return isReached ? standing : refused(policy.outOfReach ?? OUT_OF_REACH[policy.on]);
}

/** What the caller may do it to, before a row is known. */
function standingOf(caller: Caller, policy: PolicyRow): Verdict {
  switch (caller.kind) {
    case "key":
      return standingOfKey(caller, policy);
    case "session":
      return allowed(policy, rowsOfSession(caller, policy));
    case "service":
      return allowed(policy, rowsOf(policy.service?.[caller.service], {}));
    case "node":
      return allowed(
        policy,
        rowsOf(policy.node?.by === caller.by ? policy.node.reach : undefined, {
          node: caller.node,
        }),
      );
    case "operator":
      return allowed(policy, rowsOf(policy.operator, {}));
  }
}

function standingOfKey(caller: KeyCaller, policy: PolicyRow): Verdict {
  const cells = policy.key ?? [];
  const [first] = cells;
  if (first === undefined) return refused(NO_GRANT);
  const scoped = cells.filter(({ scope }) => caller.scopes.includes(scope));
  if (scoped.length === 0)
    return refused({
      code: "scope_missing",
      message: `this key lacks the scope ${first.scope}`,
      policies: ["key-scope"],
    });
  const cell = scoped.find(({ admin }) => admin === undefined || caller.isAdmin);
  if (cell === undefined)
    return refused({
      code: "role_required",
      message: "only an administrator may do this",
      policies: ["admin-role"],
    });
  return allowed(
    policy,
    rowsOf(cell.reach, { userId: caller.userId, projectId: caller.projectId }),
  );
}

/** What all the person's roles reach together; null where none has a cell. */
function rowsOfSession(
  { userId, grants }: SessionCaller,
  { on, session }: PolicyRow,
): RowFilter | null {
  const cells: Partial<Record<string, Reach>> = session ?? {};
  const reached = grants.flatMap((grant) => {
    const reach = cells[grant.role];
    return reach === undefined ? [] : [rowsOfGrant(grant, reach, userId, on)];
  });
  if (reached.length === 0) return null;
  return reached.includes("all") ? "all" : reached.flatMap((rows) => (rows === "all" ? [] : rows));
}

/** A role in a project never reaches beyond the project, whatever its cell says. */
function rowsOfGrant(
  { projectId }: RoleGrant,
  reach: Reach,
  userId: string,
  on: ResourceKind,
): RowFilter {
  const attributes: readonly string[] = RESOURCES[on];
  const inProject: RowMatch =
    projectId !== null && attributes.includes("projectId") ? { projectId } : {};
  switch (reach) {
    case "all":
      if (projectId === null || on === "appliance") return "all";
      return inProject.projectId === undefined ? [] : [inProject];
    case "project":
      return inProject.projectId === undefined ? [] : [inProject];
    case "own":
      return [{ ...inProject, userId }];
    case "nobody":
      return [];
  }
}

/** @param own attributes of the caller; a reach by one that he lacks is empty */
function rowsOf(reach: Reach | undefined, { userId, projectId, node }: RowMatch): RowFilter | null {
  switch (reach) {
    case undefined:
      return null;
    case "all":
      return "all";
    case "project":
      return projectId === undefined ? [] : [{ projectId }];
    case "own":
      return node !== undefined ? [{ node }] : userId === undefined ? [] : [{ userId }];
    case "nobody":
      return [];
  }
}

const NO_GRANT: OutOfReach = OUT_OF_REACH.appliance;

function allowed({ allowedBy }: PolicyRow, rows: RowFilter | null): Verdict {
  if (rows === null) return refused(NO_GRANT);
  return {
    effect: "allow",
    rows,
    policies: allowedBy === undefined ? [] : [rows === "all" ? allowedBy.all : allowedBy.part],
  };
}

function refused({ code, message, policies }: OutOfReach): Refused {
  const { status, hint } = ERROR_CATALOGUE[code];
  return { effect: "deny", code, status, message, hint, policies };
}
