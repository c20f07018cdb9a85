/** Verifies one export. Memory does not grow with the log: one bundle and one tile of each level are held at a time. */
import { createHash } from "node:crypto";
import { BundleReader } from "./bundle.ts";
import { type LeafFacts, MAX_LEAF_BYTES, readLeaf } from "./leaf.ts";
import { isSignedBy, MAX_NOTE_BYTES, parseCheckpoint, parsePolicy, type Policy, Refused, type SignedCheckpoint } from "./note.ts";
import { sha256 } from "./sha256.ts";
import { type ExpectedFile, expectedFiles, VerifierTree } from "./tree.ts";
import { notCheckedYet, type Verdict, type Verdicts } from "./verdicts.ts";

const HASH_BYTES = 32;

export type Report = {
  verdicts: Verdicts;
  /** Why the input was refused; null when it was read to its end. */
  refused: string | null;
  bundle: { sha256: string; bytes: number };
  policySha256: string | null;
  checkpoint: { origin: string; size: number; root: string } | null;
  entriesRead: number;
  /** auditd's time of the first and last entry. */
  from: string | null;
  to: string | null;
  /** Entries by type, in order of the type's name. */
  types: Record<string, number>;
};

export type VerifyOptions = {
  bundle: AsyncIterable<Buffer>;
  policy: Buffer | null;
  onProgress?: (entries: number, size: number) => void;
};

/** Judges; does not throw for anything that the input holds. */
export async function verify({ bundle, policy, onProgress }: VerifyOptions): Promise<Report> {
  const digest = createHash("sha256");
  const report: Report = {
    verdicts: notCheckedYet(),
    refused: null,
    bundle: { sha256: "", bytes: 0 },
    policySha256: policy === null ? null : sha256(policy).toString("hex"),
    checkpoint: null,
    entriesRead: 0,
    from: null,
    to: null,
    types: {},
  };
  const reader = new BundleReader(observed(bundle, digest));
  try {
    const trusted = policy === null ? null : parsePolicy(policy);
    const checkpoint = parseCheckpoint(await reader.member("checkpoint", MAX_NOTE_BYTES));
    report.checkpoint = { origin: checkpoint.origin, size: checkpoint.size, root: checkpoint.root.toString("base64") };
    report.verdicts.SIGNATURE = judgeSignature(checkpoint, trusted);
    if (trusted === null) report.verdicts.WITNESSED = { verdict: "SELF-ASSERTED", reason: "no policy was given (--policy FILE)" };
    report.verdicts.INTEGRITY = await judgeIntegrity(reader, checkpoint, report, onProgress);
    await reader.end();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    report.refused = error.message;
    if (report.verdicts.INTEGRITY.verdict !== "FAIL")
      report.verdicts.INTEGRITY = {
        verdict: "FAIL",
        reason: "the export could not be read to its end",
        index: report.entriesRead,
      };
  }
  report.bundle = { sha256: digest.digest("hex"), bytes: reader.bytesRead };
  report.types = Object.fromEntries(Object.entries(report.types).sort(([a], [b]) => (a < b ? -1 : 1)));
  return report;
}

/** Every key that the policy lists for this origin must have signed. */
function judgeSignature(checkpoint: SignedCheckpoint, policy: Policy | null): Verdict {
  if (policy === null)
    return {
      verdict: "SELF-ASSERTED",
      reason: "no policy was given (--policy FILE), so no key is known that did not come with the log",
    };
  const keys = policy.logs.filter(({ name }) => name === checkpoint.origin);
  if (keys.length === 0) return { verdict: "FAIL", reason: `the policy has no key for the origin ${checkpoint.origin}` };
  let unknownKinds = 0;
  for (const key of keys) {
    const lines = checkpoint.signatures.filter(({ name, keyId }) => name === key.name && keyId === key.keyId);
    if (lines.length === 0) return { verdict: "FAIL", reason: `the checkpoint lacks the signature of key ${key.keyId}` };
    const results = lines.map((line) => isSignedBy(checkpoint, line, key));
    if (results.includes(false)) return { verdict: "FAIL", reason: `the signature of key ${key.keyId} does not verify` };
    if (results.includes(null)) unknownKinds += 1;
  }
  if (unknownKinds > 0)
    return {
      verdict: "NOT CHECKED",
      reason: `${unknownKinds} of ${keys.length} keys are of a kind that this release can't check`,
    };
  return { verdict: "PASS", reason: `signed by ${keys.map(({ keyId }) => keyId).join(", ")}, as the policy lists` };
}

