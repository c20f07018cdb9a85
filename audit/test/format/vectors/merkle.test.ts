/** Proofs and corruptions of the public Merkle library's tests, against the log's code and, apart, against the verifier's. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { isConsistent, isIncluded } from "../../../src/format/tree/proof-check.ts";
import { evaluateInclusion } from "@resontech/verifier/event-proof";
import { nodePlatform } from "@resontech/verifier/platform/platform-node";

type Vector = { name: string; proof: string[] | null; wantErr: boolean };
type Consistency = Vector & { size1: number; size2: number; root1: string; root2: string };
type Inclusion = Vector & { leafIdx: number; treeSize: number; root: string; leafHash: string };
const { consistency, inclusion } = JSON.parse(
  readFileSync(join(import.meta.dirname, "fixtures/merkle.json"), "utf8"),
) as {
  consistency: Consistency[];
  inclusion: Inclusion[];
};
const bytes = (base64: string): Buffer => Buffer.from(base64 ?? "", "base64");
const hashes = ({ proof }: Vector): Buffer[] => (proof ?? []).map(bytes);

/** Names of those that are judged otherwise than the library does, and how many were accepted. */
function judged<V extends Vector>(vectors: readonly V[], accepts: (vector: V) => boolean) {
  const results = vectors.map((vector) => ({ ...vector, accepted: accepts(vector) }));
  return {
    accepted: results.filter(({ accepted }) => accepted).length,
    differing: results
      .filter(({ accepted, wantErr }) => accepted === wantErr)
      .map(({ name }) => name),
  };
}

t.test("inclusion: 6 of 98 accepted, by both", (t) => {
  const byLog = judged(inclusion, (vector) =>
    isIncluded(
      vector.leafIdx,
      bytes(vector.leafHash),
      vector.treeSize,
      bytes(vector.root),
      hashes(vector),
    ),
  );
  const byVerifier = judged(inclusion, (vector) => {
    const { leafIdx, leafHash, treeSize, root } = vector;
    const head = { size: treeSize, root: bytes(root) };
    return (
      evaluateInclusion(bytes(leafHash), leafIdx, hashes(vector), head, nodePlatform).verdict ===
      "PASS"
    );
  });
  t.same(byLog, { accepted: 6, differing: [] });
  t.same(byVerifier, { accepted: 6, differing: [] });
  t.end();
});

t.test("consistency: 6 of 98 accepted", (t) => {
  const byLog = judged(consistency, (vector) =>
    isConsistent(
      vector.size1,
      bytes(vector.root1),
      vector.size2,
      bytes(vector.root2),
      hashes(vector),
    ),
  );
  t.same(byLog, { accepted: 6, differing: [] });
  t.end();
});
