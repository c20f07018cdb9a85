/**
 * Makes this host a node: verify, look at the host, lay down, join, start, try. Every step may be repeated from any point, so a second run goes
 * on after a crash and repairs what is damaged; what it makes outside its root stands in a ledger first.
 */
import { createPublicKey, hash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openRelease } from "@resontech/airgap/verify-bundle";
import { takeExclusiveLock } from "@resontech/appliance/exclusive-lock";
import { nodeConfigFile } from "@resontech/appliance/node-context";
import { ROOT, writeOwned } from "@resontech/appliance/owned-file";
import {
  hasSystemd,
  renderUnit,
  systemctl,
  unitFile,
  unitName,
} from "@resontech/appliance/systemd-unit";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { Journal } from "../journal.ts";
import { bundledTools } from "../preflight/bundled-tools.ts";
import { isEngineNewEnough } from "../preflight/checks.ts";
import { checkNode, type NodeHostFacts } from "../preflight/node-checks.ts";
import { chooseHostTools } from "../preflight/tools.ts";
import { readNodeHostFacts } from "../preflight/node-facts.ts";
import { requireFit } from "../preflight/require-fit.ts";
import { say } from "../say.ts";
import { trustFile } from "../steps/docker-trust.ts";
import { makeRoot } from "../steps/root-folder.ts";
import { askToken } from "./ask-token.ts";
import { awaitReady } from "./await-ready.ts";
import { awaitTrials } from "./await-trials.ts";
import { type WorkerRow, workerTable } from "./decisions/worker-table.ts";
import { hasJoined, isAdmitted, joinAppliance } from "./join-appliance.ts";
import type { JoinRequest } from "./join-options.ts";
import { nodeCommand } from "./node-command.ts";
import { LEAVE_SCRIPT, releaseKeyFile } from "../node-root.ts";
import { type NodeSource, openSource } from "./node-source.ts";
import { stageRelease } from "./stage-release.ts";
import { forgetUpgrade } from "./upgrade-node.ts";
import { currentRelease, switchTo } from "../steps/current-release.ts";

export type Joined = {
  node: string;
  root: string;
  /** False where it had joined before; then this run repaired, or changed nothing. */
  isNew: boolean;
  /** Files of the release that had to be fetched. */
  fetched: number;
  workers: WorkerRow[];
  /** How a host without systemd starts the node after it was booted; null where the unit does. */
  startCommand: string | null;
};

/** @returns null for a dry run @throws whatever a step throws; the same command goes on from there */
export async function joinNode(asked: JoinRequest, isDryRun: boolean): Promise<Joined | null> {
  const { root, keyPem, rootCertPem } = asked;
  using source = openSource(asked.source, rootCertPem);
  const releaseBytes = await source.read("release.json");
  const release = openRelease(releaseBytes, keyPem);
  say(`release ${release.version} of ${asked.config.appliance.name}: its signature is right`);
  say(`  root certificate  SHA-256 ${hash("sha256", rootCertPem)}`);
  say(
    `  release key       SHA-256 ${hash("sha256", keyPem)} (${createPublicKey(keyPem).asymmetricKeyType ?? ""})`,
  );

  const facts = await readNodeHostFacts(root, asked.config, release, rootCertPem);
  const request = reconcileTools(asked, release, facts);
  const { config } = request;
  const tools = { source: config.hostTools ?? "host", bundled: bundledTools(release) };
  const findings = checkNode(facts, {
    ...{ root, config, hostTools: tools.source, bundledTools: tools.bundled },
    clockFloorS: release.sourceDateEpoch,
  });
  requireFit(config.containerEngine.kind, facts, findings, tools);
  if (isDryRun) {
    say("dry run: nothing was changed");
    return null;
  }
  const isNew = !hasJoined(root);
  // Before anything is fetched: the person is still there.
  let token = isNew ? await askToken(request.tokenFile) : null;

  makeRoot(root);
  using _lock = takeExclusiveLock(join(root, "journal", "lock"), "another join, or a leave", [
    join(root, "current", "engines", "rt-lock"),
  ]);
  const journal = new Journal(root);
  const isReconfigured = writeConfig(request);
  const fetched = await layDown(isReconfigured, request, release, releaseBytes, source);
  if (config.containerEngine.kind === "docker") {
    const { name, ports } = config.appliance;
    trustFile(journal, `${name}:${ports.registry}`, rootCertPem);
  }
  journal.own("tree", join("/run/resontech", config.instance));
  if (token === null && !(await isAdmitted(root))) token = await askToken(request.tokenFile);
  if (token !== null) await joinAppliance(root, token);
  const startCommand = await start(request, journal);
  say("waiting until the appliance answers this node");
  const registered = await awaitTrials(root, await awaitReady(root, config));
  return {
    ...{ node: config.node, root, isNew: token !== null, fetched, startCommand },
    workers: workerTable(registered),
  };
}

