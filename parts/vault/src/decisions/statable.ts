/** How much one act may destroy: what its outcome can tell of. An effect that no outcome can name would stand in the log as never ended. */

/** So many shards an outcome names: `erased` in the catalogue. */
export const MAX_STATED_SHARDS = 32;

/**
 * The oldest months that lie in no more shards together than an outcome names, in order; months that alone lie in more are passed over.
 * @param shardsOf may end behind one more than {@link MAX_STATED_SHARDS}
 */
export function statable<T extends { month: string }>(
  names: readonly T[],
  shardsOf: (name: T) => readonly string[],
): T[] {
  let shards = new Set<string>();
  const oldestFirst = names.toSorted((a, b) =>
    a.month < b.month ? -1 : a.month > b.month ? 1 : 0,
  );
  return oldestFirst.filter((name) => {
    const withIts = new Set([...shards, ...shardsOf(name)]);
    if (withIts.size > MAX_STATED_SHARDS) return false;
    shards = withIts;
    return true;
  });
}
