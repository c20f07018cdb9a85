import { mkdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { LogReader } from "../../../src/format/tree/log-reader.ts";
import { Frontier, hashLeaf } from "../../../src/format/tree/merkle.ts";
import { isConsistent, isIncluded } from "../../../src/format/tree/proof-check.ts";
import { TileProofs } from "../../../src/format/tree/tile-proofs.ts";
import { TreeWriter } from "@resontech/auditd/checkpoint/tree-writer";
import { hasRoom } from "../../helper/has-room.ts";
import { temporaryFolder } from "@resontech/house/temporary-folder";

/** Leaves, one root and one path of the Certificate Transparency reference tests (google/certificate-transparency, merkle_tree_test.cc). */
const LEAVES = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
];
const ROOT_OF_8 = Buffer.from(
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
  "hex",
);
const PATH_OF_FIRST = [
  "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
  "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
  "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
].map((hash) => Buffer.from(hash, "hex"));

const leafHash = (n: number) => hashLeaf(Buffer.from(`leaf ${n}`));
const flipped = (hash: Buffer) => Buffer.from(hash.map((byte, at) => (at === 7 ? byte ^ 1 : byte)));

/** Roots of all sizes up to `size`, by the frontier alone. */
function rootsUpTo(size: number): Buffer[] {
  const frontier = new Frontier();
  const roots = [frontier.root()];
  for (let n = 0; n < size; n++) {
    frontier.append(leafHash(n));
    roots.push(frontier.root());
  }
  return roots;
}

async function treeOf(folder: string, size: number): Promise<TileProofs> {
  mkdirSync(folder);
  const writer = await TreeWriter.open(folder, 0, hasRoom);
  await writer.grow(
    Array.from({ length: size }, (_, n) => ({
      leaf: Buffer.from(`leaf ${n}`),
      leafHash: leafHash(n),
    })),
  );
  return new TileProofs(new LogReader(folder), size);
}

t.test(
  "a published inclusion proof leads to the published root, and to no other leaf, place or size",
  async (t) => {
    const first = hashLeaf(Buffer.from(LEAVES[0]!, "hex"));
    t.ok(isIncluded(0, first, 8, ROOT_OF_8, PATH_OF_FIRST));
    t.notOk(isIncluded(0, hashLeaf(Buffer.from(LEAVES[1]!, "hex")), 8, ROOT_OF_8, PATH_OF_FIRST));
    t.notOk(isIncluded(1, first, 8, ROOT_OF_8, PATH_OF_FIRST));
    t.notOk(isIncluded(8, first, 8, ROOT_OF_8, PATH_OF_FIRST));
    t.notOk(isIncluded(0, first, 16, ROOT_OF_8, PATH_OF_FIRST));
  },
);

t.test(
  "proofs from tiles hold for every earlier size and leaf, at sizes around the borders of tiles",
  async (t) => {
    const root = temporaryFolder(t);
    const roots = rootsUpTo(1_030);
    let proven = 0;
    for (const size of [1, 2, 7, 255, 256, 257, 511, 1_030]) {
      const proofs = await treeOf(join(root, String(size)), size);
      t.ok((await proofs.root()).equals(roots[size]!), `root of ${size}`);
      for (let at = 0; at < size; at += size > 300 ? 13 : 1) {
        const path = await proofs.inclusion(at);
        if (!isIncluded(at, leafHash(at), size, roots[size]!, path))
          t.fail(`leaf ${at} of ${size}`);
        const proof = await proofs.consistency(at + 1);
        if (!isConsistent(at + 1, roots[at + 1]!, size, roots[size]!, proof))
          t.fail(`${at + 1} of ${size}`);
        proven += 2;
      }
      t.same(await proofs.consistency(0), []);
      t.notOk(isConsistent(0, roots[0]!, size, roots[size]!, []), "the empty tree has no proof");
    }
    t.ok(proven > 1_700, `${proven} proofs`);
  },
);

t.test(
  "a consistency proof with any one hash changed, missing or added, or for other sizes or roots, does not hold",
  async (t) => {
    const size = 777;
    const roots = rootsUpTo(size);
    const proofs = await treeOf(join(temporaryFolder(t), "log"), size);
    for (const old of [1, 3, 256, 300, 512, 776, 777]) {
      const proof = await proofs.consistency(old);
      const holds = (hashes: readonly Buffer[]) =>
        isConsistent(old, roots[old]!, size, roots[size]!, hashes);
      t.ok(holds(proof), `${old}`);
      for (const at of proof.keys()) {
        t.notOk(
          holds(proof.map((hash, n) => (n === at ? flipped(hash) : hash))),
          `${old}: hash ${at} changed`,
        );
        t.notOk(holds(proof.toSpliced(at, 1)), `${old}: hash ${at} missing`);
      }
      t.notOk(holds([...proof, roots[5]!]));
      t.notOk(holds([roots[5]!, ...proof]));
      t.notOk(isConsistent(old, flipped(roots[old]!), size, roots[size]!, proof));
      t.notOk(isConsistent(old, roots[old]!, size, flipped(roots[size]!), proof));
    }
    t.notOk(isConsistent(777, roots[777]!, 776, roots[776]!, []), "not backwards");
    t.notOk(
      isConsistent(0, roots[0]!, 5, roots[5]!, [roots[5]!]),
      "nothing is proven of the empty tree",
    );
    t.notOk(isConsistent(5, roots[5]!, 5, roots[6]!, []), "one size has one root");
    await t.rejects(proofs.consistency(778), RangeError);
    await t.rejects(proofs.inclusion(777), RangeError);
  },
);
