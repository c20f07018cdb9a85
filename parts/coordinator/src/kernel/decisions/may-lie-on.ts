import type { PlacementWorker, WaitingGang } from "./placement-facts.ts";

/**
 * Whether there are enough workers at all, and on one node where the gang lies on one: what the choice among them needs at least. Looks at no more of them
 * than it must.
 */
export function mayLieOn(
  { size, hubBytes }: Pick<WaitingGang, "size" | "hubBytes">,
  ...groups: Iterable<PlacementWorker>[]
): boolean {
  const isAnywhere = hubBytes !== null || size === 1;
  const counts = new Map<string, number>();
  let all = 0;
  for (const workers of groups)
    for (const { node } of workers) {
      all += 1;
      const count = isAnywhere ? all : (counts.get(node) ?? 0) + 1;
      if (count >= size) return true;
      if (!isAnywhere) counts.set(node, count);
    }
  return size === 0;
}
