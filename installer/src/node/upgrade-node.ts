/**
 * Brings a node the release of its appliance, and the release before again where the appliance does not answer the newer one. Everything is fetched and
 * verified before anything stops. What runs in containers goes on: the agent is away for less than their lease. `upgrade.json` says how far it is, so that
 * a later run goes on from any cut.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openRelease } from "@resontech/airgap/verify-bundle";
import { AlreadyRunningError, takeExclusiveLock } from "@resontech/appliance/exclusive-lock";
import { readNodeConfig } from "@resontech/appliance/node-context";
import { nodeUpgradeFile, readNodeUpgrade } from "@resontech/appliance/node-upgrade-file";
import { ROOT, writeOwned } from "@resontech/appliance/owned-file";
import { reconcileNodeUpgrade } from "@resontech/appliance/reconcile-node-upgrade";
import { splitTrust } from "@resontech/contracts/door-authorities";
import { hash } from "node:crypto";
import { NODE_FILES_PATH } from "@resontech/contracts/node-files";
import {
  isUpgradeOpen,
  MAX_UPGRADE_WORDS,
  type NodeUpgrade,
} from "@resontech/contracts/node-upgrade";
import { releaseName } from "@resontech/contracts/release-name";
import { say } from "../say.ts";
import { currentRelease, switchTo } from "../steps/current-release.ts";
import { unusedReleases } from "../steps/unused-releases.ts";
import { awaitReady } from "./await-ready.ts";
import { NodeCommandFailedError, nodeCommand } from "./node-command.ts";
import { releaseKeyFile } from "../node-root.ts";
import { openSource } from "./node-source.ts";
import { stageRelease } from "./stage-release.ts";

/** Longest that one upgrade holds the lock: a slow fetch, a stop, a start and a return. */
const SETTLE_WITHIN_MS = 3_600_000;
const LOOK_MS = 1_000;

