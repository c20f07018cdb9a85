import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  createReadStream,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { nodeFiles } from "@resontech/contracts/node-files";
import type { ReleaseFile, ReleaseManifest } from "@resontech/contracts/release-manifest";
import { syncNow } from "@resontech/frame/durable-file-now";
import { type NodeSource, SourceFailedError } from "./node-source.ts";

/**
 * Lays down the files of the release that a node needs. A file that is there and has its SHA-256 stays; any other is fetched beside its place,
 * verified as it comes, synced and renamed, so that nothing ever stands there that the release does not name.
 *
 * @returns how many had to be fetched
 * @throws SourceFailedError
 */
export async function fetchRelease(
  release: ReleaseManifest,
  source: NodeSource,
  releaseDir: string,
  onProgress: (doneBytes: number, totalBytes: number) => void,
): Promise<number> {
  const files = nodeFiles(release.tree);
  const total = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let fetched = 0;
  let done = 0;
  for (const file of files) {
    const target = join(releaseDir, file.path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
    if (!(await isWhole(target, file))) {
      await fetchFile(source, file, target);
      fetched += 1;
    }
    done += file.sizeBytes;
    onProgress(done, total);
  }
  for (const folder of new Set(files.map(({ path }) => dirname(join(releaseDir, path)))))
    syncNow(folder);
  syncNow(releaseDir);
  return fetched;
}

async function isWhole(
  target: string,
  { sha256, sizeBytes, executable }: ReleaseFile,
): Promise<boolean> {
  const entry = lstatSync(target, { throwIfNoEntry: false });
  if (entry?.isFile() !== true || entry.size !== sizeBytes) return false;
  const hash = createHash("sha256");
  await pipeline(createReadStream(target), hash);
  if (hash.digest("hex") !== sha256) return false;
  chmodSync(target, executable ? 0o755 : 0o644);
  return true;
}

async function fetchFile(
  source: NodeSource,
  { path, sha256, sizeBytes, executable }: ReleaseFile,
  target: string,
): Promise<void> {
  const beside = `${target}.part`;
  rmSync(beside, { recursive: true, force: true });
  const hash = createHash("sha256");
  let size = 0;
  const fd = openSync(beside, "wx", executable ? 0o755 : 0o644);
  try {
    for await (const chunk of await source.blob(sha256)) {
      const bytes = chunk as Buffer;
      size += bytes.length;
      if (size > sizeBytes) break;
      hash.update(bytes);
      for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
    }
    if (size !== sizeBytes || hash.digest("hex") !== sha256)
      throw new SourceFailedError(`${path}: what came is not the file that the release names`);
    fsyncSync(fd);
  } catch (error) {
    rmSync(beside, { force: true });
    if (error instanceof SourceFailedError) throw error;
    throw new SourceFailedError(
      `${path}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  } finally {
    closeSync(fd);
  }
  renameSync(beside, target);
}
