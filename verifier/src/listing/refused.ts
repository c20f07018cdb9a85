/** What "refused" means of an entry: somebody asked for something and did not get it, because a right, a rule or a proof of who he is was missing. */

export type Result = { type: string; phase: string; outcome?: { code: string; status?: number } };

/** Types that say so by themselves; every other one by its phase, or by its outcome. */
export const REFUSED_TYPES: readonly string[] = [
  "admin.refused",
  "auth.failure",
  "auth.refused",
  "data.bucket.refused",
  "data.object.refused",
  "job.rejected",
];

export function isRefused({ type, phase, outcome }: Result): boolean {
  const isDenied =
    outcome !== undefined &&
    (outcome.status === 401 || outcome.status === 403 || outcome.code === "AccessDenied");
  return phase === "denied" || isDenied || REFUSED_TYPES.includes(type);
}
