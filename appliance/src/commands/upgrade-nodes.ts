import { setTimeout as sleep } from "node:timers/promises";
import type { AskOperator } from "@resontech/contracts/operator-routes";
import { type UpgradeProgress, upgradeProgress } from "./decisions/nodes-upgrading.ts";

export type UpgradeNodesOptions = { all: boolean; except: readonly string[]; wait: number };
export const UPGRADE_WAIT_S = 3_600;
const LOOK_MS = 1_000;

/** @property current had it before @property leftOut can't be told, with why */
export type UpgradedNodes = UpgradeProgress & {
  release: string;
  current: string[];
  leftOut: { node: string; why: string }[];
};

/** Not every node has the release; `message` names those. */
export class NodesNotUpgradedError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/**
 * Orders it, and waits until each node that answers has the release. The waves go on without whoever waits.
 *
 * @param home the appliance's own node, which has it already
 */
export async function upgradeNodes(
  { ask, tell, home }: { ask: AskOperator; tell: (line: string) => void; home: string | null },
  named: readonly string[],
  { all, except, wait }: UpgradeNodesOptions,
): Promise<UpgradedNodes> {
  if (home !== null && named.includes(home))
    throw new NodesNotUpgradedError(
      "node_is_home",
      `${home} is the appliance's own host`,
      "`appliance upgrade MEDIUM` brings it another release; name other nodes",
    );
  const nodes = await ask("node-list");
  // The coordinator knows of no home; one that runs no agent has no such node.
  const isNode = nodes.some(({ node }) => node === home);
  const { release, ordered, current, leftOut } = await ask("node-upgrade", {
    nodes: all ? null : [...named],
    except: [...except, ...(all && home !== null && isNode ? [home] : [])],
  });
  if (ordered.length > 0) tell(`${ordered.join(", ")}: to bring ${release}`);
  const said = new Set<string>();
  for (const from = Date.now(); ; await sleep(LOOK_MS)) {
    const { releases } = await ask("node-releases");
    const progress = upgradeProgress(ordered, release, releases);
    for (const line of linesOf(progress, release)) {
      if (!said.has(line)) tell(line);
      said.add(line);
    }
    const isOver =
      progress.underWay.length === 0 ||
      (progress.failed.length > 0 && !releases.some(({ upgrade }) => upgrade?.state === "begun"));
    if (isOver || Date.now() - from > wait * 1_000)
      return { release, current, leftOut, ...progress };
  }
}

/** @throws NodesNotUpgradedError unless each node has the release, or brings it when it is back */
export function requireUpgraded({ release, failed, underWay, held, leftOut }: UpgradedNodes): void {
  if (failed.length > 0)
    throw new NodesNotUpgradedError(
      "node_upgrade_failed",
      `${failed.map(({ node, code }) => `${node} (${code})`).join(", ")}: not on ${release}${held.length === 0 ? "" : `; held back: ${held.join(", ")}`}`,
      "`appliance node show NODE` says why; mend it and run the same command again, or leave it out with --except NODE",
    );
  if (held.length + underWay.length > 0)
    throw new NodesNotUpgradedError(
      "nodes_under_way",
      `${[...underWay, ...held].join(", ")}: not on ${release} yet`,
      "it goes on without this command: `appliance node ls` shows how far",
    );
  if (leftOut.length > 0)
    throw new NodesNotUpgradedError(
      "nodes_left_out",
      leftOut.map(({ node, why }) => `${node}: ${why}`).join("\n"),
      "run the command of `appliance node add NODE` on each, or leave it out with --except NODE",
    );
}

function linesOf({ done, away, failed }: UpgradeProgress, release: string): string[] {
  return [
    ...done.map((node) => `${node} has ${release}`),
    ...away.map((node) => `${node} does not answer; it brings ${release} when it is back`),
    ...failed.map(({ node, code, message }) => `${node} failed: ${message} [${code}]`),
  ];
}
