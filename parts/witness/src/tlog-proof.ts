/** C2SP tlog-proof: one entry, that it stands in a tree, and the checkpoint of that tree. */
import { parseAnyCheckpoint, type SignedCheckpoint } from "@resontech/audit/format/note/checkpoint";
import { hashLeaf } from "@resontech/audit/format/tree/merkle";
import { isIncluded, MAX_PROOF_HASHES } from "@resontech/audit/format/tree/proof-check";
import { parseHashLine } from "./add-checkpoint.ts";

export type TlogProof = {
  /** Opaque to the format; our logs put the leaf here. */ extra: Buffer;
  index: number;
  proof: Buffer[];
  checkpoint: SignedCheckpoint;
};

const HEADER = "c2sp.org/tlog-proof@v1";
const EXTRA = /^extra ([A-Za-z0-9+/]+={0,2})$/;
const INDEX = /^index (0|[1-9][0-9]{0,15})$/;

/** Reads a proof; null for what is no proof with its leaf. */
export function parseTlogProof(text: string): TlogProof | null {
  const blank = text.indexOf("\n\n");
  const [header, extraLine = "", indexLine = "", ...proofLines] = text
    .slice(0, Math.max(0, blank))
    .split("\n");
  const [, encoded = ""] = EXTRA.exec(extraLine) ?? [];
  const extra = Buffer.from(encoded, "base64");
  const index = Number(INDEX.exec(indexLine)?.[1] ?? Number.NaN);
  const proof = proofLines.map(parseHashLine);
  const checkpoint = parseAnyCheckpoint(text.slice(blank + 2));
  const isWhole =
    header === HEADER &&
    encoded !== "" &&
    extra.toString("base64") === encoded &&
    Number.isSafeInteger(index);
  if (!isWhole || proof.length > MAX_PROOF_HASHES || checkpoint === null) return null;
  return proof.every((hash) => hash !== null) ? { extra, index, proof, checkpoint } : null;
}

/** Whether the leaf in `extra` stands where the proof says. Who signed the checkpoint is the caller's to judge. */
export function holdsLeaf({ extra, index, proof, checkpoint }: TlogProof): boolean {
  return isIncluded(index, hashLeaf(extra), checkpoint.size, checkpoint.root, proof);
}
