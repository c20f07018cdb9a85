/** How an order to bring the appliance's release stands, in words. Pure: what the coordinator tells in, what the operator reads out. */
import type { NodeReleaseFacts } from "@resontech/contracts/operator-nodes";

export type UpgradeProgress = {
  done: string[];
  /** They don't answer, and catch up when they are back. */
  away: string[];
  failed: { node: string; code: string; message: string }[];
  /** They bring it now, or will as soon as the wave before is done. */
  underWay: string[];
  /** They were to come after one that failed. */
  held: string[];
};

/** @param ordered the nodes that were told to bring `release` */
export function upgradeProgress(
  ordered: readonly string[],
  release: string,
  releases: readonly NodeReleaseFacts[],
): UpgradeProgress {
  const progress: UpgradeProgress = { done: [], away: [], failed: [], underWay: [], held: [] };
  for (const node of ordered) {
    const facts = releases.find((one) => one.node === node);
    const upgrade = facts?.upgrade;
    if (upgrade?.state === "failed" && upgrade.failed !== null)
      progress.failed.push({ node, ...upgrade.failed });
    else if (upgrade?.state === "begun" || upgrade?.waitsFor === "its turn")
      progress.underWay.push(node);
    else if (upgrade?.waitsFor === "itself") progress.away.push(node);
    else if (upgrade?.waitsFor != null || facts?.release !== release) progress.held.push(node);
    else progress.done.push(node);
  }
  return progress;
}

/** One cell of a table; empty where nothing is awaited. */
export function upgradeText({ upgrade }: Pick<NodeReleaseFacts, "upgrade">): string {
  if (upgrade === null || upgrade.state === "done") return "";
  if (upgrade.state === "failed") return `failed: ${upgrade.failed?.code ?? ""}`;
  if (upgrade.state === "begun") return `brings ${upgrade.release}`;
  switch (upgrade.waitsFor) {
    case "itself":
      return `${upgrade.release} once it is back`;
    case "its turn":
      return `${upgrade.release} when its turn comes`;
    default:
      return `held: another node failed`;
  }
}
