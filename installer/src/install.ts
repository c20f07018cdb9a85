/** Verify, preflight, plan, then journaled steps. Nothing on the host changes before the plan was shown and agreed to. */
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { verifyBundle, type VerifiedBundle } from "@resontech/airgap/verify-bundle";
import { databaseBytes } from "@resontech/appliance/kept-database";
import { takeExclusiveLock } from "@resontech/appliance/exclusive-lock";
import { MAX_MAINTENANCE_S } from "@resontech/contracts/operator-appliance";
import { confirm } from "@resontech/cli/confirm";
import { Journal } from "./journal.ts";
import { bundledTools } from "./preflight/bundled-tools.ts";
import {
  check,
  describeRoom,
  describeLogReserve,
  type Disk,
  type HostFacts,
} from "./preflight/checks.ts";
import { immutableChange } from "./preflight/immutable-change.ts";
import { readHostFacts, useByAppliance } from "./preflight/host-facts.ts";
import { requireFit } from "./preflight/require-fit.ts";
import type { InstallRequest } from "./request.ts";
import { progressOf, runInstall } from "./run-install.ts";
import { progressBar, say } from "./say.ts";
import { reconcileHostTools } from "./reconcile-host-tools.ts";
import { readStagedRelease } from "./steps/current-release.ts";
import { planSteps } from "./plan-steps.ts";
import { makeRoot, rootState } from "./steps/root-folder.ts";
import type { Step } from "./steps/step.ts";
import { MAX_SWITCH_S } from "./upgrade/decisions/switch-limits.ts";
import { describePlan, planUpgrade } from "./upgrade/decisions/upgrade-plan.ts";
import { type EarlierRelease, upgradedRelease } from "./upgrade/earlier-release.ts";
import { describeLostData } from "./upgrade/decisions/lost-data.ts";
import { peopleWhoLoseData } from "./upgrade/people-who-lose-data.ts";
import { requireUpgrade, type UpgradeMode } from "./upgrade/require-upgrade.ts";

const LOCK_HELPER = "engines/rt-lock";

export type InstallMode = UpgradeMode & { yes: boolean; dryRun: boolean };

export async function install(asked: InstallRequest, mode: InstallMode): Promise<void> {
  await installVerified(asked, await verify(asked, mode), mode);
}

/** @param bundle of what was asked for; nothing of it is verified again */
export async function installVerified(
  asked: InstallRequest,
  bundle: VerifiedBundle,
  mode: InstallMode,
): Promise<void> {
  const startedAt = performance.now();
  const { root } = asked;
  const facts = await readHostFacts(root, useByAppliance(root, asked.config, bundle.release));
  const request = reconcileHostTools(asked, bundle.release, facts);
  const steps = planSteps(request, bundle);
  const journal = new Journal(root);
  const { done } = progressOf(journal, request, bundle);
  const earlier = upgradedRelease(journal, bundle.releaseSha256);
  if (earlier !== null) requireUpgrade(earlier, bundle, request.keyPem, mode);
  const isComplete = rootState(root) === "ours" && steps.every((step) => done.has(step.name));

  if (!isComplete) runPreflight(request, bundle, facts);
  say(`plan: ${bundle.release.version} → ${root}`);
  if (!isComplete && earlier !== null) showUpgrade(earlier, bundle, root, journal);
  if (earlier === null && !isComplete) showRoom(facts);
  showSteps(steps, done);
  if (mode.dryRun) {
    say("dry run: nothing was changed");
    return;
  }
  if (!isComplete && !mode.yes) await confirm("go on? [y/N] ", /^y(es)?$/i);

  makeRoot(root);
  using _lock = takeExclusiveLock(join(root, "journal", "lock"), "another install or uninstall", [
    lockHelper(bundle),
  ]);
  await runInstall(request, bundle);
  say(`installed ${bundle.release.version} below ${root} in ${secondsSince(startedAt)} s`);
  say(
    `  sign in: https://${request.config.name}:${request.config.ports.api}/ (name and first password: ${join(root, "data/credentials.txt")})`,
  );
  say(`  status: ${join(root, "current/bin/appliance")} status`);
}

/** Blobs that are in the appliance's own store were verified on their way in and are not read again; who asks about the medium has all of it read. */
async function verify(
  { bundle, keyPem, root }: InstallRequest,
  { dryRun }: InstallMode,
): Promise<VerifiedBundle> {
  say(`verifying ${bundle}`);
  const verified = await verifyBundle(bundle, {
    publicKeyPem: keyPem,
    ...(rootState(root) === "ours" ? { store: join(root, "blobs", "sha256") } : {}),
    isMediumAsked: dryRun,
    onProgress: progressBar("verified"),
  });
  const { release, bytes, readBytes } = verified;
  const mb = (of: number): string => `${(of / 1e6).toFixed(0)} MB`;
  say(
    `  release ${release.version}, ${release.blobs.length} blobs, ${mb(bytes)}: signatures and bytes are right${
      readBytes < bytes ? `; ${mb(bytes - readBytes)} of them lie here already` : ""
    }`,
  );
  return verified;
}

/** Finds the helper on the medium; empty where nothing may run from there: then the host's own does it. */
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

function showUpgrade(
  earlier: EarlierRelease,
  { release }: VerifiedBundle,
  root: string,
  { stepMs }: Journal,
): void {
  const store = join(root, "blobs", "sha256");
  const plan = planUpgrade(readStagedRelease(earlier.folder), release, {
    isStored: (sha256) => existsSync(join(store, sha256)),
    databaseBytes: databaseBytes(root),
  });
  say(`  upgrade of ${earlier.version}; running jobs go on`);
  for (const line of describePlan(plan, stepMs.get("start") ?? null)) say(`  ${line}`);
  for (const line of lostData(root)) say(`  ${line}`);
  say("  a release that does not become healthy is replaced by the earlier one at once;");
  say(
    `  at most ${MAX_SWITCH_S} s from stop to return, and leases of jobs last ${MAX_MAINTENANCE_S} s`,
  );
  say("  afterwards `appliance rollback` returns to the earlier one");
}

function showRoom({ disks }: HostFacts): void {
  const [root] = disks as [Disk, ...Disk[]];
  const { path, logReserveBytes } = root;
  say(`  disk of ${path}: ${describeRoom(root)}`);
  if (logReserveBytes !== null) say(`  there ${describeLogReserve(logReserveBytes)}`);
}

/** A database that can't be read keeps no upgrade waiting: the plan says so. */
function lostData(root: string): string[] {
  try {
    return describeLostData(
      peopleWhoLoseData(join(root, "data", "coordinator", "coordinator.db")) ?? [],
    );
  } catch (error) {
    return [`people: whose keys lose data could not be read: ${String(error)}`];
  }
}

function showSteps(steps: readonly Step[], done: ReadonlySet<string>): void {
  for (const [index, step] of steps.entries())
    say(
      `  ${index === steps.length - 1 ? "└" : "├"}─ ${step.title}${done.has(step.name) ? " (done)" : ""}`,
    );
}

function secondsSince(fromMs: number): string {
  return ((performance.now() - fromMs) / 1000).toFixed(1);
}
