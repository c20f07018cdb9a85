/** How far a caller reaches, in the words of the tables of authorization/README.md and policies/README.md: found by asking, never read off a policy. */
import { KEY_SCOPES } from "@resontech/contracts/http-identity";
import type { Action } from "../../src/authorization/actions.ts";
import type { Given } from "../../src/authorization/cedar-principal.ts";
import type { Caller, SessionCaller } from "../../src/authorization/caller.ts";
import { type Asked, decide, type Verdict } from "../../src/authorization/decide.ts";
import { APPLIANCE_ROLES, PROJECT_ROLES, type ProjectRole } from "../../src/authorization/roles.ts";
import { keyOf, OTHERS, PEOPLE } from "./callers.ts";

/** Rows by whose they are. Each has every attribute: an action looks at those of its kind. */
export const ROWS = {
  mine: { userId: "u1", projectId: "p1", node: "n1" },
  projects: { userId: "u2", projectId: "p1", node: "n2" },
  strangers: { userId: "u3", projectId: "p2", node: "n3" },
};
export type AnyRow = (typeof ROWS)["mine"];

/** The kinds of row differ by action; all of them fit into one that has every attribute. */
export const ask = (
  caller: Caller,
  action: Action,
  asked: Asked<"job.read"> | AnyRow,
  given: Given = {},
): Verdict => decide(caller, action as "job.read", asked, given);

/** Minutes since the sign-in with a second factor. */
export const signedIn = (session: SessionCaller, minutes: number, acr = "2"): SessionCaller => ({
  ...session,
  signIn: { acr, at: Date.now() - minutes * 60_000 },
});
const APPROVED: Given = { approval: { approverId: "u9" } };
const MISSING = "-";

const WORDS: Record<string, string> = {
  "": "nobody",
  mine: "own",
  "mine projects": "project",
  "projects strangers": "others",
  "mine projects strangers every": "all",
};

/**
 * The caller's reach when he has all that he can have: `↑` needs a fresh sign-in, `②` an approval. A refusal that has a code of its own
 * is told by it; null where he may not ask at all.
 */
export function reachOf(caller: Caller, action: Action): string | null {
  const best = caller.kind === "session" ? signedIn(caller, 1) : caller;
  const first = ask(best, action, "rows", APPROVED);
  if (first.effect === "deny")
    return ["role_required", "scope_missing"].includes(first.code) ? null : first.code;
  const allowed = Object.entries(ROWS).flatMap(([name, row]) =>
    ask(best, action, row, APPROVED).effect === "allow" ? [name] : [],
  );
  if (ask(best, action, "every", APPROVED).effect === "allow") allowed.push("every");
  const words = WORDS[allowed.join(" ")] ?? allowed.join(" ");
  return `${words}${needsOf(best, action)}`;
}

function needsOf(best: Caller, action: Action): string {
  const codeOf = (caller: Caller, given: Given): string => {
    const verdict = ask(caller, action, "rows", given);
    return verdict.effect === "allow" ? "ok" : verdict.code;
  };
  const stale = best.kind === "session" ? signedIn(best, 6) : best;
  const needs = [
    codeOf(best, {}) === "approval_required" ? "②" : "",
    codeOf(stale, APPROVED) === "step_up_required" ? "↑" : "",
  ].join("");
  return needs === "" ? "" : ` ${needs}`;
}

/**
 * `jobs:read: project` of a lead's key, with what keys of other roles reach where that differs: `(researcher, service-account: own; viewer: -)`.
 * A key whose person has a duty on the whole appliance has a cell of its own where it reaches more; what a duty takes away stands in docs/auditor/duties.md.
 */
function cellOfKeys(action: Action): string {
  const cells = KEY_SCOPES.flatMap((scope) => {
    const reachAs = (role: ProjectRole) => reachOf(keyOf([scope], null, role), action);
    const [lead, ...others] = PROJECT_ROLES;
    const plain = reachAs(lead);
    const differing = Map.groupBy(
      others.filter((role) => reachAs(role) !== plain),
      reachAs,
    );
    const notes = [...differing].map(
      ([reach, roles]) => `${roles.join(", ")}: ${reach ?? MISSING}`,
    );
    const note = notes.length === 0 ? "" : ` (${notes.join("; ")})`;
    const ofDuty = APPLIANCE_ROLES.flatMap((duty) => {
      const reach = reachOf(keyOf([scope], duty), action);
      const isMore = reach !== plain && reach !== null && reach !== "role_conflict";
      return isMore ? [`${scope} of a ${duty}: ${reach}`] : [];
    });
    return [
      ...(plain === null && note === "" ? [] : [`${scope}: ${plain ?? MISSING}${note}`]),
      ...ofDuty,
    ];
  });
  return cells.join(" · ") || MISSING;
}

function cellOf(callers: readonly (readonly [string, Caller])[], action: Action): string {
  const cells = callers.flatMap(([name, caller]) => {
    const reach = reachOf(caller, action);
    return reach === null ? [] : [`${name}: ${reach}`];
  });
  return cells.join(" · ") || MISSING;
}

/** The three columns of a table of actions: keys, people, all others. */
export function cellsOf(action: Action): string {
  return [cellOfKeys(action), cellOf(PEOPLE, action), cellOf(OTHERS, action)].join(" | ");
}

/** The cell of a table of roles: ✔ everywhere, ◐ in the project, `own`. */
export function symbolOf(role: string, action: Action): string {
  const caller = PEOPLE.find(([name]) => name === role)?.[1];
  if (caller === undefined) throw new TypeError(`there is no role ${role}`);
  const [reach = "–", needs] = (reachOf(caller, action) ?? "–").split(" ");
  const symbol =
    ({ all: "✔", others: "✔", project: "◐" } as Record<string, string>)[reach] ?? reach;
  return needs === undefined ? symbol : `${symbol} ${needs}`;
}
