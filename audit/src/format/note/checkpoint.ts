/** C2SP tlog-checkpoint: the three lines of a tree's head, and who signed them. */
import { sign, verify } from "node:crypto";
import { HASH_BYTES } from "../tree/merkle.ts";
import {
  KEY_TYPE,
  type LogSigner,
  type NoteKey,
  type NoteSigner,
  publicKeyObject,
} from "./note-key.ts";
import { formatNote, isLineOf, parseNote, type SignatureLine } from "./signed-note.ts";

/** `extension`: further lines, which our log has none of. They are signed too, but not by ML-DSA-44. */
export type Checkpoint = { origin: string; size: number; root: Buffer; extension?: string };
export type SignedCheckpoint = Checkpoint & {
  /** The lines that were signed. */ text: string;
  signatures: SignatureLine[];
};

const BODY = /^([^\n]+)\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n((?:[^\n]+\n)*)$/;
const TIME_BYTES = 8;
/** tlog-cosignature, "ML-DSA-44 signed message". */
const SUBTREE_LABEL = Buffer.from("subtree/v1\n\0", "latin1");

/** Reads a note; null for what is no checkpoint of three lines. */
export function parseCheckpoint(note: string): SignedCheckpoint | null {
  const checkpoint = parseAnyCheckpoint(note);
  return checkpoint?.extension === "" ? checkpoint : null;
}

/** A checkpoint of any log: there may be extension lines. */
export function parseAnyCheckpoint(note: string): SignedCheckpoint | null {
  const parsed = parseNote(note);
  const [, origin = "", sizeText = "", rootText = "", extension = ""] =
    (parsed === null ? null : BODY.exec(parsed.text)) ?? [];
  const root = Buffer.from(rootText, "base64");
  const size = Number(sizeText);
  if (
    parsed === null ||
    root.length !== HASH_BYTES ||
    root.toString("base64") !== rootText ||
    !Number.isSafeInteger(size)
  )
    return null;
  return { ...parsed, origin, size, root, extension };
}

/** @param nowMs goes into signatures of types with time, in seconds */
export async function signCheckpoint(
  checkpoint: Checkpoint,
  signers: readonly LogSigner[],
  nowMs: number = Date.now(),
): Promise<string> {
  const timeS = Math.floor(nowMs / 1_000);
  const signatures = signers.map(async (signer) =>
    lineOf(signer, timeS, await signer.sign(signedMessage(checkpoint, signer, timeS))),
  );
  return formatNote({
    text: checkpointText(checkpoint),
    signatures: await Promise.all(signatures),
  });
}

/** One line; a witness's is made by the same rule as the log's own, under its own name. */
export function signatureOf(
  checkpoint: Checkpoint,
  signer: NoteSigner,
  timeS: number,
): SignatureLine {
  return lineOf(
    signer,
    timeS,
    sign(null, signedMessage(checkpoint, signer, timeS), signer.privateKey),
  );
}

function lineOf(key: NoteKey, timeS: number, signature: Buffer): SignatureLine {
  return {
    name: key.name,
    keyId: key.keyId,
    signature: Buffer.concat([timeBytes(key, timeS), signature]),
  };
}

/** The time that the signature states, in seconds, 0 for types without; null when it does not verify. */
export function verifiedTime(
  checkpoint: Checkpoint,
  line: SignatureLine,
  key: NoteKey,
): number | null {
  const timed = key.type !== KEY_TYPE.ed25519;
  if (timed && line.signature.length < TIME_BYTES) return null;
  const timeS = timed ? Number(line.signature.readBigUInt64BE(0)) : 0;
  if (!Number.isSafeInteger(timeS)) return null;
  const signature = timed ? line.signature.subarray(TIME_BYTES) : line.signature;
  return verify(null, signedMessage(checkpoint, key, timeS), publicKeyObject(key), signature)
    ? timeS
    : null;
}

/** Reads a checkpoint that every one of these keys signed; null for anything else. Lines of others are kept, unjudged. */
export function openCheckpoint(note: string, keys: readonly NoteKey[]): SignedCheckpoint | null {
  const checkpoint = parseCheckpoint(note);
  if (checkpoint === null || keys.length === 0) return null;
  const isSigned = keys.every((key) => {
    const lines = checkpoint.signatures.filter((line) => isLineOf(line, key));
    return (
      key.name === checkpoint.origin &&
      lines.length > 0 &&
      lines.every((line) => verifiedTime(checkpoint, line, key) !== null)
    );
  });
  return isSigned ? checkpoint : null;
}

export function checkpointText({ origin, size, root, extension = "" }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString("base64")}\n${extension}`;
}

function timeBytes({ type }: NoteKey, timeS: number): Buffer {
  if (type === KEY_TYPE.ed25519) return Buffer.alloc(0);
  const bytes = Buffer.alloc(TIME_BYTES);
  bytes.writeBigUInt64BE(BigInt(timeS));
  return bytes;
}

function signedMessage(checkpoint: Checkpoint, key: NoteKey, timeS: number): Buffer {
  switch (key.type) {
    case KEY_TYPE.ed25519:
      return Buffer.from(checkpointText(checkpoint), "utf8");
    case KEY_TYPE.ed25519Cosignature:
      return Buffer.from(`cosignature/v1\ntime ${timeS}\n${checkpointText(checkpoint)}`, "utf8");
    case KEY_TYPE.mlDsa44:
      return cosignedMessage(checkpoint, key, timeS);
  }
}

/** `cosigned_message` of tlog-cosignature, for the whole tree: start 0, end its size. */
function cosignedMessage(
  { origin, size, root }: Checkpoint,
  { name }: NoteKey,
  timeS: number,
): Buffer {
  const range = Buffer.alloc(16);
  range.writeBigUInt64BE(BigInt(size), 8);
  const time = Buffer.alloc(TIME_BYTES);
  time.writeBigUInt64BE(BigInt(timeS));
  return Buffer.concat([SUBTREE_LABEL, opaque(name), time, opaque(origin), range, root]);
}

/** `opaque <1..2^8-1>`: a byte of length, then the bytes. */
function opaque(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}
