/** Takes back everything that the install made: parts, containers, mounts, networks, sockets, unit, files. Safe to repeat. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { Journal } from "./journal.ts";
import { say } from "./say.ts";
import { applianceCommand } from "./steps/appliance-command.ts";
import { removeUnit } from "./steps/systemd-unit.ts";

/** The folder is no install of ours; nothing in it is touched. */
export class NotInstalledError extends Error {
  readonly code = "not_installed";
}

export async function uninstall(rootFlag: string, yes: boolean): Promise<void> {
  const root = resolve(rootFlag);
  const journal = new Journal(root);
  if (journal.lastBegin === null) throw new NotInstalledError(`${root} has no journal of an install; nothing was touched`);
  if (!yes) {
    if (!process.stdin.isTTY) throw new Error(`this removes ${root} with all data and the audit log: add --yes to agree`);
    const prompt = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await prompt.question(`remove ${root} with all its data and its audit log? Type the folder's name to agree: `);
    prompt.close();
    if (answer.trim() !== root) throw new Error("not agreed to; nothing was touched");
  }
  const instance = instanceOf(root);
  for (const line of journal.lines.toReversed()) if (line.kind === "owns" && line.what === "unit") removeUnit(line.path);
  if (existsSync(join(root, "current"))) {
    say("stopping every part");
    await applianceCommand(root, ["stop"]);
  }
  endContainers(root, instance);
  unmountBelow(root);
  unmountBelow(join("/run/resontech", instance));
  dropFirewall(instance);
  say(`removing ${root}`);
  rmSync(join("/run/resontech", instance), { recursive: true, force: true });
  // The journal goes last: an uninstall that is broken off can be repeated.
  for (const part of ["current", "releases", "blobs", "data", "log", "etc"])
    rmSync(join(root, part), { recursive: true, force: true });
  rmSync(root, { recursive: true, force: true });
  say("nothing is left");
}

function instanceOf(root: string): string {
  const file = join(root, "etc", "appliance.json");
  if (!existsSync(file)) return "default";
  const config: unknown = JSON.parse(readFileSync(file, "utf8"));
  return typeof config === "object" && config !== null && "instance" in config ? String(config.instance) : "default";
}

/** Job containers outlive the engine's service; their monitors are known by the root in their arguments. */
function endContainers(root: string, instance: string): void {
  const storage = join(root, "data", "podman", "storage");
  if (!existsSync(storage)) return;
  const env = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: join(root, "data", "podman", "home"),
    XDG_RUNTIME_DIR: join("/run/resontech", instance, "podman"),
    CONTAINERS_CONF: join(root, "data", "podman", "containers.conf"),
    CONTAINERS_STORAGE_CONF: join(root, "data", "podman", "storage.conf"),
    CONTAINERS_REGISTRIES_CONF: join(root, "data", "podman", "registries.conf"),
  };
  for (const args of [
    ["rm", "--all", "--force", "--time=5"],
    ["network", "prune", "--force"],
  ]) {
    try {
      execFileSync("podman", args, { env, stdio: "ignore", timeout: 120_000 });
    } catch (error) {
      say(`  podman ${args[0] ?? ""}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

function unmountBelow(folder: string): void {
  const points = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => (line.split(" ")[1] ?? "").replaceAll("\\040", " "))
    .filter((point) => point.startsWith(`${folder}/`))
    .sort()
    .reverse();
  for (const point of points) execFileSync("umount", ["--detach-loop", point]);
}

function dropFirewall(instance: string): void {
  try {
    execFileSync("nft", ["delete", "table", "inet", `resontech-${instance}`], { stdio: "ignore" });
  } catch {
    // There was none: no job has run here.
  }
}
