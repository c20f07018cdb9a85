/** `limits` of `inference.yaml`: how much a key may ask of a deployment. Pure. */
import type { DeploymentLimits, KeyLimits } from "@resontech/contracts/inference-routes";
import { type Static, Type } from "typebox";

const MOST = 1_000_000_000;
const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: MOST }));
const ofKey = { requests_per_minute: Limit, tokens_per_minute: Limit, concurrency: Limit };
const closed = { additionalProperties: false } as const;

/** Of the deployment's own key; below it, of each platform key. A name that is none is refused: a limit with a slip in it would be none. */
export const LIMITS = Type.Object(
  { ...ofKey, platform_keys: Type.Optional(Type.Object(ofKey, closed)) },
  closed,
);

/** What each platform key has where the file says nothing: others than its owner call a deployment with them. */
const PLATFORM_KEYS = { requests_per_minute: 600, tokens_per_minute: 200_000, concurrency: 32 };

/**
 * @param contextTokens of one call; null where the engine counts no tokens
 * @param invalid the error of a file that says so
 */
export function limitsOf(
  said: Static<typeof LIMITS> | undefined,
  contextTokens: number | null,
  invalid: (why: string) => Error,
): DeploymentLimits {
  const { platform_keys: platform, ...own } = said ?? {};
  requireTokens("limits", own, contextTokens, invalid);
  requireTokens("limits.platform_keys", platform ?? {}, contextTokens, invalid);
  const { tokens_per_minute: tokens, ...others } = PLATFORM_KEYS;
  const counted =
    contextTokens === null ? {} : { tokens_per_minute: Math.max(tokens, contextTokens) };
  return { ownKey: asKept(own), platformKeys: asKept({ ...others, ...counted, ...platform }) };
}

type Said = { [Name in keyof typeof PLATFORM_KEYS]?: number };

function requireTokens(
  at: string,
  { tokens_per_minute: tokens }: Said,
  contextTokens: number | null,
  invalid: (why: string) => Error,
): void {
  if (tokens === undefined) return;
  if (contextTokens === null)
    throw invalid(`${at}.tokens_per_minute needs an engine that counts tokens`);
  // One call may need as many, and would never have its turn.
  if (tokens < contextTokens)
    throw invalid(
      `${at}.tokens_per_minute is ${tokens}, and one call may have ${contextTokens} (context_tokens)`,
    );
}

function asKept({ requests_per_minute, tokens_per_minute, concurrency }: Said): KeyLimits {
  return {
    requestsPerMinute: requests_per_minute ?? null,
    tokensPerMinute: tokens_per_minute ?? null,
    concurrency: concurrency ?? null,
  };
}
