import type { LocalAppliance } from "@resontech/house/local-appliance";
import { JoinedNode } from "@resontech/house/joined-node";
import type { NetworkNamespace } from "@resontech/house/network-namespace";

/** Two hosts that may become nodes of an appliance, one in each network. */
export function hostsToJoin(
  appliance: LocalAppliance,
  namespaces: readonly [NetworkNamespace, NetworkNamespace],
  { nodes, cpuWorkers }: { nodes: readonly [string, string]; cpuWorkers: number },
  progress: (line: string) => void,
): [JoinedNode, JoinedNode] {
  const hostOf = (at: 0 | 1): JoinedNode =>
    new JoinedNode({
      ...{ appliance, progress, cpuWorkers, node: nodes[at], namespace: namespaces[at] },
      root: `${appliance.root}-${nodes[at]}`,
      instance: `proof-${nodes[at]}`,
    });
  return [hostOf(0), hostOf(1)];
}
