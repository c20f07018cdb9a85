import { basename, join } from "node:path";
import { readKeptRelease } from "@resontech/appliance/kept-database";
import { takeExclusiveLock } from "@resontech/appliance/exclusive-lock";
import { confirm } from "@resontech/cli/confirm";
import { Journal } from "../journal.ts";
import { say } from "../say.ts";
import { currentRelease, readStagedRelease } from "../steps/current-release.ts";
import { NotInstalledError } from "../uninstall.ts";
import {
  type EarlierRelease,
  earlierRelease,
  hadEarlierRelease,
  lastReturn,
  versionOf,
} from "./earlier-release.ts";
import { returnRelease } from "./return-release.ts";

/** No release ran here before this one, or its tree is gone. */
export class NoEarlierReleaseError extends Error {
  readonly code = "no_earlier_release";
  readonly hint =
    "bring the release that you want from its bundle: appliance upgrade MEDIUM --allow-older";
}

/** The newer release's Keycloak has changed people's database, and no copy for the earlier one is left. */
export class KeptDatabaseGoneError extends Error {
  readonly code = "kept_database_gone";
  readonly hint =
    "stay with this release, or restore a backup that the earlier one took: appliance restore";
}

/** Two at once: what was shown and agreed to does not hold any more. */
export class ChangedMeanwhileError extends Error {
  readonly code = "changed_meanwhile";
  readonly hint = "look at `appliance status`, and run the same command again if it is still meant";
}

/**
 * Returns a finished upgrade: the release that ran before takes its place again, and jobs go on.
 *
 * @throws NotInstalledError, NoEarlierReleaseError, KeptDatabaseGoneError, ChangedMeanwhileError, ApplianceFailedError
 */
export async function rollback(root: string, mode: { yes: boolean }): Promise<void> {
  const startedAt = performance.now();
  const journal = new Journal(root);
  const current = currentRelease(root);
  const { lastBegin } = journal;
  if (current === null || lastBegin === null)
    throw new NotInstalledError(`${root} has no release that runs; nothing was touched`);
  const begun = lastReturn(journal);
  const isOpen = begun?.isDone === false;
  const earlier = isOpen ? begun.to : earlierRelease(journal, lastBegin.release);
  if (earlier === null)
    throw new NoEarlierReleaseError(
      isOpen || hadEarlierRelease(journal, lastBegin.release)
        ? `the release that ran before ${versionOf(current)} is no longer kept here`
        : `nothing ran here before ${versionOf(current)}`,
    );
  if (!isOpen) requireDatabase(root, current, earlier);
  say(`plan: ${versionOf(current)} → ${earlier.version} (rollback)`);
  say("  every part starts anew; running jobs go on; the audit log is not rolled back");
  if (!mode.yes) await confirm("go on? [y/N] ", /^y(es)?$/i);
  using _lock = takeExclusiveLock(
    join(root, "journal", "lock"),
    "an install, an uninstall or another rollback",
    [join(root, "current", "engines", "rt-lock")],
  );
  // Whoever had the lock before may have changed what was agreed to.
  if (currentRelease(root) !== current || new Journal(root).runs.length !== journal.runs.length)
    throw new ChangedMeanwhileError(
      "another install or rollback ended meanwhile; nothing was done",
    );
  await returnRelease(root, earlier);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  say(`${earlier.version} runs again after ${seconds} s`);
}

/** An upgrade that failed since has taken the place of the copy that an earlier one left. */
function requireDatabase(root: string, current: string, earlier: EarlierRelease): void {
  const keycloakOf = (folder: string) => readStagedRelease(folder).engines["keycloak"]?.version;
  const [now, before] = [keycloakOf(current), keycloakOf(earlier.folder)];
  if (now === before || readKeptRelease(root) === basename(earlier.folder)) return;
  throw new KeptDatabaseGoneError(
    `${earlier.version} has Keycloak ${before}, which can't open the database of Keycloak ${now}; the copy for it is gone`,
  );
}
