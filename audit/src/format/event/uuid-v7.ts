import { randomFillSync } from "node:crypto";

const UUID_BYTES = 16;
/** Randomness is drawn for so many at once: a call costs more than its bytes. */
const pool = Buffer.alloc(256 * UUID_BYTES);
let used = pool.length;

/** RFC 9562 §5.7: 48 bits of Unix milliseconds, then randomness. */
export function uuidV7(nowMs: number): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = pool.subarray(used, used + UUID_BYTES);
  used += UUID_BYTES;
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
