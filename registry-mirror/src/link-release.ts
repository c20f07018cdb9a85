/**
 * Puts a release's images into the registry engine's storage by hard links: the store of blobs is the only copy.
 *
 * Layout of the storage: https://github.com/distribution/distribution/blob/v3.1.2/registry/storage/paths.go
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { ReleaseImage, ReleaseManifest } from "@resontech/contracts/release-manifest";

/** The store and the registry's storage lie on different file systems, so a hard link can't be made. */
export class StoreNotLinkableError extends Error {
  readonly code = "store_not_linkable";
}

/** The store lacks a blob that an image of the release needs. */
export class BlobMissingError extends Error {
  readonly code = "blob_missing";
  readonly sha256: string;

  constructor(image: ReleaseImage, sha256: string) {
    super(`the store has no blob ${sha256}, which ${image.repository}@${image.digest} needs`);
    this.sha256 = sha256;
  }
}

/**
 * Makes every image of the release servable by digest and by the tag `<version>`; safe to repeat, never removes another release's images.
 *
 * @param blobs `<root>/blobs/sha256`
 * @param storageDir the engine's `rootdirectory`
 * @returns the number of blobs that were newly linked
 * @throws StoreNotLinkableError, BlobMissingError
 */
export function linkRelease(
  release: Pick<ReleaseManifest, "version" | "images">,
  blobs: string,
  storageDir: string,
): number {
  const v2 = join(storageDir, "docker", "registry", "v2");
  let linked = 0;
  for (const image of release.images) {
    for (const { sha256 } of image.blobs) {
      const [blob, target] = [
        join(blobs, sha256),
        join(v2, "blobs", "sha256", sha256.slice(0, 2), sha256, "data"),
      ];
      if (!existsSync(blob)) throw new BlobMissingError(image, sha256);
      if (linkOnce(blob, target)) linked += 1;
    }
    describeRepository(image, release.version, join(v2, "repositories", image.repository));
  }
  return linked;
}

/** Blobs first, then the layers that the repository may serve, then the manifest, then its tag: a crash leaves no dangling reference. */
function describeRepository(image: ReleaseImage, version: string, repository: string): void {
  const manifest = image.digest.slice("sha256:".length);
  for (const { sha256 } of image.blobs)
    if (sha256 !== manifest)
      pointTo(join(repository, "_layers", "sha256", sha256, "link"), `sha256:${sha256}`);
  pointTo(join(repository, "_manifests", "revisions", "sha256", manifest, "link"), image.digest);
  pointTo(
    join(repository, "_manifests", "tags", version, "index", "sha256", manifest, "link"),
    image.digest,
  );
  pointTo(join(repository, "_manifests", "tags", version, "current", "link"), image.digest);
}

function linkOnce(blob: string, target: string): boolean {
  // A repaired store has the same bytes in a new inode: the old one goes.
  if (existsSync(target) && statSync(target).ino === statSync(blob).ino) return false;
  mkdirSync(dirname(target), { recursive: true });
  const beside = `${target}.part`;
  rmSync(beside, { force: true });
  try {
    linkSync(blob, beside);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EXDEV")) throw error;
    throw new StoreNotLinkableError(
      `${dirname(blob)} and the registry's ${target} lie on different file systems; put both below one root`,
      { cause: error },
    );
  }
  renameSync(beside, target);
  return true;
}

function pointTo(file: string, digest: string): void {
  if (existsSync(file) && readFileSync(file, "utf8") === digest) return;
  mkdirSync(dirname(file), { recursive: true });
  const beside = `${file}.part`;
  const fd = openSync(beside, "w", 0o644);
  try {
    writeSync(fd, digest);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(beside, file);
}
