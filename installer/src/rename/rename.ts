/**
 * Gives an installed appliance another name: an install of the very release that runs, under another configuration. So its steps are journaled as any
 * install's are, and one that was cut goes on at the next start, by `resume`, or by the same command.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { type InstallMode, installVerified } from "../install.ts";
import { Journal } from "../journal.ts";
import { say } from "../say.ts";
import { stagedFolder } from "../steps/current-release.ts";
import { LAST_STEP } from "../steps/step.ts";
import { openStagedBundle } from "../steps/staged-bundle.ts";
import { NotInstalledError } from "../uninstall.ts";
import { lastReturn } from "../upgrade/earlier-release.ts";
import {
  costsOf,
  type NewName,
  renamedConfig,
  RenameRefusedError,
} from "./decisions/evaluate-rename.ts";

/** @throws RenameRefusedError, NotInstalledError, and what an install throws */
export async function rename(
  root: string,
  wanted: NewName,
  mode: Pick<InstallMode, "yes" | "dryRun">,
): Promise<void> {
  const journal = new Journal(root);
  const { lastBegin, doneSteps } = journal;
  const before = journal.runs.findLast(({ done }) => done.has(LAST_STEP));
  if (lastBegin === null || before === undefined) throw notInstalled(root);
  const { request, release } = lastBegin;
  const isOpen = lastReturn(journal)?.isDone === false || !doneSteps.has(LAST_STEP);
  // One that does not come up under the new name may be taken back.
  if (isOpen && before.begin.release !== release)
    throw new RenameRefusedError(
      "install_open",
      "an install, an upgrade or a rollback has begun and has not ended",
      "end it first: appliance resume",
    );
  const folder = stagedFolder(root, release);
  if (folder === null) throw notInstalled(root);
  const goesOn = isOpen && isOf(request.config, wanted);
  const config = goesOn
    ? request.config
    : renamedConfig(request.config, wanted, shownCertificate(root), Date.now());
  if (goesOn) say(`the change to ${config.name} goes on`);
  else for (const line of costsOf(request.config, config)) say(`  ${line}`);
  await installVerified({ ...request, config }, openStagedBundle(request, folder), {
    ...{ ...mode, yes: mode.yes || goesOn, allowOlder: true },
  });
}

function notInstalled(root: string): NotInstalledError {
  return new NotInstalledError(`${root} has no release that runs; nothing was touched`);
}

function isOf(config: ApplianceConfig, { name, address = config.address }: NewName): boolean {
  return config.name === name && config.address === address;
}

function shownCertificate(root: string): string | null {
  const file = join(root, "etc", "door-certificate", "door.crt");
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}
