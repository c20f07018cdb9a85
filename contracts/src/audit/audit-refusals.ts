/** What "refused" means of an entry: somebody asked for something and did not get it, because a right, a rule or a proof of who he is was missing. Pure. */
import type { EventType } from "./audit-catalogue.ts";

/** Types that say so by themselves; every other one by its phase, or by its outcome. */
export const REFUSED_TYPES = [
  "admin.refused",
  "auth.failure",
  "auth.refused",
  "data.bucket.refused",
  "data.object.refused",
  "job.rejected",
] as const satisfies EventType[];

/** The object store's word for it, where an outcome has no status: that of one key of several deletions. */
export const DENIED_CODE = "AccessDenied";

type Result = {
  type: string;
  phase: string;
  outcome?: { code: string; status?: number } | undefined;
};

export function isRefused({ type, phase, outcome }: Result): boolean {
  const isDenied =
    outcome !== undefined &&
    (outcome.status === 401 || outcome.status === 403 || outcome.code === DENIED_CODE);
  return phase === "denied" || isDenied || (REFUSED_TYPES as readonly string[]).includes(type);
}
