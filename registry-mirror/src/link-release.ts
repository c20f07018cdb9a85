/** Puts a release's images into the registry engine's storage by hard links: the store of blobs is the only copy. */
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ReleaseImage, ReleaseManifest } from "@resontech/contracts/release-manifest";

/** The store and the registry's storage lie on different file systems, so a hard link can't be made. */
export class StoreNotLinkableError extends Error {
  readonly code = "store_not_linkable";
}

/**
 * Makes every image of the release servable by digest and by the tag `<version>`; safe to repeat, never removes another release's images.
 *
 * @param blobs `<root>/blobs/sha256`
 * @param storageDir the engine's `rootdirectory`
 * @returns the number of blobs that were newly linked
 * @throws StoreNotLinkableError
 */
export function linkRelease(release: ReleaseManifest, blobs: string, storageDir: string): number {
  const v2 = join(storageDir, "docker", "registry", "v2");
  let linked = 0;
  for (const image of release.images) {
    for (const blob of image.blobs) {
      const target = join(v2, "blobs", "sha256", blob.sha256.slice(0, 2), blob.sha256, "data");
      if (linkOnce(join(blobs, blob.sha256), target)) linked += 1;
    }
    linkRepository(image, release.version, join(v2, "repositories", image.repository));
  }
  return linked;
}

function linkRepository(image: ReleaseImage, version: string, repository: string): void {
  const manifest = image.digest.slice("sha256:".length);
  for (const blob of image.blobs) {
    if (blob.sha256 !== manifest) pointTo(join(repository, "_layers", "sha256", blob.sha256, "link"), `sha256:${blob.sha256}`);
  }
  pointTo(join(repository, "_manifests", "revisions", "sha256", manifest, "link"), image.digest);
  pointTo(join(repository, "_manifests", "tags", version, "index", "sha256", manifest, "link"), image.digest);
  pointTo(join(repository, "_manifests", "tags", version, "current", "link"), image.digest);
}

function linkOnce(blob: string, target: string): boolean {
  if (existsSync(target)) {
    if (statSync(target).ino === statSync(blob).ino) return false;
    throw new StoreNotLinkableError(`${target} is there and is no link to ${blob}`);
  }
  mkdirSync(dirname(target), { recursive: true });
  try {
    linkSync(blob, target);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EXDEV") {
      throw new StoreNotLinkableError(
        `${dirname(blob)} and the registry's storage lie on different file systems; put both below one root`,
        { cause: error },
      );
    }
    throw error;
  }
  return true;
}

function pointTo(file: string, digest: string): void {
  if (existsSync(file) && readFileSync(file, "utf8") === digest) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.part`, digest);
  renameSync(`${file}.part`, file);
}
