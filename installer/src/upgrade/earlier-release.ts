import { basename } from "node:path";
import type { Journal, Run } from "../journal.ts";
import type { InstallRequest } from "../request.ts";
import { stagedFolder } from "../steps/current-release.ts";
import { LAST_STEP } from "../steps/plan-steps.ts";

/** A release that ran here, with the configuration that it had. */
export type EarlierRelease = {
  version: string;
  /** Of its statement. */
  sha256: string;
  folder: string;
  request: InstallRequest;
};

/** What an install of `sha256` takes the place of; null where that release is the one that runs, or none does. */
export function upgradedRelease({ runs }: Journal, sha256: string): EarlierRelease | null {
  const run = runs.findLast(isWhole);
  return run === undefined || run.begin.release === sha256 ? null : ofRun(run);
}

/** The release that ran last before `sha256` came, if its tree is still there. */
export function earlierRelease({ runs }: Journal, sha256: string): EarlierRelease | null {
  const run = runs.findLast((one) => isWhole(one) && one.begin.release !== sha256);
  return run === undefined ? null : ofRun(run);
}

/** Stands in the run of the release that is left, before the run of the one that comes back begins. */
export const RETURN_STEP = "return";

/** @property to the release that comes back, or came; null where none is there any more */
export type Return = { isDone: boolean; to: EarlierRelease | null };

/** The return that the journal ends with; null where it ends with none. */
export function lastReturn(journal: Journal): Return | null {
  const [before, last] = [journal.runs.at(-2), journal.runs.at(-1)];
  if (last?.started.has(RETURN_STEP) === true)
    return { isDone: false, to: earlierRelease(journal, last.begin.release) };
  if (last === undefined || before?.started.has(RETURN_STEP) !== true) return null;
  return { isDone: isWhole(last), to: ofRun(last) };
}

/** Of a folder of a release. */
export function versionOf(folder: string): string {
  const name = basename(folder);
  return name.slice(0, name.lastIndexOf("-"));
}

function isWhole({ done }: Run): boolean {
  return done.has(LAST_STEP);
}

function ofRun({ begin: { release, request } }: Run): EarlierRelease | null {
  const folder = stagedFolder(request.root, release);
  if (folder === null) return null;
  return { version: versionOf(folder), sha256: release, folder, request };
}