/** Nothing was changed; the node can't bring this release by itself. */
export class NodeNotUpgradedError extends Error {
  readonly code: string;
  readonly hint = "on the appliance: `appliance node add NODE`, and its command here";

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The release before runs again. */
export class NodeReturnedError extends Error {
  readonly code = "upgrade_returned";
  readonly hint = "read above why, put that right, and order it again: appliance node upgrade NODE";
}

export type NodeUpgradeRequest = {
  root: string;
  /** Carried out once. */
  order: string;
  /** The release that is meant. */
  release: string;
  /** Where its files are; null: at the node's appliance. */
  source: string | null;
  /** How long the appliance may take to answer a release that was started. */
  waitMs: number;
};

/** @throws AlreadyRunningError, NodeNotUpgradedError, SourceFailedError, BundleRefusedError, NodeReturnedError */
export async function upgradeNode(request: NodeUpgradeRequest): Promise<void> {
  const { root, order, release, waitMs } = request;
  using _lock = lockOf(root);
  const open = readNodeUpgrade(root);
  if (open !== null && isUpgradeOpen(open)) await finish(root, open, waitMs);
  const before = readNodeUpgrade(root);
  if (before?.order === order) return say("it was carried out before");
  const from = basename(currentRelease(root) ?? "");
  const upgrade = { order, from, to: release, failure: null };
  if (from === release) return keep(root, { ...upgrade, state: "done" });
  try {
    await stage(request);
  } catch (error) {
    keep(root, { ...upgrade, state: "failed", failure: failureOf(error) });
    throw error;
  }
  keep(root, { ...upgrade, state: "switching" });
  // Were this process killed, nobody else would start the node again.
  reconcileNodeUpgrade(root, folderOf(root, from));
  await finish(root, { ...upgrade, state: "switching" }, waitMs);
}

/** Ends what a run left open that was killed or cut; does nothing where nothing is. @throws as {@link upgradeNode} */
export async function reconcileUpgrade(root: string, waitMs: number): Promise<void> {
  for (const from = Date.now(); Date.now() - from < SETTLE_WITHIN_MS; await sleep(LOOK_MS)) {
    // Before the lock is tried: a host that has left has no folder for it any more.
    const open = readNodeUpgrade(root);
    if (open === null || !isUpgradeOpen(open)) return;
    try {
      using _lock = lockOf(root);
      const still = readNodeUpgrade(root);
      if (still === null || !isUpgradeOpen(still)) return;
      say(`the upgrade to ${still.to} goes on`);
      return await finish(root, still, waitMs);
    } catch (error) {
      if (!(error instanceof AlreadyRunningError)) throw error;
    }
  }
}

/** A join lays down what is to run, whatever was under way. */
export function forgetUpgrade(root: string): void {
  rmSync(nodeUpgradeFile(root), { force: true });
}

function lockOf(root: string): Disposable {
  return takeExclusiveLock(join(root, "journal", "lock"), "a join, a leave or another upgrade", [
    join(root, "current", "engines", "rt-lock"),
  ]);
}

/** Verified by the key that was pinned when the host joined. */
async function stage({ root, release, source: where }: NodeUpgradeRequest): Promise<void> {
  const keyFile = releaseKeyFile(root);
  if (!existsSync(keyFile))
    throw new NodeNotUpgradedError(
      "release_key_missing",
      `${keyFile} is not there: this host joined before nodes kept the key that signs releases`,
    );
  const { appliance } = readNodeConfig(root);
  const address = `https://${appliance.name}:${appliance.ports.api}${NODE_FILES_PATH}`;
  using source = openSource(where ?? address, doorsOf(root));
  const statement = await source.read("release.json");
  const manifest = openRelease(statement, readFileSync(keyFile, "utf8"));
  const name = releaseName(manifest.version, hash("sha256", statement));
  if (name !== release)
    throw new NodeNotUpgradedError(
      "release_changed",
      `the appliance gives out ${name} by now, and ${release} was meant`,
    );
  say(`release ${name}: its signature is right`);
  await stageRelease(root, manifest, statement, source);
}

/** Who vouches for the appliance's doors: as the host was told when it joined, and by the coordinator since (parts/agent/src/join/door-trust.ts). */
function doorsOf(root: string): string {
  const { root: own, doors } = splitTrust(
    readFileSync(join(root, "etc", "ca", "root.crt"), "utf8"),
  );
  const told = join(root, "data", "agent", "door-ca.crt");
  return `${own}${existsSync(told) ? readFileSync(told, "utf8") : doors}`;
}

async function finish(root: string, open: NodeUpgrade, waitMs: number): Promise<void> {
  let upgrade = open;
  if (upgrade.state === "switching")
    try {
      await run(root, upgrade.to, waitMs);
      keep(root, { ...upgrade, state: "done" });
      say(`${upgrade.to} runs, and the appliance answers it`);
      return removeOlder(root, upgrade);
    } catch (error) {
      // Before the earlier one starts: it tells the appliance why it is back.
      upgrade = { ...upgrade, state: "returning", failure: failureOf(error) };
      keep(root, upgrade);
      say(`${upgrade.failure?.message ?? ""}\n${upgrade.from} comes back`);
    }
  let words = "the appliance answers it";
  try {
    await run(root, upgrade.from, waitMs);
  } catch (error) {
    // One that can't even be started is tried again by the next run, or the next start of the host.
    if (error instanceof NodeCommandFailedError) throw error;
    words = messageOf(error);
  }
  keep(root, { ...upgrade, state: "failed" });
  throw new NodeReturnedError(`${upgrade.from} runs again; ${words}`);
}

/** Makes it the current release and starts it. @throws NodeCommandFailedError, NotReadyError */
async function run(root: string, release: string, waitMs: number): Promise<void> {
  const folder = folderOf(root, release);
  if (currentRelease(root) !== folder) {
    // The release that started a part stops it. One that can't must not keep the other from starting.
    await nodeCommand(root, ["stop"]).catch((error: unknown) => say(messageOf(error)));
    switchTo(root, folder);
  }
  await nodeCommand(root, ["start"]);
  say(`${release} was started; waiting until the appliance answers it`);
  await awaitReady(root, readNodeConfig(root), waitMs);
}

/** The one before stays, for the way back. What can't go now goes with the next upgrade. */
function removeOlder(root: string, { from, to }: NodeUpgrade): void {
  try {
    const gone = unusedReleases(root, [from, to]);
    for (const name of gone) rmSync(folderOf(root, name), { recursive: true, force: true });
    if (gone.length > 0) say(`removed what ran before that: ${gone.join(", ")}`);
  } catch (error) {
    say(`older releases could not be removed: ${messageOf(error)}`);
  }
}

const folderOf = (root: string, release: string): string => join(root, "releases", release);

function keep(root: string, upgrade: NodeUpgrade): void {
  writeOwned(nodeUpgradeFile(root), `${JSON.stringify(upgrade)}\n`, ROOT, 0o600);
}

function failureOf(error: unknown): NonNullable<NodeUpgrade["failure"]> {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return {
    code: /^[a-z0-9_]{1,64}$/.test(code) ? code : "failed",
    message: messageOf(error)
      .replaceAll(/\p{Cc}+\s*/gu, " | ")
      .slice(0, MAX_UPGRADE_WORDS),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
