/** Whether a bundle may take the place of the release that runs. */
import { createHash, createPublicKey } from "node:crypto";
import type { VerifiedBundle } from "@resontech/airgap/verify-bundle";
import { compareVersions, isInRanges } from "./decisions/release-order.ts";
import type { EarlierRelease } from "./earlier-release.ts";

/**
 * @property allowOlder a release that is older than the installed one, or not made to follow it, is meant
 * @property trustKey SHA-256 of the vendor's new public key (SPKI, hex), had on another channel
 */
export type UpgradeMode = { allowOlder: boolean; trustKey?: string };

/** The bundle has an older release than the one that runs. */
export class ReleaseOlderError extends Error {
  readonly code = "release_older";
  readonly hint =
    "take a newer bundle; `appliance rollback` returns to the release before; --allow-older installs this one";
}

/** The release was not made to follow the one that runs. */
export class UpgradePathMissingError extends Error {
  readonly code = "upgrade_path_missing";
  readonly hint =
    "install a release between them first; ask the vendor which; --allow-older goes on all the same";
}

/** Another key has signed this bundle than the one that runs. */
export class SigningKeyChangedError extends Error {
  readonly code = "signing_key_changed";
  readonly hint =
    "ask the vendor on another channel for the SHA-256 of the new key, and give it with --trust-key";
}

/** @throws ReleaseOlderError, UpgradePathMissingError, SigningKeyChangedError */
export function requireUpgrade(
  earlier: EarlierRelease,
  { release: { version, upgradeFrom } }: VerifiedBundle,
  keyPem: string,
  { allowOlder, trustKey }: UpgradeMode,
): void {
  const [found, known] = [fingerprintOf(keyPem), fingerprintOf(earlier.request.keyPem)];
  if (found !== known && found !== trustKey?.toLowerCase())
    throw new SigningKeyChangedError(
      `the key of this bundle has the SHA-256 ${found}, that of the installed release ${known}; nothing was changed`,
    );
  if (allowOlder) return;
  if (compareVersions(version, earlier.version) < 0)
    throw new ReleaseOlderError(
      `the bundle has ${version}, and ${earlier.version} is installed; nothing was changed`,
    );
  if (!isInRanges(earlier.version, upgradeFrom))
    throw new UpgradePathMissingError(
      `${version} follows ${upgradeFrom.join(" or ") || "no release"}, and ${earlier.version} is installed; nothing was changed`,
    );
}

function fingerprintOf(pem: string): string {
  const der = createPublicKey(pem).export({ type: "spki", format: "der" });
  return createHash("sha256").update(der).digest("hex");
}
