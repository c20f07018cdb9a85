import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  BundleRefusedError,
  openRelease,
  type VerifiedBundle,
} from "@resontech/airgap/verify-bundle";
import { SIGNED_FOLDER } from "@resontech/contracts/node-files";
import type { InstallRequest } from "../request.ts";

/**
 * A staged release as the bundle that it came from: its blobs lie in the appliance's own store, which takes verified ones alone. No medium is needed.
 *
 * @param folder of the release
 * @throws BundleRefusedError where its statement is not signed by the key of the install, or a blob is not there
 */
export function openStagedBundle({ root, keyPem }: InstallRequest, folder: string): VerifiedBundle {
  const signed = (name: string): Buffer => readFileSync(join(folder, SIGNED_FOLDER, name));
  const statement = signed("release.json");
  const release = openRelease(statement, keyPem);
  for (const { sha256, sizeBytes } of release.blobs) {
    const name = join("blobs", "sha256", sha256);
    if (lstatSync(join(root, name), { throwIfNoEntry: false })?.size !== sizeBytes)
      throw new BundleRefusedError(name, "it is not in the store of the appliance");
  }
  return {
    ...{ directory: root, release },
    releaseSha256: createHash("sha256").update(statement).digest("hex"),
    bytes: release.blobs.reduce((sum, blob) => sum + blob.sizeBytes, 0),
    readBytes: 0,
    signed: {
      "boot.sums": signed("boot.sums"),
      "boot.sums.sig": signed("boot.sums.sig"),
      "release.json": statement,
    },
  };
}
