/** Pools that are not what they are said to be, or that take what others were promised. Pure. */
import { type Finding, type FindingFacts, warning } from "@resontech/frame/finding";

export function poolFindings({ health }: FindingFacts): Finding[] {
  const { unlike = [], unkept = [] } = health?.pools ?? {};
  return [
    ...unlike.map(({ pool, node, shows }) =>
      warning(
        "pool_node_unlike",
        `node ${node} of the pool ${pool} shows ${shows.length === 0 ? "no worker" : shows.join(", ")}, which the pool does not expect`,
        `set its devices as the pool says, or change what the pool expects: appliance pools set ${pool} --workers MODELS`,
      ),
    ),
    ...unkept.map(({ model, shares, wanted, there }) =>
      warning(
        "guarantee_unkept",
        `pools leave ${there} of ${model} for ${shares.join(", ")}, and guarantees want ${wanted}`,
        "take a node out of a pool, or lower a guarantee: appliance pools ls, appliance shares ls",
      ),
    ),
  ];
}
