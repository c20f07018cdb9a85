/**
 * Takes back everything that the install made: parts, containers, mounts, networks, firewall, and then what the ledger names, newest first.
 * It may be broken off and repeated: what it needs to know stands in the journal, and the journal goes last.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { takeExclusiveLock } from "@resontech/appliance/exclusive-lock";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { confirm } from "@resontech/cli/confirm";
import { Journal, journalFile } from "./journal.ts";
import { requireNoForeignMount } from "./mounts/foreign-mounts.ts";
import { isNode } from "./node-root.ts";
import { say } from "./say.ts";
import { applianceCommand } from "./steps/appliance-command.ts";
import { discardHalfMade, ROOT_ENTRIES } from "./steps/root-folder.ts";
import { removeInstall, takeDown } from "./take-down.ts";

/** What a restore put aside, unpacked or tried: data of this appliance as well. */
const OF_A_RESTORE = /^(?:before-restore-|restoring$|trying-backup$)/;

/** The folder is no install of ours; nothing in it is touched. */
export class NotInstalledError extends Error {
  readonly code = "not_installed";
  readonly hint = "name the install root with --root";
}

/** @throws NotInstalledError, NotConfirmedError, AlreadyRunningError, ForeignMountError, ApplianceFailedError, UninstallIncompleteError */
export async function uninstall(root: string, mode: { yes: boolean }): Promise<void> {
  if (!existsSync(journalFile(root))) {
    if (!discardHalfMade(root))
      throw new NotInstalledError(`${root} has no journal of an install; nothing was touched`);
    say("nothing is left");
    return;
  }
  if (isNode(root))
    throw new NotInstalledError(
      `${root} is a node's: run ${join(root, "leave")}; nothing was touched`,
    );
  if (!mode.yes) {
    const typed = new RegExp(`^${root.replaceAll(".", "\\.")}$`);
    await confirm(
      `remove ${root} with all its data and its audit log? Type the folder's name to agree: `,
      typed,
    );
  }
  using _lock = takeExclusiveLock(
    join(root, "journal", "lock"),
    "an install or another uninstall",
    [join(root, "current", "engines", "rt-lock")],
  );
  const { owned, requests, passedOver } = new Journal(root);
  const restored = readdirSync(root).filter((name) => OF_A_RESTORE.test(name));
  const entries = [...ROOT_ENTRIES, ...restored];
  requireNoForeignMount(root, entries);
  if (passedOver.length > 0)
    say(
      `the journal has ${passedOver.length} lines of a newer release; what these made outside ${root} may stay`,
    );
  if (existsSync(join(root, "current"))) {
    say("stopping every part");
    await applianceCommand(root, ["stop"]);
  }
  const problems = distinct(requests.map(({ config }) => config)).flatMap((config) =>
    takeDown(root, { ...config, registry: `${config.name}:${config.ports.registry}` }, entries),
  );
  removeInstall(root, entries, owned, problems);
}

/** An install that was begun again with other choices may have left something of the first. */
function distinct(configs: readonly ApplianceConfig[]): readonly ApplianceConfig[] {
  return [...new Map(configs.map((config) => [JSON.stringify(config), config])).values()];
}
