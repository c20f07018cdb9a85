/** Guarantees that pools make impossible: of whoever may not enter a pool against the workers outside it. Pure. */
import type { NodePool } from "../../kernel/decisions/gate-facts.ts";
import type { Amounts, Share } from "../../kernel/decisions/shares.ts";

type Guaranteed = Pick<Share, "id" | "parent" | "guarantee">;
type Owned = Pick<NodePool, "id" | "project"> & Partial<Pick<NodePool, "projectWorkers">>;
type Counted = { node: string; model: string };

/** @property shares who is guaranteed together more than there is for them @property wanted of the model, outside of what only some of them may enter */
export type UnkeptGuarantee = { model: string; shares: string[]; wanted: number; there: number };

/**
 * What a project lends is no part of what others are sure of: it takes that back at once.
 * @param workers all that there are, whoever holds them
 * @returns nothing of a model of which there would be too few without pools as well
 */
export function unkeptGuarantees(
  shares: readonly Guaranteed[],
  pools: readonly Owned[],
  poolOf: ReadonlyMap<string, string>,
  workers: readonly Counted[],
): UnkeptGuarantee[] {
  if (pools.length === 0) return [];
  const models = new Set(shares.flatMap(({ guarantee }) => Object.keys(guarantee)));
  return [...models].toSorted().flatMap((model) => {
    const counts = new Map<string | undefined, number>();
    for (const worker of workers)
      if (worker.model === model) {
        const pool = poolOf.get(worker.node);
        counts.set(pool, (counts.get(pool) ?? 0) + 1);
      }
    return unkeptOf(model, shares, pools, counts);
  });
}

/** @param counts workers of the model by pool; undefined: in none */
function unkeptOf(
  model: string,
  shares: readonly Guaranteed[],
  pools: readonly Owned[],
  counts: ReadonlyMap<string | undefined, number>,
): UnkeptGuarantee[] {
  const countOf = (pool: string | undefined) => counts.get(pool) ?? 0;
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const mostIn = ({ id, projectWorkers }: Owned) =>
    Math.min(countOf(id), projectWorkers ?? Infinity);
  const ownOf = (project: string) =>
    pools.reduce((sum, pool) => sum + (pool.project === project ? mostIn(pool) : 0), 0);
  const isShared = ({ project }: Owned) => project === null;
  const outside =
    countOf(undefined) + pools.filter(isShared).reduce((sum, { id }) => sum + countOf(id), 0);
  const forOne =
    countOf(undefined) + pools.filter(isShared).reduce((sum, pool) => sum + mostIn(pool), 0);

  const below = Map.groupBy(shares, ({ parent }) => parent);
  const guaranteeOf = ({ guarantee }: { guarantee: Amounts }) => guarantee[model] ?? 0;
  const ownBelow = (share: Guaranteed): number =>
    (below.get(share.id) ?? []).reduce((sum, one) => sum + ownBelow(one), ownOf(share.id));
  /** What it needs of the workers that are nobody's own. */
  const needOf = (share: Guaranteed): number =>
    Math.max(
      0,
      (below.get(share.id) ?? []).reduce((sum, one) => sum + needOf(one), 0),
      guaranteeOf(share) - ownBelow(share),
    );
  const wishOf = (share: Guaranteed): number =>
    Math.max(
      (below.get(share.id) ?? []).reduce((sum, one) => sum + wishOf(one), 0),
      guaranteeOf(share),
    );
  const ids = new Set(shares.map(({ id }) => id));
  const tops = shares.filter(({ parent }) => parent === null || !ids.has(parent));
  const sum = (of: (share: Guaranteed) => number) =>
    tops.reduce((total, share) => total + of(share), 0);

  // Nobody's pool is at fault where all workers together are too few.
  if (sum(wishOf) > all) return [];
  const alone = shares
    .filter((share) => !below.has(share.id) && guaranteeOf(share) > ownOf(share.id) + forOne)
    .map((share) => ({
      ...{ model, shares: [share.id], wanted: guaranteeOf(share) },
      there: ownOf(share.id) + forOne,
    }));
  const wanted = sum(needOf);
  if (wanted <= outside || alone.length > 0) return alone;
  const needing = shares.filter((share) => guaranteeOf(share) > 0 && needOf(share) > 0);
  return [{ model, shares: needing.map(({ id }) => id), wanted, there: outside }];
}
