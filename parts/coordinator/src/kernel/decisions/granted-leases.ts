/**
 * Which lease a node counts on. Pure. An answer may be lost, so that a node holds the lease of an earlier one: until it says whose answer
 * reached it, the longest counts. That is news only where a later lease is the shorter one, after a planned stop that was ended.
 */

/** `nonce` is the beat's that it answers, null for a registration or the life before this process. `until` on the monotonic clock. */
export type GrantedLease = { nonce: string | null; until: number };

/** One more answer is on its way. What ends no later than it can't be the longest any more. */
export function withGrant(granted: readonly GrantedLease[], grant: GrantedLease): GrantedLease[] {
  return [...granted.filter(({ until }) => until > grant.until), grant];
}

/** The node holds the lease of this answer: earlier ones are forgotten. An answer that is not known, or no longer, forgets nothing. */
export function withAcknowledged(
  granted: readonly GrantedLease[],
  nonce: string | null,
): GrantedLease[] {
  const at = granted.findLastIndex((one) => one.nonce === nonce);
  return granted.slice(Math.max(0, at));
}

/** Answers until when the node may work, heard of or not, on the monotonic clock. */
export function longestUntil(granted: readonly GrantedLease[]): number {
  return Math.max(...granted.map(({ until }) => until));
}
