/** How one release is told from another, also of the same version: `<version>-<first 12 of its SHA-256>`, as its folder on a host is named. */
import { Type } from "typebox";

const DIGEST_LENGTH = 12;

export const ReleaseName = Type.String({
  maxLength: 64,
  pattern: "^[0-9][0-9A-Za-z.-]*-[0-9a-f]{12}$",
});

/** @param sha256 of the signed `release.json`, hex */
export function releaseName(version: string, sha256: string): string {
  return `${version}-${sha256.slice(0, DIGEST_LENGTH)}`;
}
