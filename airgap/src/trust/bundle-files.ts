/** Names inside a bundle folder; everything else in it is refused. */
export const BUNDLE_FILES = {
  install: "install.sh",
  bootSums: "boot.sums",
  bootSumsSignature: "boot.sums.sig",
  release: "release.json",
  root: "tuf/1.root.json",
  targets: "tuf/offline-targets.json",
  snapshot: "tuf/offline-snapshot.json",
  medium: "media/1.json",
  blobs: "blobs/sha256",
} as const;

/** Files of a bundle that TUF's targets name by hash; the blobs are named by the signed release. */
export const TUF_TARGETS = [
  BUNDLE_FILES.install,
  BUNDLE_FILES.release,
  BUNDLE_FILES.bootSums,
  BUNDLE_FILES.bootSumsSignature,
  BUNDLE_FILES.medium,
] as const;

/** `media/1.json`: what this medium carries, for a check that names a damaged file. Parity groups come with split media. */
export type Medium = {
  formatVersion: 1;
  medium: number;
  of: number;
  files: Record<string, { sha256: string; sizeBytes: number }>;
};
