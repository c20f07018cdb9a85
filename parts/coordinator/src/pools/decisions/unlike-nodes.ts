import type { NodePool } from "../../kernel/decisions/gate-facts.ts";

/** @property shows models, or parts of devices, that the node has and the pool does not expect; empty: it has none of those that it expects */
export type UnlikeNode = { pool: string; node: string; shows: string[] };

/** Nodes of a pool whose workers are others than the pool says they are. Pure. A node that never told of a worker shows none. */
export function unlikeNodes(
  pools: readonly Pick<NodePool, "id" | "workerModels">[],
  poolOf: ReadonlyMap<string, string>,
  workers: readonly { node: string; model: string }[],
): UnlikeNode[] {
  const ofNode = Map.groupBy(workers, ({ node }) => node);
  return pools.flatMap(({ id, workerModels: expected }) =>
    expected == null
      ? []
      : [...poolOf].flatMap(([node, pool]) => {
          if (pool !== id) return [];
          const models = new Set((ofNode.get(node) ?? []).map(({ model }) => model));
          const shows = [...models].filter((model) => !expected.includes(model)).toSorted();
          return shows.length === 0 && models.size > 0 ? [] : [{ pool: id, node, shows }];
        }),
  );
}
