import { basename } from "node:path";
import type { Journal, Run } from "../journal.ts";
import type { InstallRequest } from "../request.ts";
import { stagedFolder } from "../steps/current-release.ts";
import { LAST_STEP, SWITCH_STEP } from "../steps/step.ts";

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

/** The release that a return from `sha256` brings back, if its tree is still there. */
export function earlierRelease({ runs }: Journal, sha256: string): EarlierRelease | null {
  const run = ranBefore(runs, sha256);
  const earlier = run === null ? null : ofRun(run);
  const last = runs.findLast(isWhole)?.begin.request.config;
  if (earlier === null || last === undefined) return earlier;
  // Renamed since it ran: a release comes back, and no name.
  const { name, address } = last;
  const { request } = earlier;
  return { ...earlier, request: { ...request, config: { ...request.config, name, address } } };
}

/** Whether a release ran before `sha256`, its tree there or not. */
export function hadEarlierRelease({ runs }: Journal, sha256: string): boolean {
  return ranBefore(runs, sha256) !== null;
}

/**
 * Releases stand one above the other: an upgrade puts one on top, a return takes what is above away. One that never came up stood nowhere, so the
 * release that came back from it has the same one below as before.
 */
function ranBefore(runs: readonly Run[], sha256: string): Run | null {
  const stack: Run[] = [];
  for (const [at, run] of runs.entries()) {
    if (!isWhole(run)) continue;
    const { release } = run.begin;
    const isBack = runs[at - 1]?.started.has(RETURN_STEP) === true;
    const below = stack.findLastIndex(({ begin }) => begin.release === release);
    if (below >= 0 && (isBack || below === stack.length - 1)) stack.splice(below);
    stack.push(run);
  }
  if (stack.at(-1)?.begin.release === sha256) stack.pop();
  return stack.at(-1) ?? null;
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

/**
 * A switch that began and did not end.
 *
 * @property drivenBy the release whose installer began it
 */
export type OpenSwitch = { drivenBy: string } & (
  | { kind: "return"; to: EarlierRelease | null }
  | { kind: "install"; begin: Run["begin"] }
);

/** Finds a switch that did not end. Null where nothing is open: an install that was cut before its switch waits for whoever runs it again. */
export function openSwitch(journal: Journal): OpenSwitch | null {
  const last = journal.runs.at(-1);
  if (last === undefined) return null;
  const back = lastReturn(journal);
  if (back?.isDone === false) {
    const left = journal.runs.findLast(({ started }) => started.has(RETURN_STEP));
    return { kind: "return", to: back.to, drivenBy: (left ?? last).begin.release };
  }
  if (isWhole(last) || !last.started.has(SWITCH_STEP)) return null;
  return { kind: "install", begin: last.begin, drivenBy: last.begin.release };
}

/** Takes the version from the name of a release's folder. */
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
