/** Nodes of one's own have a queue of their own: where nobody was guaranteed anything, too, its project's gangs come by class. Pure. */
import type { PlacementNode, WaitingGang } from "./placement-facts.ts";

/**
 * Of a project that has a pool the higher class comes first, of equals who came first. The places that its gangs have among those of others stay as they are:
 * nobody else waits longer, or less.
 */
export function byClassOfOwners(
  gangs: readonly WaitingGang[],
  nodes: readonly PlacementNode[],
): readonly WaitingGang[] {
  const owners = new Set(nodes.flatMap(({ gate }) => gate?.pool?.project ?? []));
  if (owners.size === 0) return gangs;
  const queues = new Map<string, WaitingGang[]>();
  for (const [project, queue] of Map.groupBy(gangs, (gang) => gang.project))
    if (owners.has(project))
      queues.set(
        project,
        queue.toSorted((a, b) => b.priority - a.priority),
      );
  const next = new Map<string, number>();
  return gangs.map((gang) => {
    const queue = queues.get(gang.project);
    if (queue === undefined) return gang;
    const at = next.get(gang.project) ?? 0;
    next.set(gang.project, at + 1);
    return queue[at]!;
  });
}
