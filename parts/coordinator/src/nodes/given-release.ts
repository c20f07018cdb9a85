import { hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SIGNED_FOLDER } from "@resontech/contracts/node-files";
import { reader } from "@resontech/contracts/readable";
import { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { releaseName } from "@resontech/contracts/release-name";

const readManifest = reader(ReleaseManifest);

/** The release that this appliance runs and gives out to its nodes; null where it keeps nothing that a node verifies it by. */
export function givenRelease(releaseDir: string): string | null {
  const statement = join(releaseDir, SIGNED_FOLDER, "release.json");
  if (!existsSync(statement)) return null;
  const manifest = readManifest(
    JSON.parse(readFileSync(join(releaseDir, "release-manifest.json"), "utf8")),
  );
  return manifest === null
    ? null
    : releaseName(manifest.version, hash("sha256", readFileSync(statement)));
}
