/** Which approvals changed the policy already. Pure. */

/** @property done a change that was begun may be gone on with by the same approval, until it is done or another one begins */
export type UsedApproval = { approval: string; atMs: number; done: boolean };

/** An approval is too old to be taken long before; what is older need not be known. */
const KEPT_MS = 14 * 86_400_000;

export function isUsed(used: readonly UsedApproval[], approval: string): boolean {
  return used.some((one) => one.approval === approval && one.done);
}

/** What was begun before can't come back behind this one's back. */
export function begun(
  used: readonly UsedApproval[],
  approval: string,
  atMs: number,
): UsedApproval[] {
  const others = used.filter((one) => one.approval !== approval && one.atMs > atMs - KEPT_MS);
  return [...others.map((one) => ({ ...one, done: true })), { approval, atMs, done: false }];
}

export function done(used: readonly UsedApproval[], approval: string): UsedApproval[] {
  return used.map((one) => (one.approval === approval ? { ...one, done: true } : one));
}
