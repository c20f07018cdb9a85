/** Puts a release's images into the registry engine's storage by hard links: the store of blobs is the only copy. */
import { existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ReleaseImage, ReleaseManifest } from "@resontech/contracts/release-manifest";
import { describeRepository, registryPaths } from "./storage-layout.ts";

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
  const { blobFile, repositoryDir } = registryPaths(storageDir);
  let linked = 0;
  for (const image of release.images) {
    for (const { sha256 } of image.blobs) {
      const [blob, target] = [join(blobs, sha256), blobFile(sha256)];
      if (!existsSync(blob)) throw new BlobMissingError(image, sha256);
      if (linkOnce(blob, target)) linked += 1;
    }
    describeRepository(image, release.version, repositoryDir(image.repository));
  }
  return linked;
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
