import type { PoolTable } from "../kernel/pool-table.ts";
import type { ShareTable } from "../kernel/share-table.ts";
import { type UnkeptGuarantee, unkeptGuarantees } from "./decisions/unkept-guarantees.ts";
import { type UnlikeNode, unlikeNodes } from "./decisions/unlike-nodes.ts";

export type PoolStandingDeps = {
  pools: Pick<PoolTable, "all" | "ofNodes">;
  shares: Pick<ShareTable, "isSet" | "all">;
  workers: () => readonly { node: string; model: string }[];
};
/** Names stand where people read them: those of pools and shares. */
export type PoolStanding = { unlike: UnlikeNode[]; unkept: UnkeptGuarantee[] };

/** What of pools wants a look by whoever runs the appliance. */
export function poolStanding({ pools, shares, workers }: PoolStandingDeps): PoolStanding {
  const all = pools.all();
  if (all.length === 0) return { unlike: [], unkept: [] };
  const [poolOf, there] = [pools.ofNodes(), workers()];
  const names = new Map(all.map(({ id, name }) => [id, name]));
  const set = shares.isSet ? shares.all() : [];
  const nameOf = new Map(set.map(({ id, name }) => [id, `${name} (${id})`]));
  return {
    unlike: unlikeNodes(all, poolOf, there).map(({ pool, ...node }) => ({
      ...{ pool: names.get(pool)!, ...node },
    })),
    unkept: unkeptGuarantees(set, all, poolOf, there).map((one) => ({
      ...one,
      shares: one.shares.map((id) => nameOf.get(id) ?? id),
    })),
  };
}
