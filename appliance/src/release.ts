import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { reader } from "@resontech/contracts/readable";

const readManifest = reader(ReleaseManifest);

/** The release manifest that the installer kept, verified, beside the release tree. */
export function readRelease(releaseDir: string): ReleaseManifest {
  const manifest = readManifest(
    JSON.parse(readFileSync(join(releaseDir, "release-manifest.json"), "utf8")),
  );
  if (manifest === null)
    throw new Error(`${releaseDir}/release-manifest.json is no release manifest`);
  return manifest;
}

/** Version of the release that `root` holds, for `--version`; from sources there is none. */
export function versionOf(root: string): string {
  try {
    return readRelease(join(root, "current")).version;
  } catch {
    return "of a source tree";
  }
}
