/** Whether a service account may still come in. Pure. */

export type AccountStanding = "living" | "over";

/** @param now Unix milliseconds, as the rest */
export function accountStanding(
  { revokedAt, expiresAt }: { revokedAt: number | null; expiresAt: number },
  now: number,
): AccountStanding {
  return revokedAt === null && now < expiresAt ? "living" : "over";
}
