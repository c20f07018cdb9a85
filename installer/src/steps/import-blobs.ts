import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  createReadStream,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { syncNow } from "@resontech/frame/durable-file-now";

const CHUNK_BYTES = 4 * 1024 * 1024;

/** The medium gave other bytes than it gave when it was verified. */
export class MediumChangedError extends Error {
  readonly code = "medium_changed";
  readonly hint =
    "copy the bundle again, compare it with its source and run the same command again";
}

/** The file system is full; what is stored stays, and the same command goes on from there. */
export class DiskFullError extends Error {
  readonly code = "disk_full";
  readonly hint = "free space there and run the same command again: it goes on from here";
}

/**
 * Brings the release's blobs into the store: copied with the hash taken on the way, under a temporary name, synced, renamed. A blob that the
 * store has is not read again. Never by hard link: the medium may belong to somebody who may write it later, and it is never changed by us.
 *
 * @throws MediumChangedError, DiskFullError
 */
export async function importBlobs(
  release: ReleaseManifest,
  bundle: string,
  store: string,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  mkdirSync(store, { recursive: true, mode: 0o755 });
  // What a crash left half written.
  for (const name of readdirSync(store)) if (name.endsWith(".part")) rmSync(join(store, name));
  const executables = new Set(
    release.tree.filter((file) => file.executable).map((file) => file.sha256),
  );
  const total = release.blobs.reduce((sum, blob) => sum + blob.sizeBytes, 0);
  let done = 0;
  for (const { sha256, sizeBytes } of release.blobs) {
    const target = join(store, sha256);
    const mode = executables.has(sha256) ? 0o755 : 0o644;
    const stored = lstatSync(target, { throwIfNoEntry: false });
    if (stored?.size !== sizeBytes)
      await copyBlob(join(bundle, "blobs", "sha256", sha256), target, sha256, mode);
    // The same bytes may have been no program in an earlier release.
    else if ((stored.mode & 0o111) === 0 && mode === 0o755) chmodSync(target, mode);
    done += sizeBytes;
    onProgress(done, total);
  }
  for (const folder of [store, dirname(store), dirname(dirname(store))]) syncNow(folder);
}

async function copyBlob(
  source: string,
  target: string,
  sha256: string,
  mode: number,
): Promise<void> {
  const beside = `${target}.part`;
  const hash = createHash("sha256");
  const fd = openSync(beside, "wx", mode);
  try {
    for await (const chunk of createReadStream(source, { highWaterMark: CHUNK_BYTES })) {
      const bytes = chunk as Buffer;
      hash.update(bytes);
      for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
    }
    if (hash.digest("hex") !== sha256)
      throw new MediumChangedError(
        `blobs/sha256/${sha256} changed while it was read: the medium is damaged`,
      );
    fsyncSync(fd);
  } catch (error) {
    rmSync(beside, { force: true });
    if (error instanceof Error && "code" in error && error.code === "ENOSPC")
      throw new DiskFullError(`the file system of ${dirname(target)} is full`, {
        cause: error,
      });
    throw error;
  } finally {
    closeSync(fd);
  }
  renameSync(beside, target);
}
