import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { syncNow } from "@resontech/frame/durable-file-now";
import { Journal } from "../journal.ts";
import { currentRelease, readStagedRelease } from "../steps/current-release.ts";
import { unusedReleases } from "../steps/unused-releases.ts";
import { earlierRelease } from "./earlier-release.ts";

/**
 * Removes every release but the one that runs and the one before it, with the files that no other needs. One from whose folder something still runs stays
 * until the next upgrade. Images stay in the registry: jobs and deployments may run them, however old.
 *
 * @returns the names of the folders that went
 */
export function removeOlderReleases(root: string): string[] {
  const journal = new Journal(root);
  const [current, { lastBegin }] = [currentRelease(root), journal];
  if (current === null || lastBegin === null) return [];
  const releases = join(root, "releases");
  const before = earlierRelease(journal, lastBegin.release)?.folder;
  const gone = unusedReleases(root, before === undefined ? [current] : [current, before]);
  const stay = readdirSync(releases).filter((name) => !gone.includes(name));
  const needed = new Set(stay.flatMap((name) => blobsOf(join(releases, name))));
  for (const name of gone) {
    const unneeded = filesOf(join(releases, name)).filter((sha256) => !needed.has(sha256));
    for (const sha256 of unneeded) rmSync(join(root, "blobs", "sha256", sha256), { force: true });
    rmSync(join(releases, name), { recursive: true, force: true });
  }
  syncNow(releases);
  return gone;
}

/** Lists the digests of a release's tree alone: what its images are made of lies in the registry as well, and costs nothing here. */
function filesOf(folder: string): string[] {
  try {
    return readStagedRelease(folder).tree.map(({ sha256 }) => sha256);
  } catch {
    // Half staged, or half removed by an earlier run: its files are found again with the next release that has them.
    return [];
  }
}

function blobsOf(folder: string): string[] {
  return readStagedRelease(folder).blobs.map(({ sha256 }) => sha256);
}
