import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Where Podman, netavark and runc write whatever they are told, file by file; folders are named after what is in them. */
const FILES = [
  "var/lib/containers/cache/blob-info-cache-v1.boltdb",
  "run/containers/networks/ipam.db",
  "run/containers/networks/aardvark.lock",
];
const FOLDERS = [
  "var/lib/containers/cache",
  "var/lib/containers",
  "run/containers/networks/aardvark-dns",
  "run/containers/networks",
  "run/containers",
  "run/runc",
  "run/netns",
];
const PROGRAM_FOLDERS = ["usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin"];

/**
 * Takes back what the bundle's container engine left outside its own folders. A host that has a Podman of its own by now keeps all of it: the two
 * share these files. A folder that somebody else uses stays.
 *
 * @param base root of the host's file system
 */
export function removeEngineTraces(base = "/"): void {
  if (PROGRAM_FOLDERS.some((folder) => isExecutable(join(base, folder, "podman")))) return;
  for (const file of FILES) rmSync(join(base, file), { force: true });
  for (const folder of FOLDERS.map((path) => join(base, path)))
    if (existsSync(folder) && readdirSync(folder).length === 0) removeFolder(folder);
}

function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    // Podman mounts /run/netns onto itself, so that what is mounted in it is seen by all.
    if (!(error instanceof Error && "code" in error && error.code === "EBUSY")) throw error;
    execFileSync("umount", [folder]);
    rmdirSync(folder);
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
