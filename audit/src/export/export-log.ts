/**
 * Writes the log as one file for an auditor: a deterministic, uncompressed ustar of the checkpoint and of every file of its tree, in the
 * order of {@link filesOfTree}. The same checkpoint always gives the same bytes. It reads the log's folder alone and needs no auditd.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "../log/durable-file.ts";
import { LogReader } from "../log/log-reader.ts";
import { filesOfTree, tilePath } from "../log/tile-layout.ts";
import { END_OF_ARCHIVE, ustarMember } from "./ustar.ts";

export { LogDamagedError } from "../log/log-reader.ts";
export { currentSlug, shardFolder } from "../log/shards.ts";

export type ExportResult = {
  origin: string;
  /** Leaves. */
  size: number;
  bytes: number;
  sha256: string;
};

/**
 * The caller logs `audit.export` before and after, and waits until a checkpoint covers the first of the two.
 * @param options.file written beside and renamed, 0640; a file that is there is replaced
 * @throws LogDamagedError when a file of the tree is missing or has the wrong size
 */
export async function exportLog(options: { logDir: string; file: string; signal?: AbortSignal }): Promise<ExportResult> {
  const { logDir, file, signal } = options;
  const checkpoint = await readFile(join(logDir, "checkpoint"));
  const [origin = "", sizeLine = ""] = checkpoint.toString("utf8").split("\n");
  const size = Number(sizeLine);
  const reader = new LogReader(logDir);
  const digest = createHash("sha256");
  let bytes = 0;
  const beside = `${file}.new`;
  const handle = await open(beside, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o640);
  try {
    const write = async (part: Buffer): Promise<void> => {
      signal?.throwIfAborted();
      digest.update(part);
      bytes += part.length;
      await handle.appendFile(part);
    };
    await write(ustarMember("checkpoint", checkpoint));
    for (const name of filesOfTree(size)) await write(ustarMember(tilePath(name), await reader.read(name)));
    await write(END_OF_ARCHIVE);
    await handle.sync();
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  await rename(beside, file);
  await syncFolder(dirname(file));
  return { origin, size, bytes, sha256: digest.digest("hex") };
}
