/**
 * The one door: may this caller do this, and to what? The policies in force answer; a refusal is the answer to what they don't permit.
 * They are asked about kinds of row, as far as a list can tell rows apart; a list is filtered by these answers, and a single row gets the
 * answer of its kind, so that the two can't differ.
 */
import { ERROR_CATALOGUE, type ErrorCode } from "@resontech/contracts/error-catalogue";
import type { PolicyId } from "@resontech/contracts/policies";
import type { RowFilter, RowOwner } from "../db/row-filter.ts";
import { type Action, ACTIONS, type ResourceOf } from "./actions.ts";
import {
  type CedarPrincipal,
  cedarPrincipalOf,
  type Given,
  resourceClassOf,
} from "./cedar-principal.ts";
import type { Caller } from "./caller.ts";
import { isPolicyId } from "./parse-policies.ts";
import { policiesInForce } from "./policies-in-force.ts";
import type { Answer, PolicySet } from "./policy-set.ts";
import type { Place } from "./authorization-request.ts";
import { type Allowance, filterOf } from "./reach.ts";
import { REFUSAL_CODES } from "./refusals.ts";
import { recentDecisions } from "./recent-decisions.ts";
import { OUT_OF_REACH, type OutOfReach, tells } from "./resources.ts";

/**
 * What is asked about. `rows`: which rows are in reach, refused only to who may not ask at all; `every`: all that there are;
 * a row: this one; null: one that is not there, which is answered as one out of reach.
 */
export type Asked<A extends Action> = "rows" | "every" | ResourceOf<A> | null;

/**
 * @property policies by which it was let through, as far as the audit log names them
 * @property policySet digest of the files that decided
 */
export type Allowed = {
  effect: "allow";
  rows: RowFilter;
  policies: readonly PolicyId[];
  policySet: string;
};
/** @property policies by which it was refused; none where the row is simply not there for this caller, which nobody logs */
export type Refused = {
  effect: "deny";
  code: ErrorCode;
  status: number;
  message: string;
  hint: string;
  policies: readonly PolicyId[];
  policySet: string;
};
export type Verdict = Allowed | Refused;

/** @throws PolicySetInvalid, PolicyEvaluationFailed: then nothing was decided, and nothing may happen */
export function decide<A extends Action>(
  caller: Caller,
  action: A,
  asked: Asked<A>,
  given: Given = {},
): Verdict {
  const principal = cedarPrincipalOf(caller, given);
  recentDecisions.note(principal, action, asked);
  return decideBy(policiesInForce(), principal, action, asked);
}

/** What is missing can be shown or asked for. */
const WITHIN_REACH: readonly ErrorCode[] = ["step_up_required", "approval_required"];

/**
 * Actions that the caller may ask for at all, with some row or none, where need be after a second factor or with an approval: what a page offers.
 * Nothing is asked for by this, so no decision is kept.
 */
export function mayAskFor(caller: Caller): Action[] {
  const principal = cedarPrincipalOf(caller, {});
  const policies = policiesInForce();
  return (Object.keys(ACTIONS) as Action[]).filter((action) => {
    const verdict = decideBy(policies, principal, action, "rows");
    return verdict.effect === "allow" || WITHIN_REACH.includes(verdict.code);
  });
}

/**
 * Whether the caller may do it to this row. For what nobody asks for at the moment, as a pair of keys that the engine takes without a question: no decision
 * is kept.
 */
export function wouldAllow<A extends Action>(
  caller: Caller,
  action: A,
  row: ResourceOf<A>,
): boolean {
  return decideBy(policiesInForce(), cedarPrincipalOf(caller, {}), action, row).effect === "allow";
}

