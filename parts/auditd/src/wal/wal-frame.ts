/**
 * One batch of the write-ahead log: `"RTW1" ‖ u64 first index ‖ u32 count ‖ u32 bytes ‖ u32 CRC-32C ‖ leaves`, big endian,
 * padded with zeros to 16 bytes. The CRC covers everything but itself and the padding.
 */
import { crc32c } from "./crc32c.ts";
import { decodeEntries, encodeEntries } from "@resontech/audit/format/tree/entry-bundle";

const MAGIC = 0x52545731;
export const FRAME_HEADER_BYTES = 24;
export const FRAME_ALIGNMENT = 16;

export type WalBatch = { firstIndex: number; leaves: Buffer[] };

export function encodeBatch({ firstIndex, leaves }: WalBatch): Buffer {
  const entries = encodeEntries(leaves);
  const used = FRAME_HEADER_BYTES + entries.length;
  const frame = Buffer.alloc(Math.ceil(used / FRAME_ALIGNMENT) * FRAME_ALIGNMENT);
  frame.writeUInt32BE(MAGIC, 0);
  frame.writeBigUInt64BE(BigInt(firstIndex), 4);
  frame.writeUInt32BE(leaves.length, 12);
  frame.writeUInt32BE(entries.length, 16);
  entries.copy(frame, FRAME_HEADER_BYTES);
  frame.writeUInt32BE(checksum(frame, used), 20);
  return frame;
}

/** The batch that begins at `at`, with the bytes it takes; null when there is no intact one. */
export function decodeBatch(
  segment: Buffer,
  at: number,
): { batch: WalBatch; frameBytes: number } | null {
  if (at + FRAME_HEADER_BYTES > segment.length || segment.readUInt32BE(at) !== MAGIC) return null;
  const entriesBytes = segment.readUInt32BE(at + 16);
  const used = FRAME_HEADER_BYTES + entriesBytes;
  if (at + used > segment.length) return null;
  const frame = segment.subarray(at, at + used);
  if (frame.readUInt32BE(20) !== checksum(frame, used)) return null;
  const leaves = decodeEntries(frame.subarray(FRAME_HEADER_BYTES));
  if (leaves === null || leaves.length !== frame.readUInt32BE(12)) return null;
  return {
    batch: { firstIndex: Number(frame.readBigUInt64BE(4)), leaves },
    frameBytes: Math.ceil(used / FRAME_ALIGNMENT) * FRAME_ALIGNMENT,
  };
}

function checksum(frame: Buffer, used: number): number {
  return crc32c(frame.subarray(0, 20), frame.subarray(FRAME_HEADER_BYTES, used));
}
