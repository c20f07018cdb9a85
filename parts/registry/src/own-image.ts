/**
 * Images of the customer's own in the registry engine's storage, beside those of releases. Here they are copies: no store has them.
 * Nobody is given a token for one before the coordinator has it on record, so bytes that were only put here serve nobody.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describeRepository, registryPaths } from "./storage-layout.ts";

/** The tag that an own image has; what runs it names its digest. */
const TAG = "admitted";
/** Left free for everything else on the disk. */
const RESERVE_BYTES = 2 * 1024 ** 3;

/** A blob had other bytes than its digest says: the file changed while it was read. */
export class BlobChangedError extends Error {
  readonly code = "blob_changed";
}

/** The disk of the registry has no room for the image. */
export class RegistryFullError extends Error {
  readonly code = "registry_full";
}

export type OwnImage = {
  /** Like `own/<name>`. */
  repository: string;
  /** `sha256:<hex>` of the manifest, one of the blobs. */
  digest: string;
  blobs: readonly { sha256: string; sizeBytes: number }[];
};

/**
 * Safe to repeat. Blobs that are there already are kept.
 * @param storageDir the engine's `rootdirectory`
 * @throws BlobChangedError, RegistryFullError
 */
export async function putOwnImage(
  image: OwnImage,
  open: (blob: OwnImage["blobs"][number]) => AsyncIterable<Buffer>,
  storageDir: string,
): Promise<void> {
  const { blobFile, repositoryDir } = registryPaths(storageDir);
  const missing = image.blobs.filter(({ sha256 }) => !existsSync(blobFile(sha256)));
  requireRoom(missing, storageDir);
  for (const blob of missing) await writeBlob(blob, open(blob), blobFile(blob.sha256));
  describeRepository(image, TAG, repositoryDir(image.repository));
}

/** Repositories below `own/`. */
export function ownRepositories(storageDir: string): string[] {
  const folder = registryPaths(storageDir).repositoryDir("own");
  return existsSync(folder) ? readdirSync(folder).map((name) => `own/${name}`) : [];
}

/** Its blobs go too, but for those that another repository has. @returns bytes of blobs that went @param repository below `own/` */
export function removeOwnImage(repository: string, storageDir: string): void {
  const { blobFile, repositoryDir, repositories } = registryPaths(storageDir);
  const folder = repositoryDir(repository);
  const own = blobsOf(folder);
  // First nothing names them: a crash leaves bytes that serve nobody.
  rmSync(folder, { recursive: true, force: true });
  const others = new Set(repositoriesBelow(repositories).flatMap(blobsOf));
  for (const sha256 of own)
    if (!others.has(sha256)) rmSync(dirname(blobFile(sha256)), { recursive: true, force: true });
}

function requireRoom(blobs: readonly { sizeBytes: number }[], storageDir: string): void {
  const needed = blobs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  mkdirSync(storageDir, { recursive: true });
  const { bavail, bsize } = statfsSync(storageDir);
  if (bavail * bsize < needed + RESERVE_BYTES)
    throw new RegistryFullError(
      `the image needs ${needed} bytes, and ${storageDir} has ${bavail * bsize} free, of which ${RESERVE_BYTES} stay free`,
    );
}

async function writeBlob(
  { sha256, sizeBytes }: { sha256: string; sizeBytes: number },
  bytes: AsyncIterable<Buffer>,
  file: string,
): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  const beside = `${file}.part`;
  const fd = openSync(beside, "w", 0o644);
  try {
    const hash = createHash("sha256");
    let size = 0;
    for await (const piece of bytes) {
      hash.update(piece);
      size += piece.length;
      for (let done = 0; done < piece.length; ) done += writeSync(fd, piece, done);
    }
    fsyncSync(fd);
    if (size !== sizeBytes || hash.digest("hex") !== sha256)
      throw new BlobChangedError(`the blob ${sha256} is not what it was: the file changed`);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
  renameSync(beside, file);
}

/** Digests that a repository names, hex. */
function blobsOf(repository: string): string[] {
  return [join("_layers", "sha256"), join("_manifests", "revisions", "sha256")].flatMap((part) => {
    const folder = join(repository, part);
    return existsSync(folder) ? readdirSync(folder) : [];
  });
}

/** A name may have any number of parts; those of the engine's own begin with `_`. */
function repositoriesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory() || entry.name.startsWith("_")) return [];
    const path = join(folder, entry.name);
    return [...(existsSync(join(path, "_manifests")) ? [path] : []), ...repositoriesBelow(path)];
  });
}
