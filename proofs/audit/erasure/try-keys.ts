/**
 * Takes every 32 bytes in a row for the key, and every 44 for a key that lies wrapped, and tries them on what was kept; a thread of
 * the erasure proof.
 *
 * To try a key costs one block for each lock: GCM adds a stream to the plain text whose first block is AES of `nonce ‖ 2`, and how
 * each plain text begins is known. Only where its first four bytes are right the lock is opened for good, tag and all.
 */
import { createCipheriv } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { NONCE_BYTES, openBox } from "../instances/box.ts";
import type { Hit, Work, WorkDone } from "./key-attack.ts";

const KEY_BYTES = 32;
const BLOCK_BYTES = 16;
/** A key made at random has fewer values among its bytes in one of 10³⁷ cases: this leaves out pages of zeros. */
const LEAST_VALUES = 8;
/** None of a key's bytes is above in one of 4·10⁹ cases: this leaves out text, in which a key would stand in digits. */
const LAST_ASCII = 0x7f;
const FIRST_COUNTER = Buffer.from([0, 0, 0, 2]);

const { bytes, starts, ends, next, locks, kek } = workerData as Work;
const counters = Buffer.concat(
  locks.flatMap(({ box }) => [box.subarray(0, NONCE_BYTES), FIRST_COUNTER]),
);
const expected = locks.map(
  ({ box, begins }) => (wordAt(box, NONCE_BYTES) ^ wordAt(begins, 0)) >>> 0,
);
const hits: Hit[] = [];
let tried = 0;
let skipped = 0;

for (let piece = Atomics.add(next, 0, 1); piece < starts.length; piece = Atomics.add(next, 0, 1)) {
  const content = Buffer.from(bytes, starts[piece], ends[piece]! - starts[piece]!);
  tryAll(content, piece);
  for (const decoded of decodedRuns(content)) tryAll(decoded, piece);
}
parentPort!.postMessage({ hits, tried, skipped } satisfies WorkDone);

function tryAll(content: Buffer, piece: number): void {
  const places = likelyPlaces(content);
  for (const at of places) tryKey(content.subarray(at, at + KEY_BYTES), piece);
  // The key that others lie under is still there, as it must be: what is wrapped under it is opened, with or without its tag.
  const wrapped = places.filter((at) => at >= NONCE_BYTES);
  if (wrapped.length === 0) return;
  const nonces = Buffer.alloc(wrapped.length * KEY_BYTES);
  for (const [n, at] of wrapped.entries())
    for (const count of [2, 3]) {
      const block = n * KEY_BYTES + (count - 2) * BLOCK_BYTES;
      content.copy(nonces, block, at - NONCE_BYTES, at);
      nonces[block + BLOCK_BYTES - 1] = count;
    }
  const streams = createCipheriv("aes-256-ecb", kek, null).update(nonces);
  for (const [n, at] of wrapped.entries()) {
    const key = streams.subarray(n * KEY_BYTES, (n + 1) * KEY_BYTES);
    for (let byte = 0; byte < KEY_BYTES; byte++) key[byte]! ^= content[at + byte]!;
    tryKey(key, piece);
  }
}

function tryKey(key: Uint8Array, piece: number): void {
  tried += 1;
  const streams = createCipheriv("aes-256-ecb", key, null).update(counters);
  for (let lock = 0; lock < expected.length; lock++) {
    if (streams.readUInt32BE(lock * BLOCK_BYTES) !== expected[lock]) continue;
    const { box, context } = locks[lock]!;
    try {
      openBox(key, box, context);
      hits.push({ piece, lock, key: Uint8Array.from(key) });
    } catch {
      // Four bytes were right by chance.
    }
  }
}

/** Where 32 bytes begin that a key made at random could be. */
function likelyPlaces(content: Buffer): number[] {
  const places: number[] = [];
  const counts = new Uint8Array(256);
  let values = 0;
  let beyondAscii = 0;
  for (let at = 0; at < content.length; at++) {
    if (++counts[content[at]!]! === 1) values += 1;
    if (content[at]! > LAST_ASCII) beyondAscii += 1;
    const start = at - KEY_BYTES + 1;
    if (start < 0) continue;
    if (values >= LEAST_VALUES && beyondAscii > 0) places.push(start);
    else skipped += 1;
    if (--counts[content[start]!]! === 0) values -= 1;
    if (content[start]! > LAST_ASCII) beyondAscii -= 1;
  }
  return places;
}

/** What stands there in hexadecimal digits or base64, from wherever it may begin; long enough for a key. */
function decodedRuns(content: Buffer): Buffer[] {
  const text = content.toString("latin1");
  const hex = text.match(/[0-9a-fA-F]{64,}/g) ?? [];
  // Of a key made at random not every character of its base64 is a hexadecimal digit.
  const base64 = (text.match(/[A-Za-z0-9+/_-]{43,}/g) ?? []).filter(
    (run) => !/^[0-9a-fA-F]+$/.test(run),
  );
  return [
    ...hex.flatMap((run) => [0, 1].map((at) => Buffer.from(run.slice(at), "hex"))),
    ...base64.flatMap((run) => [0, 1, 2, 3].map((at) => Buffer.from(run.slice(at), "base64"))),
  ];
}

function wordAt(bytes: Uint8Array, at: number): number {
  return Buffer.from(bytes).readUInt32BE(at);
}
