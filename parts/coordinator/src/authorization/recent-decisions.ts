import type { RowOwner } from "../db/row-filter.ts";
import type { Action } from "./actions.ts";
import { type CedarPrincipal, resourceClassOf } from "./cedar-principal.ts";
import type {
  PrincipalClass,
  RequestContext,
  Place,
  ResourceClass,
} from "./authorization-request.ts";

/** What was asked to be decided, as far as policies can tell it from others: nobody can be found by it. */
export type AskedDecision = {
  action: Action;
  caller: PrincipalClass;
  /** What the caller is in his projects: each combination once, sorted. */
  places: readonly Place[];
  asked: "rows" | "every" | "none" | ResourceClass;
  moment: Omit<RequestContext, "now">;
};

/** Ages of a sign-in that are told apart here, in minutes: rules look at the first, sessions end with the third. */
const AGES = [5, 60, 480];
/** Far more than an appliance has; what comes when it is full is not noted. */
const MAX_KEPT = 100_000;

/** What this process was asked to decide, and how often, since it was last taken. */
export class RecentDecisions {
  #times = new Map<string, number>();

  note(principal: CedarPrincipal, action: Action, asked: "rows" | "every" | RowOwner | null): void {
    const key = JSON.stringify(askedDecisionOf(principal, action, asked));
    const times = this.#times.get(key);
    if (times !== undefined || this.#times.size < MAX_KEPT) this.#times.set(key, (times ?? 0) + 1);
  }

  /** AuthorizationRequest, an {@link AskedDecision} as JSON, → how often; from now on it is counted anew. */
  take(): ReadonlyMap<string, number> {
    const taken = this.#times;
    this.#times = new Map();
    return taken;
  }
}

/** Of this process. */
export const recentDecisions = new RecentDecisions();

function askedDecisionOf(
  principal: CedarPrincipal,
  action: Action,
  asked: "rows" | "every" | RowOwner | null,
): AskedDecision {
  const { now: _now, ...moment } = principal.context;
  const places = new Map([...principal.places.values()].map((place) => [String(place), place]));
  return {
    ...{ action, caller: principal.class },
    places: [...places].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, place]) => place),
    asked:
      asked === null
        ? "none"
        : typeof asked === "string"
          ? asked
          : resourceClassOf(principal, action, asked),
    moment: { ...moment, signIn: roughly(moment.signIn) },
  };
}

function roughly(signIn: RequestContext["signIn"]): RequestContext["signIn"] {
  if (signIn === null) return null;
  const { level, minutesAgo } = signIn;
  return { level, minutesAgo: AGES.find((age) => minutesAgo <= age) ?? 1_440 };
}
