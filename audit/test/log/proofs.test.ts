import { mkdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { LogReader } from "../../src/log/log-reader.ts";
import { Frontier, hashLeaf, hashNode } from "../../src/log/merkle.ts";
import { consistencyProof, inclusionProof } from "../../src/log/proofs.ts";
import { TreeWriter } from "../../src/log/tree-writer.ts";
import { hasRoom, temporaryFolder } from "../helper.ts";

const leaves = Array.from({ length: 70_000 }, (_, n) => {
  const leaf = Buffer.from(`leaf ${n}`);
  return { leaf, leafHash: hashLeaf(leaf) };
});
/** Around the borders of tiles of both levels. */
const SIZES = [1, 2, 3, 255, 256, 257, 511, 1_000, 65_535, 65_536, 65_537, 65_792, 70_000];

function rootsOf(sizes: readonly number[]): Map<number, Buffer> {
  const frontier = new Frontier();
  const roots = new Map<number, Buffer>();
  for (const { leafHash } of leaves) {
    frontier.append(leafHash);
    if (sizes.includes(frontier.size)) roots.set(frontier.size, frontier.root());
  }
  return roots;
}

/** RFC 9162 §2.1.3.2. */
function rootByInclusion(index: number, size: number, leafHash: Buffer, proof: readonly Buffer[]): Buffer | null {
  let [node, last, hash] = [index, size - 1, leafHash];
  for (const sibling of proof) {
    if (last === 0) return null;
    if (node % 2 === 1 || node === last) {
      hash = hashNode(sibling, hash);
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)];
    } else hash = hashNode(hash, sibling);
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return last === 0 ? hash : null;
}

/** RFC 9162 §2.1.4.2. */
function isConsistent(first: number, second: number, firstRoot: Buffer, secondRoot: Buffer, proof: readonly Buffer[]): boolean {
  const path = (first & (first - 1)) === 0 ? [firstRoot, ...proof] : [...proof];
  let [node, last] = [first - 1, second - 1];
  while (node % 2 === 1) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  let [older, newer] = [path[0]!, path[0]!];
  for (const hash of path.slice(1)) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      [older, newer] = [hashNode(hash, older), hashNode(hash, newer)];
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)];
    } else newer = hashNode(newer, hash);
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return last === 0 && older.equals(firstRoot) && newer.equals(secondRoot);
}

t.test("proofs of inclusion and consistency hold by the algorithms of RFC 9162, at every kind of size", async (t) => {
  const folder = join(temporaryFolder(t), "log");
  mkdirSync(folder);
  const writer = await TreeWriter.open(folder, 0, hasRoom);
  for (const [at, size] of SIZES.entries()) await writer.grow(leaves.slice(SIZES[at - 1] ?? 0, size));
  const roots = rootsOf(SIZES);
  const reader = new LogReader(folder);
  for (const size of SIZES) {
    for (const index of new Set([0, 1, 254, 255, 256, size >> 1, size - 2, size - 1].filter((one) => one >= 0 && one < size))) {
      const root = rootByInclusion(index, size, leaves[index]!.leafHash, await inclusionProof(reader, index, size));
      if (root?.equals(roots.get(size)!) !== true) t.fail(`leaf ${index} of ${size}`);
    }
    for (const old of SIZES.filter((one) => one < size)) {
      const proof = await consistencyProof(reader, old, size);
      if (!isConsistent(old, size, roots.get(old)!, roots.get(size)!, proof)) t.fail(`${old} to ${size}`);
      const wrong = proof.map((hash, at) => (at === 0 ? Buffer.alloc(32) : hash));
      if (isConsistent(old, size, roots.get(old)!, roots.get(size)!, wrong)) t.fail(`${old} to ${size}, altered`);
    }
  }
  t.same(await consistencyProof(reader, 0, 256), []);
  t.same(await consistencyProof(reader, 256, 256), []);
  await t.rejects(inclusionProof(reader, 256, 256), RangeError);
  await t.rejects(consistencyProof(reader, 257, 256), RangeError);
});
