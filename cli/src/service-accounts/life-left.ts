/** How long a service account is still good, in the words of a list. Pure. */

const DAY_MS = 86_400_000;
/** It is warned of from then on. */
const SOON_DAYS = 14;

export type Life = { state: string; isEnding: boolean };

/** @param now Unix milliseconds */
export function lifeLeft(
  { expiresAt, revokedAt = null }: { expiresAt: string; revokedAt?: string | null },
  now: number,
): Life {
  if (revokedAt !== null) return { state: "revoked", isEnding: false };
  const left = Date.parse(expiresAt) - now;
  if (left <= 0) return { state: "expired", isEnding: false };
  const days = Math.floor(left / DAY_MS);
  return days < SOON_DAYS
    ? { state: `ends in ${days} days`, isEnding: true }
    : { state: "living", isEnding: false };
}
