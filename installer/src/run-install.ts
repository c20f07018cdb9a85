/** The journaled steps of an install, and the way back where an upgrade fails. Whoever calls holds the lock of the root. */
import type { VerifiedBundle } from "@resontech/airgap/verify-bundle";
import { Journal } from "./journal.ts";
import { digestOf, type InstallRequest } from "./request.ts";
import { say } from "./say.ts";
import { planSteps } from "./plan-steps.ts";
import { type Step, SWITCH_STEP } from "./steps/step.ts";
import { type EarlierRelease, upgradedRelease } from "./upgrade/earlier-release.ts";
import { removeOlderReleases } from "./upgrade/remove-older-releases.ts";
import { returnRelease } from "./upgrade/return-release.ts";

/** The new release did not become healthy, and the earlier one runs again. */
export class UpgradeReturnedError extends Error {
  readonly code = "upgrade_returned";
  readonly hint =
    "see above what the new release said, put that right and run the same command again";
}

/** @throws UpgradeReturnedError, or what a step throws where nothing ran before */
export async function runInstall(request: InstallRequest, bundle: VerifiedBundle): Promise<void> {
  const { root } = request;
  try {
    await runSteps(request, bundle);
  } catch (error) {
    // Read afresh: another install may have ended before this one had the lock.
    const journal = new Journal(root);
    const replaced = upgradedRelease(journal, bundle.releaseSha256);
    const last = journal.runs.at(-1);
    // From the first line of the switch on, the earlier release does not run any more.
    const isSwitching =
      last?.begin.release === bundle.releaseSha256 && last.started.has(SWITCH_STEP);
    if (replaced === null || !isSwitching) throw error;
    throw await returned(root, replaced, error);
  }
  try {
    const gone = removeOlderReleases(root);
    if (gone.length > 0) say(`removed what ran before that: ${gone.join(", ")}`);
  } catch (error) {
    // The release runs; what could not go now goes with the next one.
    say(`older releases could not be removed: ${String(error)}`);
  }
}

/** How far the journal's last run came, where it is one of this release and this configuration. */
export function progressOf(
  journal: Journal,
  request: InstallRequest,
  { releaseSha256 }: VerifiedBundle,
): { isSameRun: boolean; done: ReadonlySet<string> } {
  const { lastBegin } = journal;
  const isSameRun =
    lastBegin?.release === releaseSha256 && lastBegin.configuration === digestOf(request);
  return { isSameRun, done: isSameRun ? journal.doneSteps : new Set() };
}

/** Has the earlier release back. @returns what to throw */
async function returned(root: string, earlier: EarlierRelease, error: unknown): Promise<Error> {
  const why = error instanceof Error ? error.message : String(error);
  say(`the new release is not as it should be: ${why}`);
  say(`${earlier.version} takes its place again`);
  await returnRelease(root, earlier);
  return new UpgradeReturnedError(`${earlier.version} runs again: ${why}`, { cause: error });
}

/** Reads the journal afresh: another install may have ended since it was shown. */
async function runSteps(request: InstallRequest, bundle: VerifiedBundle): Promise<void> {
  const journal = new Journal(request.root);
  const { isSameRun, done } = progressOf(journal, request, bundle);
  if (!isSameRun)
    journal.append({
      kind: "begin",
      release: bundle.releaseSha256,
      configuration: digestOf(request),
      request,
    });
  for (const step of planSteps(request, bundle))
    if (step.always === true || !done.has(step.name)) await runStep(step, journal);
}

async function runStep(step: Step, journal: Journal): Promise<void> {
  const from = performance.now();
  say(step.title);
  journal.append({ kind: "step", step: step.name, state: "started" });
  await step.run(journal);
  journal.append({ kind: "step", step: step.name, state: "done" });
  say(`  ${((performance.now() - from) / 1_000).toFixed(1)} s`);
}
