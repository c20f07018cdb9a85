/**
 * A proof of one event (C2SP tlog-proof, the leaf as its `extra`): it answers what one leaf and one checkpoint can answer, and says of the rest that it
 * does not.
 */
import { concat, equal, fromBase64, hex, textOf } from "./input/bytes.ts";
import { readLeaf } from "./leaf/read-leaf.ts";
import { parseCheckpoint, Refused } from "./input/note.ts";
import type { Platform } from "./platform/platform.ts";
import { parsePolicy } from "./signatures/policy.ts";
import { fail, notChecked, pass, type Verdict, type Verdicts } from "./verdicts.ts";
import { evaluateSignature } from "./signatures/evaluate-signature.ts";
import { UNKNOWN_KIND, witnessing } from "./signatures/witnessed.ts";

export const PROOF_HEADER = "c2sp.org/tlog-proof@v1\n";
export const MAX_PROOF_BYTES = 131_072;
const MAX_HASHES = 63;

export type ProofReport = {
  verdicts: Verdicts;
  refused: string | null;
  policySha256: string | null;
  checkpoint: { origin: string; size: number } | null;
  index: number | null;
  /** The event, canonical JSON. */
  event: string | null;
};

type Proof = { leaf: Uint8Array; index: number; hashes: Uint8Array[]; note: Uint8Array };

/** Judges; does not throw for anything that the input holds. */
export async function verifyProof(
  bytes: Uint8Array,
  policy: Uint8Array | null,
  platform: Platform,
): Promise<ProofReport> {
  const single = notChecked("one event says nothing about the rest of the log");
  const report: ProofReport = {
    verdicts: {
      SIGNATURE: notChecked("the input was refused before"),
      INTEGRITY: notChecked("the input was refused before"),
      "APPEND-ONLY": single,
      WITNESSED: notChecked("the input was refused before"),
      COMPLETENESS: single,
      DISCLOSURES: single,
    },
    refused: null,
    policySha256: policy === null ? null : hex(platform.sha256(policy)),
    checkpoint: null,
    index: null,
    event: null,
  };
  const { verdicts } = report;
  try {
    const { leaf, index, hashes, note } = parseProof(bytes);
    const checkpoint = parseCheckpoint(note, "the checkpoint");
    report.checkpoint = { origin: checkpoint.origin, size: checkpoint.size };
    report.index = index;
    const read = readLeaf(leaf);
    if ("fault" in read) verdicts.INTEGRITY = fail(index, `the entry is ${read.fault}`);
    else {
      report.event = textOf(leaf);
      const leafHash = platform.sha256(concat(Uint8Array.of(0), leaf));
      verdicts.INTEGRITY = evaluateInclusion(leafHash, index, hashes, checkpoint, platform);
    }
    if (policy === null) {
      const selfAsserted: Verdict = {
        verdict: "SELF-ASSERTED",
        reason: "no policy was given (--policy FILE)",
      };
      verdicts.SIGNATURE = selfAsserted;
      verdicts.WITNESSED = selfAsserted;
      return report;
    }
    const trusted = parsePolicy(policy, platform);
    verdicts.SIGNATURE = await evaluateSignature(checkpoint, trusted, platform);
    if (trusted.quorum === "none")
      verdicts.WITNESSED = notChecked("the policy asks for no witness (quorum none)");
    else {
      const found = await witnessing(checkpoint, trusted, platform);
      if (found === "invalid") verdicts.WITNESSED = fail(index, "a cosignature does not verify");
      else if (found === "unknown") verdicts.WITNESSED = notChecked(UNKNOWN_KIND);
      else if (found === null)
        verdicts.WITNESSED = fail(
          index,
          "the checkpoint does not carry the policy's quorum of witnesses",
        );
      else
        verdicts.WITNESSED = pass(
          `${found.names.join(", ")} countersigned at ${new Date(found.timeS * 1_000).toISOString()}`,
        );
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    report.refused = error.message;
  }
  return report;
}

function parseProof(bytes: Uint8Array): Proof {
  const text = bytes.length > MAX_PROOF_BYTES ? null : textOf(bytes);
  if (text === null || !text.startsWith(PROOF_HEADER))
    throw new Refused("the input is no tlog-proof, or too long");
  const split = text.indexOf("\n\n");
  const lines = text.slice(PROOF_HEADER.length, split === -1 ? undefined : split).split("\n");
  const [, extra = ""] = /^extra (\S+)$/.exec(lines[0] ?? "") ?? [];
  const [, index = ""] = /^index (0|[1-9][0-9]{0,15})$/.exec(lines[1] ?? "") ?? [];
  const leaf = fromBase64(extra);
  if (
    split === -1 ||
    extra === "" ||
    leaf === null ||
    index === "" ||
    !Number.isSafeInteger(Number(index))
  )
    throw new Refused("the proof lacks its leaf, its index or its checkpoint");
  if (lines.length - 2 > MAX_HASHES) throw new Refused("the proof has too many hashes");
  const hashes = lines.slice(2).map((line) => {
    const hash = fromBase64(line);
    if (hash?.length !== 32) throw new Refused("the proof has a hash that is none");
    return hash;
  });
  return {
    leaf,
    index: Number(index),
    hashes,
    note: new TextEncoder().encode(text.slice(split + 2)),
  };
}

/** RFC 9162 §2.1.3.2, the same tree as RFC 6962's. */
export function evaluateInclusion(
  leafHash: Uint8Array,
  index: number,
  hashes: readonly Uint8Array[],
  { size, root }: { size: number; root: Uint8Array },
  { sha256 }: Platform,
): Verdict {
  if (leafHash.length !== 32) return fail(index, "the entry's hash is no SHA-256");
  if (index >= size) return fail(index, `the checkpoint has ${size} entries`);
  let [node, last] = [index, size - 1];
  let computed = leafHash;
  for (const hash of hashes) {
    if (last === 0) return fail(index, "the proof is longer than the tree is high");
    if (node % 2 === 1 || node === last) {
      computed = sha256(concat(Uint8Array.of(1), hash, computed));
      // A right edge that has no sibling at some levels is skipped there.
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)];
    } else computed = sha256(concat(Uint8Array.of(1), computed, hash));
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  if (last !== 0 || !equal(computed, root))
    return fail(index, "the proof does not lead from the entry to the checkpoint's root");
  return pass(
    `entry ${index} is in the tree of ${size} entries that the checkpoint is the head of`,
  );
}
