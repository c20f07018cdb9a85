/** The way back of an install of either kind: what is no file, its files, and what it made elsewhere on the host. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  isManagedBySystemd,
  systemctl,
  unitFile,
  unitName,
} from "@resontech/appliance/systemd-unit";
import { linkHostTools, unlinkHostTools } from "@resontech/appliance/link-host-tools";
import { unmountAll, unmountBelow } from "@resontech/frame/unmount-below";
import { toolsEnvironment } from "@resontech/appliance/tools-environment";
import type { Owned } from "./journal.ts";
import { readMounts } from "./mounts/foreign-mounts.ts";
import { removeBesideDisks } from "./mounts/remove-beside-disks.ts";
import { removeEngineTraces } from "./remove-engine-traces.ts";
import { endMonitors } from "./end-monitors.ts";
import { type EngineUse, removeContainers } from "./remove-containers.ts";
import { say } from "./say.ts";
import { removeRoot } from "./steps/root-folder.ts";

/** All files are gone, but something else may be left; each was shown. */
export class UninstallIncompleteError extends Error {
  readonly code = "uninstall_incomplete";
  readonly hint = "end or remove by hand what is named above; everything else is gone";
}

/** Ends what is no file. @param entries what an install of this kind makes directly below its root @returns what could not be ended */
export function takeDown(root: string, use: EngineUse, entries: readonly string[]): string[] {
  const release = join(root, "current");
  const tools = toolsEnvironment(use, release);
  Object.assign(process.env, tools);
  if (use.hostTools === "bundle" && existsSync(release)) linkHostTools(release, use.instance);
  const problems = removeContainers(root, use, tools);
  const run = join("/run/resontech", use.instance);
  for (const folder of [root, run]) endMonitors(folder);
  unmountAll(readMounts(root, entries).own);
  unmountBelow(run);
  dropFirewall(use.instance);
  if (use.hostTools === "bundle") removeEngineTraces();
  return problems;
}

/**
 * Removes the files of an install, and then what its ledger names, newest first.
 *
 * @param entries what an install of this kind makes directly below its root
 * @param problems what could not be ended
 * @throws UninstallIncompleteError
 */
export function removeInstall(
  root: string,
  entries: readonly string[],
  owned: readonly Owned[],
  problems: readonly string[],
): void {
  say(`removing ${root}`);
  // `current` first: what is half removed must not be started.
  const { disks } = readMounts(root, entries);
  for (const entry of ["current", ...entries])
    if (entry !== "journal") removeBesideDisks(join(root, entry), disks);
  for (const disk of disks) say(`${disk} is a disk of its own: it is empty, and stays mounted`);
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

/** Removes a file, with what a write that was cut left beside it. */
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

function dropFirewall(instance: string): void {
  try {
    execFileSync("nft", ["delete", "table", "inet", `resontech-${instance}`], { stdio: "ignore" });
  } catch {
    // There was none: no job has run here.
  }
}
