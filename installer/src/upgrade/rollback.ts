import { join } from "node:path";
import { takeExclusiveLock } from "@resontech/appliance/exclusive-lock";
import { confirm } from "@resontech/cli/confirm";
import { Journal } from "../journal.ts";
import { say } from "../say.ts";
import { currentRelease } from "../steps/current-release.ts";
import { NotInstalledError } from "../uninstall.ts";
import { earlierRelease, lastReturn, versionOf } from "./earlier-release.ts";
import { returnRelease } from "./return-release.ts";

/** No release ran here before this one, or its tree is gone. */
export class NoEarlierReleaseError extends Error {
  readonly code = "no_earlier_release";
  readonly hint = "install the release that you want from its bundle: sh install.sh";
}

/** Two at once: what was shown and agreed to does not hold any more. */
export class ChangedMeanwhileError extends Error {
  readonly code = "changed_meanwhile";
  readonly hint = "look at `appliance status`, and run the same command again if it is still meant";
}

/**
 * Returns a finished upgrade: the release that ran before takes its place again, and jobs go on.
 *
 * @throws NotInstalledError, NoEarlierReleaseError, ChangedMeanwhileError, ApplianceFailedError
 */
export async function rollback(root: string, mode: { yes: boolean }): Promise<void> {
  const startedAt = performance.now();
  const journal = new Journal(root);
  const current = currentRelease(root);
  const { lastBegin } = journal;
  if (current === null || lastBegin === null)
    throw new NotInstalledError(`${root} has no release that runs; nothing was touched`);
  const begun = lastReturn(journal);
  if (begun?.isDone === true)
    throw new NoEarlierReleaseError(
      `${versionOf(current)} came back by a rollback, and nothing ran before it`,
    );
  const earlier = begun === null ? earlierRelease(journal, lastBegin.release) : begun.to;
  if (earlier === null)
    throw new NoEarlierReleaseError(`nothing ran here before ${versionOf(current)}`);
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
