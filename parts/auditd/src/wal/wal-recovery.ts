/** Reads what a stopped auditd left in its write-ahead log. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { LogDamagedError } from "@resontech/audit/format/tree/log-reader";
import { segmentFiles } from "./wal.ts";
import { decodeBatch, FRAME_ALIGNMENT } from "./wal-frame.ts";

export type WalContent = {
  /** Leaves from `checkpointSize` on. */
  leaves: Buffer[];
  /** An incomplete last batch, which nobody was told is durable; two of them after a power cut while the first was being cut. */
  cut: { index: number; bytes: number } | null;
  /** The segments read; they may go once a checkpoint covers the leaves. */
  segments: string[];
};

/**
 * @throws {@link LogDamagedError} when a batch is bad that is not the last, when the log ends below the checkpoint, or when
 *   batches are missing
 */
export async function readWal(folder: string, checkpointSize: number): Promise<WalContent> {
  const segments = await segmentFiles(folder);
  // Every start makes a segment, and it goes only when the next is there.
  if (segments.length === 0 && checkpointSize > 0)
    throw new LogDamagedError(checkpointSize, "the write-ahead log is missing");
  const leaves: Buffer[] = [];
  let end: number | null = null;
  let cut = null as WalContent["cut"];
  for (const name of segments) {
    const segment = await readFile(join(folder, name));
    let at = 0;
    for (let found = decodeBatch(segment, at); found !== null; found = decodeBatch(segment, at)) {
      const { firstIndex, leaves: batch } = found.batch;
      if (end !== null && firstIndex !== end)
        throw new LogDamagedError(
          end,
          `batches of the write-ahead log are ${cut === null ? "missing" : "bad, and others follow them"}`,
        );
      if (end === null && firstIndex > checkpointSize)
        throw new LogDamagedError(
          checkpointSize,
          "leaves between the checkpoint and the write-ahead log are missing",
        );
      // What is bad before a batch that takes its place was cut at an earlier start, whose first batch this is: it says so.
      cut = null;
      end = firstIndex + batch.length;
      leaves.push(...batch.slice(Math.max(0, checkpointSize - firstIndex)));
      at += found.frameBytes;
    }
    const bytes = lastNonZero(segment) + 1 - at;
    if (bytes <= 0) continue;
    const index = end ?? checkpointSize;
    if (hasBatchAfter(segment, at))
      throw new LogDamagedError(
        index,
        "a batch of the write-ahead log is bad, and others follow it",
      );
    cut = { index, bytes: bytes + (cut?.bytes ?? 0) };
  }
  if (end !== null && end < checkpointSize)
    throw new LogDamagedError(
      end,
      `the write-ahead log ends below the checkpoint of ${checkpointSize} leaves`,
    );
  return { leaves, cut, segments };
}

function lastNonZero(segment: Buffer): number {
  let at = segment.length - 1;
  while (at >= 0 && segment[at] === 0) at -= 1;
  return at;
}

function hasBatchAfter(segment: Buffer, bad: number): boolean {
  for (let at = bad + FRAME_ALIGNMENT; at < segment.length; at += FRAME_ALIGNMENT)
    if (decodeBatch(segment, at) !== null) return true;
  return false;
}
