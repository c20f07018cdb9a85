/** What an operator must know of the hosts that run jobs. Pure. */
import type { NodeHealth } from "@resontech/contracts/coordinator-health";
import { NODE_LADDER } from "@resontech/contracts/disk-ladder";
import {
  fault,
  type Finding,
  type FindingFacts,
  lagFindings,
  warning,
} from "@resontech/frame/finding";
import { toldSize, toldSpan } from "@resontech/frame/told-quantities";

export function nodeFindings({ health }: FindingFacts): Finding[] {
  if (health === null) return [];
  const { nodes, plannedStopUntil } = health;
  return [...plannedStopFindings(plannedStopUntil), ...nodes.flatMap(findingsOfNode)];
}

function plannedStopFindings(until: string | null): Finding[] {
  if (until === null) return [];
  return [
    warning(
      "planned_stop",
      `leases are long until ${until}: a lost node is given up only then`,
      "when the work is done: appliance start",
    ),
  ];
}

function findingsOfNode(health: NodeHealth): Finding[] {
  const { node, state, silentMs, loopLagMs, cordonReason, quarantined, unhealthy = [] } = health;
  const { diskFreeBytes, hasDisk, refused } = health;
  const found: Finding[] = [];
  // It is silent because it is refused: nobody need look at its network.
  if (refused !== undefined)
    found.push(
      fault(
        "agent_refused",
        `node ${node} takes no work: ${refused}`,
        `to upgrade the node, run on it what \`appliance node add ${node}\` prints`,
      ),
    );
  const silence =
    silentMs === null ? "was not heard since the start" : `silent for ${toldSpan(silentMs)}`;
  if (state === "DEAD" && refused === undefined)
    found.push(
      fault(
        "node_dead",
        `node ${node}: ${silence}; its jobs went elsewhere`,
        "look at the node and its network; it comes back by itself",
      ),
    );
  if (state === "SUSPECT" && refused === undefined)
    found.push(
      warning("node_silent", `node ${node}: ${silence}`, "it is given up 40 s after its last beat"),
    );
  found.push(...lagFindings("node_slow", `the agent of node ${node}`, loopLagMs, "that host"));
  if (cordonReason !== null)
    found.push(
      warning(
        "node_cordoned",
        `node ${node} takes no work: ${cordonReason}`,
        `when it is well: appliance node undrain ${node}`,
      ),
    );
  for (const { worker, reason } of quarantined)
    found.push(
      fault(
        "worker_quarantined",
        `worker ${worker} did not prove its release (${reason})`,
        `look for processes on its device, then let node ${node} join again`,
      ),
    );
  for (const { worker, reason, onTrial = false } of unhealthy)
    found.push(
      onTrial
        ? warning(
            "worker_on_trial",
            `worker ${worker} takes no work yet: ${reason}`,
            "wait; ask again in a minute",
          )
        : fault(
            "worker_unhealthy",
            `worker ${worker} takes no work: ${reason}`,
            `look at its device: appliance node show ${node}; when it is well: appliance node undrain ${node}`,
          ),
    );
  if (diskFreeBytes !== null && !hasDisk)
    found.push(
      fault(
        "node_disk_full",
        `node ${node} is given no work: its disk has ${toldSize(diskFreeBytes)} left`,
        "make space where its agent keeps its data; jobs go on by themselves",
      ),
    );
  else if (diskFreeBytes !== null && diskFreeBytes < NODE_LADDER.lowBytes)
    found.push(
      warning(
        "node_disk_low",
        `node ${node} has ${toldSize(diskFreeBytes)} left for jobs`,
        "make space where its agent keeps its data",
      ),
    );
  return found;
}
