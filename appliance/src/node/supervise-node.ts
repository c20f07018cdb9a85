/** The parts of a node, under the same supervisor that an appliance has. */
import { realpathSync } from "node:fs";
import { NODE_PARTS } from "@resontech/parts/node-parts";
import type { Part } from "../parts/part.ts";
import { hostPart } from "../parts/host-part.ts";
import { awaitingOneAnother, isOnHost } from "../parts/parts-on-host.ts";
import { nodeHost } from "./node-host.ts";
import { startSupervisor, stopSupervisor } from "../supervisor/detached.ts";
import { Supervisor } from "../supervisor/supervisor.ts";
import { underControl } from "../supervisor/under-control.ts";
import { type NodeContext, openNode } from "./node-context.ts";
import { isUpgradeOpen } from "@resontech/contracts/node-upgrade";
import { readNodeUpgrade } from "./node-upgrade-file.ts";
import { prepareNode } from "./prepare-node.ts";
import { reconcileNodeUpgrade } from "./reconcile-node-upgrade.ts";

function partsOf(context: NodeContext): Part[] {
  const host = nodeHost(context);
  const parts = NODE_PARTS.filter((part) => isOnHost(part, host));
  return awaitingOneAnother(parts.map((part) => hostPart(context, host, part)));
}

/** Runs in the foreground until SIGTERM, SIGINT or `appliance-node stop`. @throws AlreadyRunningError */
export async function superviseNode(root: string): Promise<void> {
  const context = openNode(root);
  const { layout, release } = context;
  await underControl(context, async ({ log, run }) => {
    prepareNode(context);
    log.info({ release: release.version }, "supervising");
    // After a power cut in a switch nobody else is at it.
    const upgrade = readNodeUpgrade(root);
    if (upgrade !== null && isUpgradeOpen(upgrade))
      reconcileNodeUpgrade(root, realpathSync(layout.current));
    await run(new Supervisor(partsOf(context), layout.log(""), log));
  });
}

export async function startNode(root: string): Promise<void> {
  const { layout } = openNode(root);
  await startSupervisor(layout, [
    layout.release("app", "appliance-node.mjs"),
    "--root",
    root,
    "supervise",
  ]);
}

/** See {@link stopSupervisor}. @returns false when nothing ran */
export async function stopNode(root: string, timeoutMs: number): Promise<boolean> {
  const context = openNode(root);
  return await stopSupervisor(context.layout, () => partsOf(context), timeoutMs);
}
