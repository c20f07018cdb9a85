import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { readLock } from "../lock/lock-file.ts";
import { SigningKey } from "../trust/signing-key.ts";
import { describeRelease } from "./describe-release.ts";
import { treeOf } from "../engines/tree-source.ts";
import { signedFiles } from "./signed-files.ts";
import { writeBundle } from "./write-bundle.ts";

/** What goes into a bundle and is there already: a folder with the release tree, and OCI layouts of its images. */
export type Packed = {
  tree: string;
  imageLayouts: readonly string[];
  keyFile: string;
  /** That of the lock unless said. */
  version?: string;
  /** What it says of its Keycloak; that of the lock unless said. */
  keycloakVersion?: string;
};

/**
 * Writes one bundle folder in the real format, signed with a development key. A release is what its tree and images say, so it may be as
 * small as a test wants.
 */
export function packBundle(
  out: string,
  { tree, imageLayouts, keyFile, version, keycloakVersion }: Packed,
): ReleaseManifest {
  const locked = readLock(false);
  const lock = { ...locked, ...(version === undefined ? {} : { version }) };
  const { release, blobs } = describeRelease({ lock, tree: treeOf(tree), imageLayouts });
  const keycloak = release.engines["keycloak"];
  if (keycloakVersion !== undefined && keycloak !== undefined)
    release.engines["keycloak"] = { ...keycloak, version: keycloakVersion };
  writeBundle(
    out,
    signedFiles(release, lock.releaseNumber, SigningKey.development(keyFile)),
    blobs,
  );
  return release;
}
