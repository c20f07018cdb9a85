import { readdirSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * Staged releases that nobody needs any more: one from whose folder something still runs is needed.
 *
 * @param kept folders of releases that stay in any case @returns names of folders
 */
export function unusedReleases(root: string, kept: readonly string[]): string[] {
  const releases = join(root, "releases");
  const stay = new Set(kept.map((folder) => basename(folder)));
  const running = runningPrograms();
  return readdirSync(releases)
    .filter((name) => !stay.has(name))
    .filter((name) => !running.some((file) => file.startsWith(`${join(releases, name)}/`)));
}

function runningPrograms(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readlinkSync(`/proc/${pid}/exe`)];
      } catch {
        return [];
      }
    });
}
