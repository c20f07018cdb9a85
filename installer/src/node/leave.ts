import { existsSync } from "node:fs";
import { join } from "node:path";
import { takeExclusiveLock } from "@resontech/appliance/exclusive-lock";
import { readNodeConfig } from "@resontech/appliance/node-context";
import { confirm } from "@resontech/cli/confirm";
import { Journal, journalFile } from "../journal.ts";
import { say } from "../say.ts";
import { discardHalfMade } from "../steps/root-folder.ts";
import { requireNoForeignMount } from "../mounts/foreign-mounts.ts";
import { removeInstall, takeDown } from "../take-down.ts";
import { NotInstalledError } from "../uninstall.ts";
import { nodeCommand } from "./node-command.ts";
import { isAppliance, isNode, NODE_ENTRIES } from "../node-root.ts";

/**
 * Takes back everything that joining made on this host. It may be broken off and repeated. The appliance is told by its operator.
 *
 * @throws NotInstalledError, NotConfirmedError, AlreadyRunningError, UninstallIncompleteError
 */
export async function leave(root: string, mode: { yes: boolean }): Promise<void> {
  if (!existsSync(journalFile(root))) {
    if (!discardHalfMade(root))
      throw new NotInstalledError(`no node is installed below ${root}; nothing was touched`);
    say("nothing is left");
    return;
  }
  if (isAppliance(root))
    throw new NotInstalledError(`${root} is an appliance's, not a node's; nothing was touched`);
  const config = isNode(root) ? readNodeConfig(root) : null;
  if (!mode.yes)
    await confirm(
      `end what runs on this host and remove ${root}? Type ${config?.node ?? "yes"} to agree: `,
      new RegExp(`^${config?.node ?? "yes"}$`),
    );
  using _lock = takeExclusiveLock(join(root, "journal", "lock"), "a join, or another leave", [
    join(root, "current", "engines", "rt-lock"),
  ]);
  requireNoForeignMount(root, NODE_ENTRIES);
  const problems: string[] = [];
  if (config !== null) {
    if (existsSync(join(root, "current", "bin", "appliance-node"))) {
      say("stopping agent and container engine");
      await nodeCommand(root, ["stop"]).catch((error: unknown) => {
        problems.push(error instanceof Error ? error.message : String(error));
      });
    }
    const { name, ports } = config.appliance;
    problems.push(
      ...takeDown(root, { ...config, registry: `${name}:${ports.registry}` }, NODE_ENTRIES),
    );
  }
  const { owned } = new Journal(root);
  removeInstall(root, NODE_ENTRIES, owned, problems);
  if (config !== null)
    say(`on the appliance, unless it is done: appliance node remove ${config.node}`);
}