/** Decides once whose tools the node calls, by what the host has: containers of one Podman are not another's. A host that joined before this was asked called its own. */
function reconcileTools(
  request: JoinRequest,
  release: ReleaseManifest,
  facts: NodeHostFacts,
): JoinRequest {
  const { config } = request;
  const { kind } = config.containerEngine;
  const decided = facts.joinedAs === null ? null : (facts.joinedAs.hostTools ?? "host");
  const hostTools =
    decided ??
    chooseHostTools(
      kind,
      facts.tools,
      isEngineNewEnough(kind, facts.engineVersion),
      bundledTools(release),
    );
  return { ...request, config: { ...config, hostTools } };
}

/** @returns whether an earlier run wrote another one */
function writeConfig({ root, config }: JoinRequest): boolean {
  const file = nodeConfigFile(root);
  const text = `${JSON.stringify(config, null, 2)}\n`;
  const isOther = existsSync(file) && readFileSync(file, "utf8") !== text;
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  writeOwned(file, text, ROOT, 0o644);
  return isOther;
}

/** Files of the release and of this node; one that is whole stays. @returns how many had to be fetched */
async function layDown(
  isReconfigured: boolean,
  { root, rootCertPem, keyPem }: JoinRequest,
  release: ReleaseManifest,
  statement: Uint8Array,
  source: NodeSource,
): Promise<number> {
  const { folder: releaseDir, fetched } = await stageRelease(root, release, statement, source);
  // Parts must not run on files of another release, on ones that were replaced under them, or by an older configuration.
  const isThere = existsSync(join(root, "current", "bin", "appliance-node"));
  if (isThere && (isReconfigured || fetched > 0 || currentRelease(root) !== releaseDir))
    await nodeCommand(root, ["stop"]);
  mkdirSync(join(root, "etc", "ca"), { recursive: true, mode: 0o755 });
  writeOwned(join(root, "etc", "ca", "root.crt"), rootCertPem, ROOT, 0o644);
  writeOwned(releaseKeyFile(root), keyPem, ROOT, 0o644);
  writeOwned(join(root, LEAVE_SCRIPT), leaveScript(root), ROOT, 0o755);
  forgetUpgrade(root);
  switchTo(root, releaseDir);
  return fetched;
}

function leaveScript(root: string): string {
  return `#!/bin/sh
# Takes this host away from its appliance: nothing that joining made is left. --yes does not ask.
exec ${root}/current/bin/node ${root}/current/app/installer.mjs leave --root ${root} "$@"
`;
}

/** @returns how a host without systemd starts the node */
async function start({ root, config }: JoinRequest, journal: Journal): Promise<string | null> {
  const isManaged = hasSystemd();
  if (isManaged) {
    journal.own("unit", config.instance);
    writeOwned(unitFile(config.instance), renderUnit(root, config.instance, "node"), ROOT, 0o644);
    systemctl("daemon-reload");
    systemctl("enable", unitName(config.instance));
  }
  await nodeCommand(root, ["start"]);
  return isManaged ? null : `${join(root, "current", "bin", "appliance-node")} start`;
}
