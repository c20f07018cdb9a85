/** Whether a service account may still come in, and what becomes of one that nobody answers for. Pure. */

export type AccountStanding = "living" | "over";

/** @param now Unix milliseconds, as the rest */
export function accountStanding(
  { revokedAt, expiresAt }: { revokedAt: number | null; expiresAt: number },
  now: number,
): AccountStanding {
  return revokedAt === null && now < expiresAt ? "living" : "over";
}

/** So long a lead may adopt an account that nobody answers for. */
export const ADOPTION_MS = 7 * 86_400_000;

/**
 * What a look at an account leads to. `orphan`: nobody answers for it from now on. `return`: somebody does again. `end`: nobody adopted it in time.
 * @property orphanedAt since when nobody answers; null while somebody does
 */
export function nextOfAccount(
  { isAnswered, orphanedAt }: { isAnswered: boolean; orphanedAt: number | null },
  now: number,
): "orphan" | "return" | "end" | null {
  if (isAnswered) return orphanedAt === null ? null : "return";
  if (orphanedAt === null) return "orphan";
  return now >= orphanedAt + ADOPTION_MS ? "end" : null;
}
