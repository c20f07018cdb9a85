import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Made with a file system, and no file of anybody. */
const OF_THE_DISK: ReadonlySet<string> = new Set(["lost+found"]);

/** Removes a file or a folder with all that is in it; a disk that is mounted in it, or on it, is emptied and stays. */
export function removeBesideDisks(path: string, disks: readonly string[]): void {
  const isDisk = disks.includes(path);
  const holdsDisk = disks.some((disk) => disk.startsWith(`${path}/`));
  if (!isDisk && !holdsDisk) return rmSync(path, { recursive: true, force: true });
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of readdirSync(path))
    if (!isDisk || !OF_THE_DISK.has(name)) removeBesideDisks(join(path, name), disks);
}
