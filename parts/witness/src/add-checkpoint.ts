/** The body of C2SP tlog-witness `add-checkpoint`, and what a witness that knows this much of the log answers. Pure. */
import {
  parseAnyCheckpoint,
  type SignedCheckpoint,
  verifiedTime,
} from "@resontech/audit/format/note/checkpoint";
import { Frontier, HASH_BYTES } from "@resontech/audit/format/tree/merkle";
import type { NoteKey } from "@resontech/audit/format/note/note-key";
import { isConsistent, MAX_PROOF_HASHES } from "@resontech/audit/format/tree/proof-check";
import {
  isLineOf,
  MAX_NOTE_BYTES,
  type SignatureLine,
} from "@resontech/audit/format/note/signed-note";

export type AddCheckpoint = { oldSize: number; proof: Buffer[]; checkpoint: SignedCheckpoint };
/** The newest checkpoint that the witness cosigned for an origin; size 0 and no root before the first. */
export type LastCosigned = { size: number; root: Buffer | null };
export type Refusal =
  | { status: 400 | 403 | 404 | 422; reason: string }
  | { status: 409; reason: string /** Of the latest cosigned checkpoint. */; size: number };
/** `signatures`: the log's own lines that were verified. */
export type Judgement = { status: 200; signatures: SignatureLine[] } | Refusal;

const HASH_LINE_BYTES = 45;
const OLD_LINE_BYTES = 21;
export const MAX_BODY_BYTES =
  OLD_LINE_BYTES + MAX_PROOF_HASHES * HASH_LINE_BYTES + 1 + MAX_NOTE_BYTES;

const OLD_LINE = /^old (0|[1-9][0-9]{0,15})$/;
const HASH_LINE = /^[A-Za-z0-9+/]{43}=$/;
const EMPTY_ROOT = new Frontier().root();

/** Reads a request's old size, proof and checkpoint; null for a body that is none. */
export function parseAddCheckpoint(body: Buffer): AddCheckpoint | null {
  const text = decoded(body);
  const blank = text?.indexOf("\n\n") ?? -1;
  if (text === null || blank === -1) return null;
  const [oldLine = "", ...proofLines] = text.slice(0, blank).split("\n");
  const oldSize = Number(OLD_LINE.exec(oldLine)?.[1] ?? Number.NaN);
  const proof = proofLines.map(parseHashLine);
  const checkpoint = parseAnyCheckpoint(text.slice(blank + 2));
  if (!Number.isSafeInteger(oldSize) || proof.length > MAX_PROOF_HASHES || checkpoint === null)
    return null;
  return proof.every((hash) => hash !== null) ? { oldSize, proof, checkpoint } : null;
}

/** @param log null for an origin that the witness does not know */
export function judge(
  request: AddCheckpoint,
  log: (LastCosigned & { keys: readonly NoteKey[] }) | null,
): Judgement {
  const { oldSize, proof, checkpoint } = request;
  if (log === null) return { status: 404, reason: "origin_unknown" };
  const signatures = verifiedLines(checkpoint, log.keys);
  if (signatures === null) return { status: 403, reason: "signature_wrong" };
  if (signatures.length === 0) return { status: 403, reason: "signature_missing" };
  if (oldSize > checkpoint.size) return { status: 400, reason: "old_size_above_size" };
  if (oldSize !== log.size) return { status: 409, reason: "old_size_differs", size: log.size };
  const { size, root } = checkpoint;
  if (size === 0 && !root.equals(EMPTY_ROOT)) return { status: 422, reason: "root_of_empty_tree" };
  if (oldSize === 0 && proof.length > 0) return { status: 422, reason: "proof_of_empty_tree" };
  const isProven =
    oldSize === 0 || (log.root !== null && isConsistent(oldSize, log.root, size, root, proof));
  return isProven ? { status: 200, signatures } : { status: 422, reason: "not_consistent" };
}

/** The lines of these keys; null when one of them does not verify. Others are ignored. */
export function verifiedLines(
  checkpoint: SignedCheckpoint,
  keys: readonly NoteKey[],
): SignatureLine[] | null {
  const lines: SignatureLine[] = [];
  for (const line of checkpoint.signatures) {
    const key = keys.find((key) => isLineOf(line, key));
    if (key === undefined) continue;
    if (verifiedTime(checkpoint, line, key) === null) return null;
    lines.push(line);
  }
  return lines;
}

/** A line of base64 of 32 bytes; null for anything else. */
export function parseHashLine(line: string): Buffer | null {
  const hash = Buffer.from(line, "base64");
  return HASH_LINE.test(line) && hash.length === HASH_BYTES && hash.toString("base64") === line
    ? hash
    : null;
}

function decoded(body: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return null;
  }
}
