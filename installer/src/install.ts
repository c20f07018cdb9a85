/** Verify, preflight, plan, then journaled steps. Nothing on the host changes before the plan was shown and agreed to. */
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { verifyBundle, type VerifiedBundle } from "@resontech/airgap/verify-bundle";
import { takeExclusiveLock } from "@resontech/appliance/exclusive-lock";
import { confirm } from "@resontech/cli/confirm";
import { Journal } from "./journal.ts";
import { bundledTools } from "./preflight/bundled-tools.ts";
import { check, type HostFacts } from "./preflight/checks.ts";
import { immutableChange } from "./preflight/immutable-change.ts";
import { readHostFacts, useByAppliance } from "./preflight/host-facts.ts";
import { requireFit } from "./preflight/require-fit.ts";
import { digestOf, type InstallRequest } from "./request.ts";
import { progressBar, say } from "./say.ts";
import { settleHostTools } from "./settle-host-tools.ts";
import { currentRelease, releaseFolder } from "./steps/current-release.ts";
import { planSteps } from "./steps/plan-steps.ts";
import { makeRoot, rootState } from "./steps/root-folder.ts";
import type { Step } from "./steps/step.ts";
import { compareVersions } from "./upgrade/decisions/release-order.ts";
import { type EarlierRelease, upgradedRelease } from "./upgrade/earlier-release.ts";
import { returnRelease } from "./upgrade/return-release.ts";

const LOCK_HELPER = "engines/rt-lock";

/** @property allowOlder a release that is older than the installed one is meant */
export type InstallMode = { yes: boolean; dryRun: boolean; allowOlder: boolean };

/** The bundle has an older release than the one that runs. */
export class ReleaseOlderError extends Error {
  readonly code = "release_older";
  readonly hint =
    "take a newer bundle; `appliance rollback` returns to the release before; --allow-older installs this one";
}

/** The new release did not become healthy, and the earlier one runs again. */
export class UpgradeReturnedError extends Error {
  readonly code = "upgrade_returned";
  readonly hint =
    "see above what the new release said, put that right and run the same command again";
}

export async function install(asked: InstallRequest, mode: InstallMode): Promise<void> {
  const startedAt = performance.now();
  const { root } = asked;
  const bundle = await verify(asked);
  const facts = await readHostFacts(root, useByAppliance(root, asked.config, bundle.release));
  const request = settleHostTools(asked, bundle.release, facts);
  const steps = planSteps(request, bundle);
  const journal = new Journal(root);
  const { done } = progressOf(journal, request, bundle);
  const earlier = upgradedRelease(journal, bundle.releaseSha256);
  requireNewer(earlier, bundle, mode);
  const isComplete = rootState(root) === "ours" && steps.every((step) => done.has(step.name));

  if (!isComplete) runPreflight(request, bundle, facts);
  showPlan(steps, done, root, bundle, isComplete ? null : earlier);
  if (mode.dryRun) {
    say("dry run: nothing was changed");
    return;
  }
  if (!isComplete && !mode.yes) await confirm("go on? [y/N] ", /^y(es)?$/i);

  makeRoot(root);
  using _lock = takeExclusiveLock(join(root, "journal", "lock"), "another install or uninstall", [
    lockHelper(bundle),
  ]);
  try {
    await runSteps(steps, request, bundle);
  } catch (error) {
    const isSwitched =
      currentRelease(root) === releaseFolder(root, bundle.release.version, bundle.releaseSha256);
    // Read afresh: another install may have ended before this one had the lock.
    const replaced = upgradedRelease(new Journal(root), bundle.releaseSha256);
    if (replaced === null || !isSwitched) throw error;
    throw await returned(root, replaced, error);
  }
  say(`installed ${bundle.release.version} below ${root} in ${secondsSince(startedAt)} s`);
  say(
    `  sign in: https://${request.config.name}:${request.config.ports.api}/ (name and first password: ${join(root, "data/credentials.txt")})`,
  );
  say(`  status: ${join(root, "current/bin/appliance")} status`);
}

