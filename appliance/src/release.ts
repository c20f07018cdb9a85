import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { Value } from "typebox/value";

/** The release manifest that the installer kept, verified, beside the release tree. */
export function readRelease(releaseDir: string): ReleaseManifest {
  const value: unknown = JSON.parse(readFileSync(join(releaseDir, "release-manifest.json"), "utf8"));
  if (!Value.Check(ReleaseManifest, value)) throw new Error(`${releaseDir}/release-manifest.json is no release manifest`);
  return value;
}

/** Version of the release that `root` holds, for `--version`; from sources there is none. */
export function versionOf(root: string): string {
  try {
    return readRelease(join(root, "current")).version;
  } catch {
    return "of a source tree";
  }
}
