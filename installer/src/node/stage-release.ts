import { hash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT, writeOwned } from "@resontech/appliance/owned-file";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { progressBar } from "../say.ts";
import { releaseFolder } from "../steps/current-release.ts";
import { fetchRelease } from "./fetch-release.ts";
import type { NodeSource } from "./node-source.ts";

/**
 * Lays a release down beside the one that runs; a file that is whole stays.
 *
 * @param statement the bytes of `release.json` that `release` was verified from @returns its folder, and how many files had to be fetched
 * @throws SourceFailedError
 */
export async function stageRelease(
  root: string,
  release: ReleaseManifest,
  statement: Uint8Array,
  source: NodeSource,
): Promise<{ folder: string; fetched: number }> {
  const folder = releaseFolder(root, release.version, hash("sha256", statement));
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const fetched = await fetchRelease(release, source, folder, progressBar("in place"));
  writeOwned(join(folder, "release-manifest.json"), JSON.stringify(release), ROOT, 0o644);
  return { folder, fetched };
}