/** @throws ReleaseOlderError */
function requireNewer(
  earlier: EarlierRelease | null,
  { release }: VerifiedBundle,
  { allowOlder }: InstallMode,
): void {
  if (earlier === null || allowOlder || compareVersions(release.version, earlier.version) >= 0)
    return;
  throw new ReleaseOlderError(
    `the bundle has ${release.version}, and ${earlier.version} is installed; nothing was changed`,
  );
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
async function runSteps(
  steps: readonly Step[],
  request: InstallRequest,
  bundle: VerifiedBundle,
): Promise<void> {
  const journal = new Journal(request.root);
  const { isSameRun, done } = progressOf(journal, request, bundle);
  if (!isSameRun)
    journal.append({
      kind: "begin",
      release: bundle.releaseSha256,
      configuration: digestOf(request),
      request,
    });
  for (const step of steps)
    if (step.always === true || !done.has(step.name)) await runStep(step, journal);
}

function progressOf(
  journal: Journal,
  request: InstallRequest,
  { releaseSha256 }: VerifiedBundle,
): { isSameRun: boolean; done: ReadonlySet<string> } {
  const { lastBegin } = journal;
  const isSameRun =
    lastBegin?.release === releaseSha256 && lastBegin.configuration === digestOf(request);
  return { isSameRun, done: isSameRun ? journal.doneSteps : new Set() };
}

async function runStep(step: Step, journal: Journal): Promise<void> {
  const from = performance.now();
  say(step.title);
  journal.append({ kind: "step", step: step.name, state: "started" });
  await step.run(journal);
  journal.append({ kind: "step", step: step.name, state: "done" });
  say(`  ${secondsSince(from)} s`);
}

/** Blobs that are in the appliance's own store were verified on their way in and are not read again. */
async function verify({ bundle, keyPem, root }: InstallRequest): Promise<VerifiedBundle> {
  say(`verifying ${bundle}`);
  const verified = await verifyBundle(bundle, {
    publicKeyPem: keyPem,
    ...(rootState(root) === "ours" ? { store: join(root, "blobs", "sha256") } : {}),
    onProgress: progressBar("verified"),
  });
  const { release, bytes } = verified;
  say(
    `  release ${release.version}, ${release.blobs.length} blobs, ${(bytes / 1e6).toFixed(0)} MB: signatures and bytes are right`,
  );
  return verified;
}

/** On a medium from which nothing may run, the host's own does it. */
function lockHelper({ directory, release }: VerifiedBundle): string {
  const file = release.tree.find(({ path }) => path === LOCK_HELPER);
  const blob = join(directory, "blobs", "sha256", file?.sha256 ?? "none");
  try {
    accessSync(blob, constants.X_OK);
    return blob;
  } catch {
    return "";
  }
}

function runPreflight(
  { root, config }: InstallRequest,
  { release }: VerifiedBundle,
  facts: HostFacts,
): void {
  const tools = { source: config.hostTools ?? "host", bundled: bundledTools(release) };
  const installed = join(root, "etc", "appliance.json");
  const findings = [
    ...check(facts, {
      root,
      config,
      hostTools: tools.source,
      bundledTools: tools.bundled,
      clockFloorS: release.sourceDateEpoch,
    }),
    ...(existsSync(installed)
      ? immutableChange(JSON.parse(readFileSync(installed, "utf8")), config)
      : []),
  ];
  requireFit(config.containerEngine.kind, facts, findings, tools);
}

function showPlan(
  steps: readonly Step[],
  done: ReadonlySet<string>,
  root: string,
  { release }: VerifiedBundle,
  earlier: EarlierRelease | null,
): void {
  say(`plan: ${release.version} → ${root}`);
  if (earlier !== null) {
    say(`  upgrade of ${earlier.version}: every part starts anew, and running jobs go on`);
    say("  a release that does not become healthy is replaced by the earlier one at once");
    say("  afterwards `appliance rollback` returns to the earlier one");
  }
  for (const [index, step] of steps.entries())
    say(
      `  ${index === steps.length - 1 ? "└" : "├"}─ ${step.title}${done.has(step.name) ? " (done)" : ""}`,
    );
}

function secondsSince(fromMs: number): string {
  return ((performance.now() - fromMs) / 1000).toFixed(1);
}
