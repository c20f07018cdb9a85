/** An earlier release takes its place again: from its staged tree alone, without a medium. Each step may be repeated from any point. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import {
  forgetDatabase,
  putBackDatabase,
  readKeptRelease,
} from "@resontech/appliance/kept-database";
import { Journal } from "../journal.ts";
import { digestOf } from "../request.ts";
import { say } from "../say.ts";
import {
  ApplianceFailedError,
  applianceCommand,
  stopForSwitch,
} from "../steps/appliance-command.ts";
import { isCurrent, makeCurrent } from "../steps/current-release.ts";
import { LAST_STEP } from "../steps/step.ts";
import { type EarlierRelease, lastReturn, RETURN_STEP } from "./earlier-release.ts";
import { takeAwayRemovals } from "./people-database.ts";

export async function returnRelease(root: string, earlier: EarlierRelease): Promise<void> {
  const { version, sha256, folder, request } = earlier;
  const { config } = request;
  const journal = new Journal(root);
  const begun = lastReturn(journal);
  const wasWhole = journal.runs
    .findLast(({ begin }) => begin.release !== sha256)
    ?.done.has(LAST_STEP);
  const isKept = readKeptRelease(root) === basename(folder);
  // Before the journal says that a return is open: where it fails, none is.
  if (isKept && !isCurrent(root, folder, config))
    await takeAwayRemovals(root, { isBegun: begun?.isDone === false, wasWhole });
  if (begun === null || begun.isDone)
    journal.append({ kind: "step", step: RETURN_STEP, state: "started" });
  if (journal.lastBegin?.release !== sha256)
    journal.append({ kind: "begin", release: sha256, configuration: digestOf(request), request });
  if (!isCurrent(root, folder, config)) {
    // The release that started a part stops it. One that can't must not keep the earlier one from coming back.
    if (existsSync(join(root, "current")))
      await stopForSwitch(root).catch((error: unknown) => {
        if (!(error instanceof ApplianceFailedError)) throw error;
        say(`  ${error.message}`);
      });
    if (isKept) putBackDatabase(root);
    makeCurrent(root, folder, config);
  }
  say(`start every part of ${version} and wait for its health`);
  await applianceCommand(root, ["start"]);
  // It records that this release is the one that is installed.
  await applianceCommand(root, ["first-boot", "--username", request.username]);
  // Also half a copy that an upgrade left that could not switch.
  forgetDatabase(root);
  for (const step of ["import", "stage", "registry", "switch", "unit", "start", "images"])
    journal.append({ kind: "step", step, state: "done" });
  journal.append({ kind: "step", step: LAST_STEP, state: "done" });
}