/** Every entry is hashed again, every tile compared, and the root computed from the entries alone. */
async function judgeIntegrity(
  reader: BundleReader,
  checkpoint: SignedCheckpoint,
  report: Report,
  onProgress: VerifyOptions["onProgress"],
): Promise<Verdict> {
  const tree = new VerifierTree();
  let failure: Verdict | null = null;
  for (const file of expectedFiles(checkpoint.size)) {
    const maxBytes = file.kind === "entries" ? file.width * (2 + MAX_LEAF_BYTES) : file.width * HASH_BYTES;
    const content = await reader.member(file.name, maxBytes);
    const fault: Verdict | null =
      file.kind === "entries" ? readEntries(content, file, tree, report) : compareTile(content, file, tree);
    // The first fault in the order of the tree is the one that is told.
    if (fault !== null && (failure === null || (fault.index ?? 0) < (failure.index ?? 0))) failure = fault;
    if (file.kind === "entries") {
      onProgress?.(report.entriesRead, checkpoint.size);
      // Without all its entries the rest of the tree can't be built.
      if (fault !== null && report.entriesRead < file.tile * 256 + file.width) return fault;
    }
  }
  if (failure !== null) return failure;
  if (!tree.root().equals(checkpoint.root))
    return {
      verdict: "FAIL",
      reason: "entries and tiles agree, but their root is not the checkpoint's: it is another log, or an older state",
      index: 0,
    };
  return { verdict: "PASS", reason: `${report.entriesRead} entries hashed again; their root is the checkpoint's` };
}

function readEntries(content: Buffer, file: ExpectedFile, tree: VerifierTree, report: Report): Verdict | null {
  const first = file.tile * 256;
  let failure: Verdict | null = null;
  let at = 0;
  for (let index = first; index < first + file.width; index++) {
    const end = at + 2 <= content.length ? at + 2 + content.readUInt16BE(at) : Number.POSITIVE_INFINITY;
    if (end > content.length) return fail(index, `${file.name} ends within an entry`);
    const leaf = content.subarray(at + 2, end);
    const facts = readLeaf(leaf);
    if ("fault" in facts) failure ??= fail(index, `the entry is ${facts.fault}`);
    else failure ??= count(report, facts, index);
    // The byte before the entry, read already, becomes the 0x00 of RFC 6962's leaf hash.
    content[at + 1] = 0x00;
    tree.addLeaf(sha256(content.subarray(at + 1, end)));
    report.entriesRead += 1;
    at = end;
  }
  return failure ?? (at === content.length ? null : fail(first, `${file.name} holds more than its entries`));
}

function count(report: Report, { type, tLog }: LeafFacts, index: number): Verdict | null {
  report.types[type] = (report.types[type] ?? 0) + 1;
  report.from ??= tLog;
  if (report.to !== null && tLog < report.to) return fail(index, "the log's time goes back");
  report.to = tLog;
  return null;
}

function compareTile(content: Buffer, file: ExpectedFile, tree: VerifierTree): Verdict | null {
  const leavesPerHash = 256 ** file.level;
  const first = file.tile * 256 * leavesPerHash;
  if (content.length !== file.width * HASH_BYTES) return fail(first, `${file.name} has not its size`);
  const hashes = tree.expectedTile(file.level, file.width);
  for (const [at, hash] of hashes.entries())
    if (!hash.equals(content.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)))
      return fail(
        first + at * leavesPerHash,
        file.level === 0 ? "the entry does not hash to its tile's value" : `${file.name} is not what its entries give`,
      );
  return null;
}

function fail(index: number, reason: string): Verdict {
  return { verdict: "FAIL", reason, index };
}

async function* observed(stream: AsyncIterable<Buffer>, digest: { update: (chunk: Buffer) => unknown }): AsyncGenerator<Buffer> {
  for await (const chunk of stream) {
    digest.update(chunk);
    yield chunk;
  }
}
