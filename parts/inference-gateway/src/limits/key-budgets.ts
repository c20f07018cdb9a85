/** The budgets of all keys at all deployments, with their clock. They live in this process alone: a gateway that starts anew begins with full ones. */
import type { KeyLimits, Route } from "@resontech/contracts/inference-routes";
import type { ShownKey } from "../may-call.ts";
import type { Refusal } from "../refuse.ts";
import { KeyBudget, type OverLimit } from "./key-budget.ts";

const SWEEP_MS = 60_000;
const UNLIMITED: KeyLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null };
const OVER: Record<OverLimit["over"], string> = {
  requests: "requests a minute",
  tokens: "tokens a minute",
  concurrency: "calls at once",
};

/** A call within its key's limits. */
export type Admitted = {
  /** What is left to the key. */
  headers: Record<string, string>;
  /** Once, when the call is over. @param tokens that it used */
  settle(tokens: number): void;
};

export class KeyBudgets implements Disposable {
  readonly #budgets = new Map<string, KeyBudget>();
  readonly #now: () => number;
  readonly #sweep: NodeJS.Timeout;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#sweep = setInterval(() => this.#dropFresh(), SWEEP_MS).unref();
  }

  /** @param tokens as many as the call can cost */
  enter(
    route: Route,
    shown: ShownKey,
    tokens: number,
  ): Admitted | { refusal: Refusal; headers: Record<string, string> } {
    const now = this.#now();
    const limits = limitsOf(route, shown);
    const id = `${route.deployment} ${shown.sha256}`;
    const budget = this.#budgets.get(id) ?? new KeyBudget(limits, now);
    this.#budgets.set(id, budget);
    budget.follow(limits, now);
    if (tokens > budget.mostTokens)
      return { refusal: tooLarge(tokens, budget.mostTokens), headers: budget.headers(now) };
    const over = budget.take(tokens, now);
    if (over !== null) return { refusal: refusalOf(over), headers: budget.headers(now) };
    return {
      headers: budget.headers(now),
      settle: (used) => budget.settle(tokens, used, this.#now()),
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#sweep);
  }

  #dropFresh(): void {
    const now = this.#now();
    for (const [id, budget] of this.#budgets) if (budget.isFresh(now)) this.#budgets.delete(id);
  }
}

function limitsOf({ limits, keySha256 }: Route, { sha256 }: ShownKey): KeyLimits {
  if (limits === undefined) return UNLIMITED;
  return sha256 === keySha256 ? limits.ownKey : limits.platformKeys;
}

function refusalOf({ over, retryAfterS }: OverLimit): Refusal {
  return {
    ...{ status: 429, type: "rate_limited", retryAfterS },
    message: `the key has as many ${OVER[over]} as the deployment allows it; try again in ${retryAfterS} s`,
  };
}

function tooLarge(tokens: number, most: number): Refusal {
  return {
    ...{ status: 400, type: "tokens_over_limit" },
    message: `the call can cost ${tokens} tokens, and the key has ${most} a minute: ask for fewer by max_tokens, n or a shorter text`,
  };
}
