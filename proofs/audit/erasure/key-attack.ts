/**
 * Whoever kept copies from before, and has every byte that is left: does anything in it open them? Each 32 bytes in a row of each
 * file are taken for the key, as they are and decoded from hexadecimal digits and base64; and for one that lies wrapped under the
 * key-encryption key, which the attacker has.
 */
import { hash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { filesBelow } from "./remnants.ts";

/** So much of a file is looked at once, however often it is met: what did not change from one moment to the next is tried once. */
const PIECE_BYTES = 4_096;
/** Of the next piece: longer than a wrapped key in hexadecimal digits. */
const AHEAD_BYTES = 128;
const TOLD_MS = 15_000;

/** Something sealed, and at least four bytes that its plain text begins with. */
export type Lock = { name: string; box: Uint8Array; context: Uint8Array; begins: Uint8Array };
export type Hit = { piece: number; lock: number; key: Uint8Array };
export type Work = {
  bytes: SharedArrayBuffer;
  starts: Float64Array;
  ends: Float64Array;
  /** The piece that nobody has taken yet. */
  next: Int32Array;
  locks: readonly Lock[];
  kek: Uint8Array;
};
export type WorkDone = { hits: Hit[]; tried: number; skipped: number };

export type Attacked = {
  /** Of each moment, by the lock's name: the key that opens it. */
  opened: Map<string, Map<string, Uint8Array>>;
  files: number;
  /** One begins at each byte of each file. */
  windows: number;
  /** What is left of them once what stands at several places is counted once. */
  distinctBytes: number;
  keysTried: number;
  /** No key made at random: zeros and text. */
  keysSkipped: number;
};

/** @param moments folders as they were at a time, by its name */
export async function attack(
  moments: Record<string, readonly string[]>,
  locks: readonly Lock[],
  kek: Uint8Array,
  progress: (line: string) => void,
): Promise<Attacked> {
  const { pieces, files, windows } = piecesOf(moments);
  const starts = new Float64Array(pieces.length);
  const ends = new Float64Array(pieces.length);
  const distinctBytes = pieces.reduce((sum, { content }) => sum + content.length, 0);
  const bytes = new SharedArrayBuffer(distinctBytes);
  let filled = 0;
  for (const [at, { content }] of pieces.entries()) {
    new Uint8Array(bytes, filled).set(content);
    starts[at] = filled;
    ends[at] = filled += content.length;
  }
  const next = new Int32Array(new SharedArrayBuffer(4));
  const told = setInterval(
    () => progress(`attacked ${Math.min(next[0]!, pieces.length)} of ${pieces.length} pieces`),
    TOLD_MS,
  );
  const work: Work = { bytes, starts, ends, next, locks, kek };
  const done = await Promise.all(
    Array.from({ length: availableParallelism() }, () => inThread(work)),
  ).finally(() => clearInterval(told));
  const opened = new Map(
    Object.keys(moments).map((moment) => [moment, new Map<string, Uint8Array>()]),
  );
  for (const { piece, lock, key } of done.flatMap(({ hits }) => hits))
    for (const moment of pieces[piece]!.moments) opened.get(moment)!.set(locks[lock]!.name, key);
  const sumOf = (number: "tried" | "skipped"): number =>
    done.reduce((sum, one) => sum + one[number], 0);
  return {
    opened,
    files,
    windows,
    distinctBytes,
    keysTried: sumOf("tried"),
    keysSkipped: sumOf("skipped"),
  };
}

async function inThread(work: Work): Promise<WorkDone> {
  const [done] = (await once(
    new Worker(new URL("try-keys.ts", import.meta.url), { workerData: work }),
    "message",
  )) as [WorkDone];
  return done;
}

type Piece = { content: Buffer; moments: Set<string> };

function piecesOf(moments: Record<string, readonly string[]>): {
  pieces: Piece[];
  files: number;
  windows: number;
} {
  const pieces = new Map<string, Piece>();
  let files = 0;
  let windows = 0;
  for (const [moment, folders] of Object.entries(moments))
    for (const path of folders.flatMap((folder) =>
      filesBelow(folder).map((name) => join(folder, name)),
    )) {
      const file = readFileSync(path);
      files += 1;
      windows += file.length;
      for (let at = 0; at < file.length; at += PIECE_BYTES) {
        const content = file.subarray(at, at + PIECE_BYTES + AHEAD_BYTES);
        const digest = hash("sha256", content);
        const piece = pieces.get(digest) ?? { content, moments: new Set() };
        pieces.set(digest, piece);
        piece.moments.add(moment);
      }
    }
  return { pieces: [...pieces.values()], files, windows };
}
