/** Keycloak's database through a switch to a release with another Keycloak, and back. */
import { basename } from "node:path";
import {
  forgetDatabase,
  isRemoved,
  keepDatabase,
  needsKeeping,
} from "@resontech/appliance/kept-database";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { say } from "../say.ts";
import { ApplianceFailedError, applianceCommand } from "../steps/appliance-command.ts";
import { readStagedRelease } from "../steps/current-release.ts";

/** Nothing runs. @param before folder of the release that did */
export function keepForReturn(root: string, before: string, to: ReleaseManifest): void {
  if (needsKeeping(readStagedRelease(before), to)) {
    say("  keep people's database as this release has it");
    keepDatabase(root, basename(before));
  } else {
    // One step back is possible, and that one needs no copy.
    forgetDatabase(root);
  }
}

/**
 * By the release that runs. Nobody signs in from here on.
 *
 * @param isBegun an earlier run of this return may have done it
 * @param wasWhole the release that is left was ever healthy, so that somebody may have lost something under it
 * @throws ApplianceFailedError
 */
export async function takeAwayRemovals(
  root: string,
  { isBegun, wasWhole }: { isBegun: boolean; wasWhole: boolean | undefined },
): Promise<void> {
  say("take from the kept database what people lost since");
  try {
    await applianceCommand(root, ["stop", "keycloak"]).catch(ignoreStopped);
    await applianceCommand(root, ["take-away-removals"]);
  } catch (error) {
    if (!(error instanceof ApplianceFailedError)) throw error;
    // A release that never came up let nobody in who could have taken anything away.
    if (wasWhole === true && !(isBegun && isRemoved(root))) {
      // The release stays: people sign in again.
      await applianceCommand(root, ["start", "keycloak"]).catch(ignoreStopped);
      throw error;
    }
    say(`  ${error.message}`);
  }
}

/** A part that does not run need not be stopped. */
function ignoreStopped(error: unknown): void {
  if (!(error instanceof ApplianceFailedError)) throw error;
}