/** {@link decide} by policies that need not be in force. Pure. @param asked a row with what the action's kind of row tells */
export function decideBy(
  policies: PolicySet,
  principal: CedarPrincipal,
  action: Action,
  asked: "rows" | "every" | RowOwner | null,
): Verdict {
  const standing = standingOf(policies, principal, action);
  if (standing.effect === "deny" || asked === "rows") return standing;
  const outOfReach = () => refused(policies, OUT_OF_REACH[ACTIONS[action]]);
  if (asked === null) return outOfReach();
  if (asked === "every") return standing.rows === "all" ? standing : outOfReach();
  const { isAllowed, isGranted, by } = policies.answer({
    ...{ action, principal: principal.class, context: principal.context },
    resource: resourceClassOf(principal, action, asked),
  });
  if (isAllowed) return standing;
  return isGranted ? refusedBy(policies, by, action) : outOfReach();
}

/** What the caller may do it to, before a row is known. */
function standingOf(policies: PolicySet, principal: CedarPrincipal, action: Action): Verdict {
  if (!policies.mayAsk(principal.class, action)) return refused(policies, NO_GRANT);
  const kind = ACTIONS[action];

  const answers: Answer[] = [];
  const ask = (isOwn: boolean, place: Place): boolean => {
    const answer = policies.answer({
      ...{ action, principal: principal.class, context: principal.context },
      resource: { isOwn, place },
    });
    answers.push(answer);
    return answer.isAllowed;
  };
  const own = ownOf(principal, action);
  const allowanceAt = (place: Place): Allowance => {
    const others = ask(false, place);
    return { others, own: own === null ? others : ask(true, place) };
  };
  // People are often the same in many projects.
  const known = new Map<string, Allowance>();
  const places = tells(kind, "projectId")
    ? [...principal.places].map(([projectId, place]) => {
        const name = String(place);
        const allowance = known.get(name) ?? allowanceAt(place);
        known.set(name, allowance);
        return { match: { projectId }, ...allowance };
      })
    : [];
  const elsewhere = allowanceAt([]);
  const rows = filterOf(own, places, elsewhere);
  if (rows === "all" || rows.length > 0) return allowed(policies, rows, answers);
  const granted = answers.filter(({ isGranted }) => isGranted);
  if (granted.length === 0) return refused(policies, NO_GRANT);
  // Of the rows that he could have, those that are nearest: what is missing there opens the door.
  return granted
    .map(({ by }) => refusedBy(policies, by, action))
    .reduce((near, next) => (isNearer(next.code, near.code) ? next : near));
}

/** What the caller's own rows of the action have in common; null where he has none. */
function ownOf({ own }: CedarPrincipal, action: Action): CedarPrincipal["own"] | null {
  const kind = ACTIONS[action];
  if (own.userId !== undefined && tells(kind, "userId")) return own;
  return own.node !== undefined && tells(kind, "node") ? own : null;
}

const NO_GRANT: OutOfReach = OUT_OF_REACH.appliance;

function allowed(
  { sha256: policySet }: PolicySet,
  rows: RowFilter,
  answers: readonly Answer[],
): Allowed {
  const by =
    rows === "all"
      ? answers.map((answer) => answer.by).reduce((few, by) => few.filter((id) => by.includes(id)))
      : answers.flatMap((answer) => (answer.isAllowed ? answer.by : []));
  return { effect: "allow", rows, policies: [...new Set(by)].filter(isPolicyId), policySet };
}

function refusedBy(policies: PolicySet, by: readonly string[], action: Action): Refused {
  const { id, code, message } = policies.refusalBy(by, action);
  return refused(policies, { code, message, policies: [id] });
}

/** Whether less is missing where the one is told than where the other is. */
function isNearer(one: ErrorCode, other: ErrorCode): boolean {
  const codes: readonly ErrorCode[] = REFUSAL_CODES;
  return codes.indexOf(one) > codes.indexOf(other);
}

function refused(
  { sha256: policySet }: PolicySet,
  { code, message, policies }: OutOfReach,
): Refused {
  const { status, hint } = ERROR_CATALOGUE[code];
  return { effect: "deny", code, status, message, hint, policies, policySet };
}
