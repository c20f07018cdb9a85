import { createHash } from "node:crypto";
import t from "tap";
import { Frontier, hashLeaf, hashNode } from "../../../src/format/tree/merkle.ts";
import { nodePlatform } from "@resontech/verifier/platform/platform-node";
import { VerifierTree } from "@resontech/verifier/tree/tree";

/** Leaves and roots of the Certificate Transparency reference tests (google/certificate-transparency, merkle_tree_test.cc). */
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
const ROOTS = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

t.test(
  "gives the published roots of RFC 6962 trees, in the writer and in the verifier",
  async (t) => {
    const frontier = new Frontier();
    const tree = new VerifierTree(nodePlatform);
    t.equal(frontier.root().toString("hex"), ROOTS[0]);
    t.equal(Buffer.from(tree.root()).toString("hex"), ROOTS[0]);
    for (const [at, leaf] of LEAVES.entries()) {
      frontier.append(hashLeaf(Buffer.from(leaf, "hex")));
      tree.add(Buffer.from(`00${leaf}`, "hex"));
      t.equal(frontier.root().toString("hex"), ROOTS[at + 1], `${at + 1} leaves`);
      t.equal(
        Buffer.from(tree.root()).toString("hex"),
        ROOTS[at + 1],
        `${at + 1} leaves, verifier`,
      );
    }
  },
);

t.test(
  "agrees with the recursive definition of RFC 6962 §2.1 at every size around tile borders",
  async (t) => {
    const texts = Array.from({ length: 1_100 }, (_, n) => Buffer.from(`leaf ${n}`));
    const leaves = texts.map(hashLeaf);
    const memo = new Map<string, Buffer>();
    const mth = (from: number, to: number): Buffer => {
      if (to - from === 0) return createHash("sha256").digest();
      if (to - from === 1) return leaves[from]!;
      const key = `${from} ${to}`;
      const known = memo.get(key);
      if (known !== undefined) return known;
      const split = 2 ** Math.floor(Math.log2(to - from - 1));
      const root = hashNode(mth(from, from + split), mth(from + split, to));
      memo.set(key, root);
      return root;
    };
    const frontier = new Frontier();
    const tree = new VerifierTree(nodePlatform);
    for (const [at, leaf] of leaves.entries()) {
      frontier.append(leaf);
      tree.add(Buffer.concat([Buffer.of(0), texts[at]!]));
      const expected = mth(0, at + 1);
      if (!frontier.root().equals(expected) || !expected.equals(tree.root()))
        t.fail(`${at + 1} leaves`);
    }
    t.equal(frontier.size, 1_100);
  },
);
