/** What proposed policies would decide otherwise than those in force. Pure. */
import { type Action, ACTIONS } from "./actions.ts";
import type { CedarPrincipal } from "./cedar-principal.ts";
import { decideBy, type Verdict } from "./decide.ts";
import type { PolicySet } from "./policy-set.ts";
import type { Place, ResourceClass } from "./authorization-request.ts";
import { UnlistableReach } from "./reach.ts";
import type { AskedDecision } from "./recent-decisions.ts";
import type { RowFilter, RowOwner } from "../db/row-filter.ts";

/** @property lastAt Unix milliseconds, which is also the time that policies are told */
export type SeenDecision = { asked: AskedDecision; times: number; lastAt: number };
export type ChangedDecision = {
  /** The caller: `platform key with jobs:read`, `researcher, viewer`, `node by certificate`. */
  who: string;
  action: Action;
  /** `list`, `all rows`, `a row that is not there`, `own row in a project as researcher`. */
  row: string;
  times: number;
  lastAt: number;
  /** `all`, `own`, … or the code of the refusal with its policies. */
  before: string;
  after: string;
};

/** Stand for all who are alike. */
const OWN = "own";
const ELSEWHERE: RowOwner = { userId: "another", node: "another", projectId: "elsewhere" };

/** Lists the decisions that change, in the order given; those that stay as they are left out. */
export function changedDecisions(
  inForce: PolicySet,
  proposed: PolicySet,
  seen: Iterable<SeenDecision>,
): ChangedDecision[] {
  const changed: ChangedDecision[] = [];
  for (const { asked, times, lastAt } of seen) {
    // A row of an action that the release before had, and this one not.
    if (!Object.hasOwn(ACTIONS, asked.action)) continue;
    const [before, after] = [inForce, proposed].map((set) => wordsFor(set, asked, lastAt));
    if (before === after) continue;
    changed.push({
      ...{ who: whoIs(asked), action: asked.action, row: rowOf(asked.asked) },
      ...{ times, lastAt, before: before!, after: after! },
    });
  }
  return changed;
}

function wordsFor(set: PolicySet, asked: AskedDecision, now: number): string {
  const places = new Map(asked.places.map((place, at) => [`project ${at}`, place]));
  const principal: CedarPrincipal = {
    ...{ class: asked.caller, context: momentOf(asked, now), places },
    own: ownOf(asked.caller.type),
  };
  try {
    return wordsOf(decideBy(set, principal, asked.action, meantBy(asked.asked, principal)), places);
  } catch (error) {
    if (error instanceof UnlistableReach) return `fails: ${error.message}`;
    throw error;
  }
}

/** A release before kept no `holds`: what it saw of the person stands in the caller. */
function momentOf({ moment, caller }: AskedDecision, now: number): CedarPrincipal["context"] {
  const kept: Partial<AskedDecision["moment"]> = moment;
  const holds = kept.holds ?? (caller.type === "User" ? caller.roles : []);
  return { ...moment, holds, now };
}

function ownOf(type: AskedDecision["caller"]["type"]): CedarPrincipal["own"] {
  if (type === "Node") return { node: OWN };
  return type === "User" || type === "PlatformKey" ? { userId: OWN } : {};
}

function meantBy(
  asked: AskedDecision["asked"],
  { places }: CedarPrincipal,
): "rows" | "every" | RowOwner | null {
  if (asked === "none") return null;
  if (typeof asked === "string") return asked;
  const projectId = [...places].find(([, place]) => String(place) === String(asked.place))?.[0];
  return {
    ...ELSEWHERE,
    ...(asked.isOwn ? { userId: OWN, node: OWN } : {}),
    ...(projectId === undefined ? {} : { projectId }),
  };
}

function wordsOf(verdict: Verdict, places: ReadonlyMap<string, Place>): string {
  if (verdict.effect === "deny")
    return [verdict.code, ...verdict.policies.map((id) => `(${id})`)].join(" ");
  return reachOf(verdict.rows, places);
}

function reachOf(rows: RowFilter, places: ReadonlyMap<string, Place>): string {
  if (rows === "all") return "all";
  const words = rows.map(({ projectId, userId, node, not }) => {
    const whose = userId !== undefined || node !== undefined ? "own" : not ? "others'" : "all";
    const place = projectId === undefined ? undefined : places.get(projectId);
    return place === undefined ? whose : `${whose} ${placeOf(place)}`;
  });
  return [...new Set(words)].join(", ");
}

function whoIs({ caller, moment }: AskedDecision): string {
  switch (caller.type) {
    case "PlatformKey": {
      const scopes = caller.scopes.length === 0 ? "no scope" : caller.scopes.join(", ");
      return `platform key with ${scopes}, of a ${caller.role}${caller.isAdmin ? " and administrator" : ""}`;
    }
    case "User": {
      const roles = caller.roles.length === 0 ? "a person without roles" : caller.roles.join(", ");
      const { level, minutesAgo } = moment.signIn ?? { level: 0, minutesAgo: 1_440 };
      return `${roles}; level ${level}, signed in at most ${minutesAgo} min ago`;
    }
    case "Service":
      return caller.service;
    case "Node":
      return `node by ${moment.proof}`;
    case "Operator":
      return "operator";
  }
}

function rowOf(asked: AskedDecision["asked"]): string {
  switch (asked) {
    case "rows":
      return "list";
    case "every":
      return "all rows";
    case "none":
      return "a row that is not there";
    default:
      return `${asked.isOwn ? "own row" : "another's row"} ${placeOf(asked.place)}`;
  }
}

function placeOf(place: ResourceClass["place"]): string {
  if (place === "of-key") return "in the key's project";
  return place.length === 0 ? "elsewhere" : `in a project as ${place.join(", ")}`;
}
