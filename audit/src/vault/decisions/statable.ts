/** How much one act may destroy: what its outcome can tell of. An effect that no outcome can name would stand in the log as never ended. */
import { EVENT_CATALOGUE } from "@resontech/contracts/audit-catalogue";

/** So many shards an outcome names. */
export const MAX_STATED_SHARDS: number = EVENT_CATALOGUE["privacy.retention"].detail.properties.erased.maxItems;

/**
 * The oldest months that lie in no more shards together than an outcome names, in order. Of what alone lies in more there is nothing.
 * @param shardsOf may end behind one more than {@link MAX_STATED_SHARDS}
 */
export function statable<T extends { month: string }>(names: readonly T[], shardsOf: (name: T) => readonly string[]): T[] {
  let shards: ReadonlySet<string> = new Set();
  const oldestFirst = names.toSorted((a, b) => (a.month < b.month ? -1 : a.month > b.month ? 1 : 0));
  return oldestFirst.filter((name) => {
    const withIts = shards.union(new Set(shardsOf(name)));
    if (withIts.size > MAX_STATED_SHARDS) return false;
    shards = withIts;
    return true;
  });
}
