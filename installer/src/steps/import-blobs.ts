import { createHash } from "node:crypto";
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";

/**
 * Brings the release's blobs into the store: by hard link when the medium lies on the same file system, else copied with the hash taken on the
 * way, under a temporary name, synced, renamed. A blob that the store has is not read again.
 *
 * @returns bytes that were newly stored
 */
export async function importBlobs(
  release: ReleaseManifest,
  bundle: string,
  store: string,
  onProgress: (done: number, total: number) => void,
): Promise<number> {
  mkdirSync(store, { recursive: true, mode: 0o755 });
  const executables = new Set(release.tree.filter((file) => file.executable).map((file) => file.sha256));
  const total = release.blobs.reduce((sum, blob) => sum + blob.sizeBytes, 0);
  let done = 0;
  let stored = 0;
  for (const { sha256, sizeBytes } of release.blobs) {
    const target = join(store, sha256);
    if (!(existsSync(target) && statSync(target).size === sizeBytes)) {
      await copyBlob(join(bundle, "blobs", "sha256", sha256), target, sha256, executables.has(sha256) ? 0o755 : 0o644);
      stored += sizeBytes;
    }
    done += sizeBytes;
    onProgress(done, total);
  }
  syncFolder(store);
  return stored;
}

async function copyBlob(source: string, target: string, sha256: string, mode: number): Promise<void> {
  const beside = `${target}.part`;
  rmSync(beside, { force: true });
  const hash = createHash("sha256");
  const fd = openSync(beside, "wx", mode);
  try {
    for await (const chunk of createReadStream(source, { highWaterMark: 4 * 1024 * 1024 })) {
      const bytes = chunk as Buffer;
      hash.update(bytes);
      writeSync(fd, bytes);
    }
    // Verified once already; the medium may have changed, or fail, between the two readings.
    if (hash.digest("hex") !== sha256) throw new Error(`blobs/sha256/${sha256} changed while it was read: the medium is damaged`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(beside, target);
}

/** A hard link for each file of the release tree; the tree appears whole, by one rename. */
export function stageTree(release: ReleaseManifest, store: string, releaseDir: string, manifest: string): void {
  if (existsSync(releaseDir)) return;
  const beside = `${releaseDir}.part`;
  rmSync(beside, { recursive: true, force: true });
  for (const file of release.tree) {
    const target = join(beside, file.path);
    mkdirSync(join(target, ".."), { recursive: true, mode: 0o755 });
    linkSync(join(store, file.sha256), target);
  }
  const fd = openSync(join(beside, "release-manifest.json"), "wx", 0o644);
  try {
    writeSync(fd, manifest);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(beside, releaseDir);
  syncFolder(join(releaseDir, ".."));
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
