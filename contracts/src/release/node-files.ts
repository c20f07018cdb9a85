/**
 * What of a release a node needs, and the addresses by which an appliance gives it out to whoever asks, over HTTPS or in a folder on a medium:
 *
 * - `<name>` for each of {@link NODE_FILE_NAMES}, which is what the rest is verified by
 * - `blobs/sha256/<hex>` for each file of {@link nodeFiles}
 */
import { HOST_TOOLS, type ReleaseFile, RUNTIME, RUNTIME_LIBRARIES } from "./release-manifest.ts";

/** Below the address of the API. */
export const NODE_FILES_PATH = "/node/v1";
export const NODE_BLOBS = "blobs/sha256";

/** The release's signed statements, as the installer keeps them in the release's folder. */
export const SIGNED_FOLDER = "signed";
export const SIGNED_FILES = [
  "boot.sums",
  "boot.sums.sig",
  "release.json",
  "release-key.pem",
] as const;
export const ROOT_CERTIFICATE = "root.crt";
export const NODE_FILE_NAMES = [...SIGNED_FILES, ROOT_CERTIFICATE] as const;
export type NodeFileName = (typeof NODE_FILE_NAMES)[number];

/** What a new node runs first, after it has compared its SHA-256. */
export const JOIN_SCRIPT = "app/join-node.sh";

/** Paths in the release; one that ends in `/` is all below it. */
const NEEDED = [
  RUNTIME,
  `${RUNTIME_LIBRARIES}/`,
  "app/agent.mjs",
  "app/agent-transfers.mjs",
  "app/appliance-node.mjs",
  "app/installer.mjs",
  "app/runners/",
  "bin/appliance-node",
  "engines/rt-init",
  "engines/rt-lock",
  "engines/rt-verify",
  `${HOST_TOOLS}/`,
  JOIN_SCRIPT,
];

/** The files of a release that a node needs. */
export function nodeFiles(tree: readonly ReleaseFile[]): ReleaseFile[] {
  return tree.filter(({ path }) =>
    NEEDED.some((needed) => (needed.endsWith("/") ? path.startsWith(needed) : path === needed)),
  );
}
