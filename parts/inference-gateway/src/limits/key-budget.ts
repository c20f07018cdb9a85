/**
 * What one key may still do at one deployment: buckets that hold a minute's worth and fill evenly, and a number of calls at once. Pure: time comes in,
 * milliseconds of any clock that does not go back. Tokens are taken before a call for as much as it can cost, and what it did not use is given back.
 */
import type { KeyLimits } from "@resontech/contracts/inference-routes";

const MINUTE_MS = 60_000;
const LIMITED = ["requests", "tokens"] as const;
type Limited = (typeof LIMITED)[number];

export type OverLimit = { over: Limited | "concurrency"; retryAfterS: number };

export class KeyBudget {
  #limits: KeyLimits;
  readonly #levels: Record<Limited, number>;
  #at: number;
  #underWay = 0;

  constructor(limits: KeyLimits, now: number) {
    this.#limits = limits;
    this.#levels = { requests: this.#most("requests"), tokens: this.#most("tokens") };
    this.#at = now;
  }

  /** The limits are these from here on. What was used stays used. */
  follow(limits: KeyLimits, now: number): void {
    this.#fill(now);
    this.#limits = limits;
    for (const kind of LIMITED) this.#levels[kind] = Math.min(this.#levels[kind], this.#most(kind));
  }

  /**
   * Takes a call's place, its request and its tokens; or says what is over, and nothing is taken.
   * @param tokens as many as it can cost, at most {@link mostTokens}
   */
  take(tokens: number, now: number): OverLimit | null {
    this.#fill(now);
    const { concurrency } = this.#limits;
    if (concurrency !== null && this.#underWay >= concurrency)
      return { over: "concurrency", retryAfterS: 1 };
    const costs = { requests: 1, tokens };
    for (const over of LIMITED)
      if (this.#levels[over] < costs[over])
        return { over, retryAfterS: Math.max(1, Math.ceil(this.#secondsTo(over, costs[over]))) };
    for (const kind of LIMITED) this.#levels[kind] -= costs[kind];
    this.#underWay += 1;
    return null;
  }

  /** The call is over; what it took and did not use is there again. */
  settle(taken: number, used: number, now: number): void {
    this.#fill(now);
    this.#underWay -= 1;
    this.#levels.tokens = Math.min(this.#levels.tokens + taken - used, this.#most("tokens"));
  }

  /** A call that can cost more never has its turn; Infinity where nothing is limited. */
  get mostTokens(): number {
    return this.#most("tokens");
  }

  /** It has as much as one that was never used, so nothing is lost with it. */
  isFresh(now: number): boolean {
    this.#fill(now);
    return this.#underWay === 0 && LIMITED.every((kind) => this.#levels[kind] >= this.#most(kind));
  }

  /** What is left, by the names of the OpenAI API. */
  headers(now: number): Record<string, string> {
    this.#fill(now);
    const headers: Record<string, string> = {};
    for (const kind of LIMITED) {
      const most = this.#most(kind);
      if (most === Infinity) continue;
      headers[`x-ratelimit-limit-${kind}`] = String(most);
      headers[`x-ratelimit-remaining-${kind}`] = String(
        Math.max(0, Math.floor(this.#levels[kind])),
      );
      headers[`x-ratelimit-reset-${kind}`] = `${Math.ceil(this.#secondsTo(kind, most))}s`;
    }
    return headers;
  }

  #most(kind: Limited): number {
    const { requestsPerMinute, tokensPerMinute } = this.#limits;
    return (kind === "requests" ? requestsPerMinute : tokensPerMinute) ?? Infinity;
  }

  #secondsTo(kind: Limited, level: number): number {
    return (((level - this.#levels[kind]) / this.#most(kind)) * MINUTE_MS) / 1_000;
  }

  #fill(now: number): void {
    const share = Math.max(0, now - this.#at) / MINUTE_MS;
    this.#at = Math.max(this.#at, now);
    for (const kind of LIMITED) {
      const most = this.#most(kind);
      // Nothing times an unlimited amount is no number.
      const filled = most === Infinity ? Infinity : this.#levels[kind] + share * most;
      this.#levels[kind] = Math.min(filled, most);
    }
  }
}
