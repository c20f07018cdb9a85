/** Reads a checkpoint (C2SP tlog-checkpoint in a signed-note) and believes it once every key that the policy lists for its origin has signed. */
import { verify } from "node:crypto";
import { ED25519, type LogKey } from "./log-keys.ts";

export type Checkpoint = { origin: string; size: number; root: Buffer; note: string };

/** The bytes are no checkpoint of this log. */
export class CheckpointRefused extends Error {
  override readonly name = "CheckpointRefused";
  readonly code = "checkpoint_refused";
}

const MAX_NOTE_BYTES = 65_536;
const NOTE = /^([^\n]{1,255})\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n\n((?:— [^\s+]+ [A-Za-z0-9+/]+=*\n){1,64})$/u;
const SUBTREE_LABEL = Buffer.from("subtree/v1\n\0", "latin1");
const TIME_BYTES = 8;

/** @throws {@link CheckpointRefused} */
export function openCheckpoint(bytes: Buffer, origin: string, keys: readonly LogKey[]): Checkpoint {
  const note = bytes.length > MAX_NOTE_BYTES ? "" : bytes.toString("utf8");
  const [, named = "", size = "", root = "", lines = ""] = NOTE.exec(note) ?? [];
  if (named !== origin) throw new CheckpointRefused(`it is no checkpoint of ${origin}`);
  const checkpoint = { origin, size: Number(size), root: Buffer.from(root, "base64"), note };
  if (!Number.isSafeInteger(checkpoint.size)) throw new CheckpointRefused("its size is too large");
  const own = keys.filter(({ name }) => name === origin);
  if (own.length === 0) throw new CheckpointRefused(`the policy lists no key for ${origin}`);
  const signatures = lines.trimEnd().split("\n").map(readSignature);
  for (const key of own) {
    const isSigned = signatures.some(
      ({ name, bytes }) =>
        name === origin && bytes.subarray(0, 4).equals(key.keyId) && isSignatureOf(bytes.subarray(4), checkpoint, key),
    );
    if (!isSigned) throw new CheckpointRefused(`key ${key.keyId.toString("hex")} of ${origin} has not signed it`);
  }
  return checkpoint;
}

function readSignature(line: string): { name: string; bytes: Buffer } {
  const [, name = "", encoded = ""] = line.split(" ");
  return { name, bytes: Buffer.from(encoded, "base64") };
}

function isSignatureOf(signature: Buffer, { origin, size, root }: Checkpoint, { type, key }: LogKey): boolean {
  if (type === ED25519)
    return verify(null, Buffer.from(`${origin}\n${size}\n${root.toString("base64")}\n`, "utf8"), key, signature);
  if (signature.length < TIME_BYTES) return false;
  const message = subtreeMessage(origin, signature.subarray(0, TIME_BYTES), origin, size, root);
  return verify(null, message, key, signature.subarray(TIME_BYTES));
}

/** `cosigned_message` of tlog-cosignature: what an ML-DSA-44 key signs, the log's own as a witness's. */
function subtreeMessage(cosigner: string, time: Buffer, origin: string, size: number, root: Buffer): Buffer {
  const start = Buffer.alloc(8);
  const end = Buffer.alloc(8);
  end.writeBigUInt64BE(BigInt(size));
  return Buffer.concat([SUBTREE_LABEL, prefixed(cosigner), time, prefixed(origin), start, end, root]);
}

function prefixed(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}
