/** The parts of a node, under the same supervisor that an appliance has. */
import { realpathSync } from "node:fs";
import { agentPart } from "../parts/agent.ts";
import { containerEngineParts } from "../parts/context.ts";
import type { Part } from "../parts/part.ts";
import { podmanPart } from "../parts/podman.ts";
import { startSupervisor, stopSupervisor } from "../supervisor/detached.ts";
import { Supervisor } from "../supervisor/supervisor.ts";
import { underControl } from "../supervisor/under-control.ts";
import { type NodeContext, openNode } from "./node-context.ts";
import { isUpgradeOpen } from "@resontech/contracts/node-upgrade";
import { readNodeUpgrade } from "./node-upgrade-file.ts";
import { prepareNode } from "./prepare-node.ts";
import { reconcileNodeUpgrade } from "./reconcile-node-upgrade.ts";

/** In the order of need. */
function partsOf(context: NodeContext): Part[] {
  const { name, ports } = context.config.appliance;
  return [
    ...(context.config.containerEngine.kind === "podman"
      ? [podmanPart(context, `${name}:${ports.registry}`, context.layout.rootCert)]
      : []),
    agentPart(context, containerEngineParts(context)),
  ];
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
