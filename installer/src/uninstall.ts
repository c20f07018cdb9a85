/**
 * Takes back everything that the install made: parts, containers, mounts, networks, firewall, and then what the ledger names, newest first.
 * It may be broken off and repeated: what it needs to know stands in the journal, and the journal goes last.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { takeExclusiveLock } from "@resontech/appliance/exclusive-lock";
import { linkHostTools, unlinkHostTools } from "@resontech/appliance/link-host-tools";
import { toolsEnvironment } from "@resontech/appliance/tools-environment";
import {
  isManagedBySystemd,
  systemctl,
  unitFile,
  unitName,
} from "@resontech/appliance/systemd-unit";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { confirm } from "./confirm.ts";
import { Journal, journalFile, type Owned } from "./journal.ts";
import { removeEngineTraces } from "./remove-engine-traces.ts";
import { removeContainers } from "./remove-containers.ts";
import { say } from "./say.ts";
import { applianceCommand } from "./steps/appliance-command.ts";
import { discardHalfMade, removeRoot, ROOT_ENTRIES } from "./steps/root-folder.ts";

/** The folder is no install of ours; nothing in it is touched. */
export class NotInstalledError extends Error {
  readonly code = "not_installed";
  readonly hint = "name the install root with --root";
}

/** All files are gone, but something else may be left; each was shown. */
export class UninstallIncompleteError extends Error {
  readonly code = "uninstall_incomplete";
  readonly hint = "end or remove by hand what is named above; everything else is gone";
}

/** @throws NotInstalledError, NotConfirmedError, AlreadyRunningError, ApplianceFailedError, UninstallIncompleteError */
export async function uninstall(root: string, mode: { yes: boolean }): Promise<void> {
  if (!existsSync(journalFile(root))) {
    if (!discardHalfMade(root))
      throw new NotInstalledError(`${root} has no journal of an install; nothing was touched`);
    say("nothing is left");
    return;
  }
  if (!mode.yes) {
    const typed = new RegExp(`^${root.replaceAll(".", "\\.")}$`);
    await confirm(
      `remove ${root} with all its data and its audit log? Type the folder's name to agree: `,
      typed,
    );
  }
  using _lock = takeExclusiveLock(
    join(root, "journal", "lock"),
    "an install or another uninstall",
    [join(root, "current", "engines", "rt-lock")],
  );
  const { owned, requests, passedOver } = new Journal(root);
  if (passedOver.length > 0)
    say(
      `the journal has ${passedOver.length} lines of a newer release; what these made outside ${root} may stay`,
    );
  if (existsSync(join(root, "current"))) {
    say("stopping every part");
    await applianceCommand(root, ["stop"]);
  }
  const release = join(root, "current");
  const problems = distinct(requests.map(({ config }) => config)).flatMap((config) =>
    takeDown(root, release, config),
  );

  say(`removing ${root}`);
  // `current` first: what is half removed must not be started.
  for (const entry of ["current", ...ROOT_ENTRIES])
    if (entry !== "journal") rmSync(join(root, entry), { recursive: true, force: true });
  for (const line of owned) if (line.what !== "folder") takeBack(line);
  unlinkHostTools(root);
  removeIfEmpty("/run/resontech");
  const folders = owned.flatMap(({ what, path }) => (what === "folder" ? [path] : []));
  for (const folder of folders) removeIfEmpty(folder);
  removeRoot(root, new Set(folders));
  const stays = existsSync(root) ? readdirSync(root) : [];
  if (stays.length > 0)
    say(`${root} holds files that the install did not make, which stay: ${stays.join(", ")}`);
  if (problems.length > 0)
    throw new UninstallIncompleteError(`not everything could be ended: ${problems.join("; ")}`);
  if (stays.length === 0) say("nothing is left");
}

/** An install that was begun again with other choices may have left something of the first. */
function distinct(configs: readonly ApplianceConfig[]): readonly ApplianceConfig[] {
  return [...new Map(configs.map((config) => [JSON.stringify(config), config])).values()];
}

/** Ends what is no file. @returns what could not be ended */
function takeDown(root: string, release: string, config: ApplianceConfig): string[] {
  const env = toolsEnvironment(config, release);
  Object.assign(process.env, env);
  if (config.hostTools === "bundle" && existsSync(release)) linkHostTools(release, config.instance);
  const problems = removeContainers(root, config, env);
  for (const folder of [root, join("/run/resontech", config.instance)]) unmountBelow(folder);
  dropFirewall(config.instance);
  if (config.hostTools === "bundle") removeEngineTraces();
  return problems;
}

function takeBack({ what, path }: Owned): void {
  switch (what) {
    case "unit":
      if (isManagedBySystemd(path)) systemctl("disable", "--now", unitName(path));
      removeFile(unitFile(path));
      if (existsSync("/run/systemd/system")) systemctl("daemon-reload");
      return;
    case "file":
      removeFile(path);
      return;
    case "tree":
      rmSync(path, { recursive: true, force: true });
      return;
    case "folder":
      removeIfEmpty(path);
  }
}

/** With what a write that was cut left beside it. */
function removeFile(file: string): void {
  for (const path of [file, `${file}.part`]) rmSync(path, { force: true });
}

/** A folder that somebody else uses by now is not ours to remove. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (
      !(
        error instanceof Error &&
        "code" in error &&
        ["ENOENT", "ENOTEMPTY", "EBUSY"].includes(String(error.code))
      )
    )
      throw error;
  }
}

function unmountBelow(folder: string): void {
  const points = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => unescape(line.split(" ")[1] ?? ""))
    .filter((point) => point.startsWith(`${folder}/`))
    .sort()
    .reverse();
  for (const point of points) execFileSync("umount", ["--detach-loop", point]);
}

/** The kernel writes blank, tab, line break and backslash as three octal digits. */
function unescape(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCodePoint(Number.parseInt(octal, 8)),
  );
}

function dropFirewall(instance: string): void {
  try {
    execFileSync("nft", ["delete", "table", "inet", `resontech-${instance}`], { stdio: "ignore" });
  } catch {
    // There was none: no job has run here.
  }
}
