/** Words of SQLite's write-ahead log and of its index (https://www.sqlite.org/walformat.html). Pure. */

/** Two sums of 32 bits each. */
export type Sums = readonly [number, number];

/** Of the index that all processes share: what is committed. */
export type WalIndex = {
  pageBytes: number;
  /** Frames of the log that are committed; 0: all is in the database's own file. */
  frames: number;
  /** Pages of the database. */
  pages: number;
  /** Of the last of these frames. */
  sums: Sums;
  /** Of this life of the log, as hex: another one whenever it begins anew. */
  salts: string;
};

export const WAL_HEAD_BYTES = 32;
export const FRAME_HEAD_BYTES = 24;
const INDEX_VERSION = 3_007_000;
const INDEX_HEAD_BYTES = 48;
/** After two copies of the head: how many frames are in the database's own file. */
const BACKFILLED_AT = 2 * INDEX_HEAD_BYTES;
export const INDEX_BYTES = BACKFILLED_AT + 4;
/** The last bit says whether sums are of big-endian words. */
const WAL_MAGIC = 0x37_7f_06_82;

/** The sums of `bytes`, which go on from others. @param bytes a multiple of 8 */
export function sumsOf(bytes: Buffer, isBigEndian: boolean, [first, second]: Sums): Sums {
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0;
    b = (b + (isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}

/**
 * Of a host with little-endian words, as SQLite keeps it there.
 * @param bytes the first {@link INDEX_BYTES} of the index
 * @returns null while another process writes it, or none has made it yet
 */
export function parseWalIndex(bytes: Buffer): WalIndex | null {
  const head = bytes.subarray(0, INDEX_HEAD_BYTES);
  if (!head.equals(bytes.subarray(INDEX_HEAD_BYTES, 2 * INDEX_HEAD_BYTES))) return null;
  if (head.readUInt32LE(0) !== INDEX_VERSION || head[12] !== 1) return null;
  const [a, b] = sumsOf(head.subarray(0, 40), false, [0, 0]);
  if (a !== head.readUInt32LE(40) || b !== head.readUInt32LE(44)) return null;
  const size = head.readUInt16LE(14);
  return {
    pageBytes: (size & 0xfe00) + ((size & 1) << 16),
    frames: head.readUInt32LE(16),
    pages: head.readUInt32LE(20),
    sums: [head.readUInt32LE(24), head.readUInt32LE(28)],
    salts: head.toString("hex", 32, 40),
  };
}

/** How many frames are in the database's own file. */
export function backfilledIn(bytes: Buffer): number {
  return bytes.readUInt32LE(BACKFILLED_AT);
}

export type WalHead = { isBigEndian: boolean; pageBytes: number; salts: string; sums: Sums };

/** Reads byte order, page size, salts and sums; null for what is no head of a log. */
export function parseWalHead(bytes: Buffer): WalHead | null {
  if (bytes.length < WAL_HEAD_BYTES) return null;
  const magic = bytes.readUInt32BE(0);
  if ((magic & ~1) >>> 0 !== WAL_MAGIC) return null;
  const isBigEndian = (magic & 1) === 1;
  const sums: Sums = [bytes.readUInt32BE(24), bytes.readUInt32BE(28)];
  const [a, b] = sumsOf(bytes.subarray(0, 24), isBigEndian, [0, 0]);
  if (a !== sums[0] || b !== sums[1]) return null;
  return {
    isBigEndian,
    pageBytes: bytes.readUInt32BE(8),
    salts: bytes.toString("hex", 16, 24),
    sums,
  };
}

export type Frame = {
  /** From 1. */
  page: number;
  /** Of the database after the transaction that ends here; 0 within one. */
  pages: number;
  sums: Sums;
};

/**
 * @param bytes a frame: its head and its page
 * @param before sums of the frame before it, or of the log's head
 * @returns null for what is no frame of this life of the log
 */
export function parseFrame(
  bytes: Buffer,
  { salts, isBigEndian }: Pick<WalHead, "salts" | "isBigEndian">,
  before: Sums,
): Frame | null {
  if (bytes.toString("hex", 8, 16) !== salts) return null;
  const ofHead = sumsOf(bytes.subarray(0, 8), isBigEndian, before);
  const sums = sumsOf(bytes.subarray(FRAME_HEAD_BYTES), isBigEndian, ofHead);
  if (sums[0] !== bytes.readUInt32BE(16) || sums[1] !== bytes.readUInt32BE(20)) return null;
  return { page: bytes.readUInt32BE(0), pages: bytes.readUInt32BE(4), sums };
}
