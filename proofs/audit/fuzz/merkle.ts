/** RFC 6962's tree and the tiles over it (C2SP tlog-tiles), in the plainest form: whole levels at a time. */
import { hash } from "node:crypto";

const WIDTH = 256;

export type Tile = { path: string; content: Buffer };

export function sha256(bytes: Uint8Array): Buffer {
  return hash("sha256", bytes, "buffer");
}

export function leafHash(leaf: Uint8Array): Buffer {
  return sha256(Buffer.concat([Buffer.of(0), leaf]));
}

export function rootOf(hashes: readonly Buffer[]): Buffer {
  let level = hashes;
  while (level.length > 1) level = parentsOf(level);
  return level[0] ?? sha256(Buffer.alloc(0));
}

/** RFC 6962 §2.1.1. */
export function pathTo(index: number, hashes: readonly Buffer[]): Buffer[] {
  if (hashes.length <= 1) return [];
  let split = 1;
  while (split * 2 < hashes.length) split *= 2;
  return index < split
    ? [...pathTo(index, hashes.slice(0, split)), rootOf(hashes.slice(split))]
    : [...pathTo(index - split, hashes.slice(split)), rootOf(hashes.slice(0, split))];
}

/** Bundles of entries and tiles in the order of an export: each full tile as soon as it is full, partial ones at the end, level by level. */
export function filesOf(leaves: readonly Buffer[], hashes: readonly Buffer[]): Tile[] {
  const levels = [[...hashes]];
  for (let below = levels[0]!; below.length >= WIDTH; below = levels.at(-1)!)
    levels.push(
      Array.from({ length: Math.floor(below.length / WIDTH) }, (_, at) =>
        rootOf(below.slice(at * WIDTH, (at + 1) * WIDTH)),
      ),
    );
  const files: Tile[] = [];
  const tile = (level: number, at: number): Tile => {
    const content = levels[level]!.slice(at * WIDTH, (at + 1) * WIDTH);
    return { path: `tile/${level}/${pathOf(at, content.length)}`, content: Buffer.concat(content) };
  };
  const entries = (at: number): Tile => {
    const some = leaves.slice(at * WIDTH, (at + 1) * WIDTH);
    const content = some.flatMap((leaf) => [
      Buffer.of((leaf.length >> 8) & 255, leaf.length & 255),
      leaf,
    ]);
    return { path: `tile/entries/${pathOf(at, some.length)}`, content: Buffer.concat(content) };
  };
  const full = Math.floor(leaves.length / WIDTH);
  for (let at = 0; at < full; at++) {
    files.push(entries(at));
    for (let level = 0, done = at + 1; ; level++, done /= WIDTH) {
      files.push(tile(level, done - 1));
      if (done % WIDTH !== 0) break;
    }
  }
  if (leaves.length % WIDTH > 0) files.push(entries(full));
  for (const [level, { length }] of levels.entries())
    if (length % WIDTH > 0) files.push(tile(level, Math.floor(length / WIDTH)));
  return files;
}

/** `x001/234.p/56` */
export function pathOf(at: number, width: number): string {
  const digits = String(at).padStart(Math.ceil(String(at).length / 3) * 3, "0");
  return `${digits.replace(/[0-9]{3}(?=[0-9])/g, "x$&/")}${width === WIDTH ? "" : `.p/${width}`}`;
}

/** What has no sibling goes up as it is. */
function parentsOf(level: readonly Buffer[]): Buffer[] {
  const parents: Buffer[] = [];
  for (let at = 0; at < level.length; at += 2)
    parents.push(
      at + 1 < level.length
        ? sha256(Buffer.concat([Buffer.of(1), level[at]!, level[at + 1]!]))
        : level[at]!,
    );
  return parents;
}
