/** C2SP signed-note, tlog-checkpoint and tlog-policy, as far as this release checks them. Input is hostile. */
import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { sha256 } from "./sha256.ts";

/** The input can't be what it says it is; nothing can be said about it. */
export class Refused extends Error {
  override readonly name = "Refused";
}

export const MAX_NOTE_BYTES = 65_536;
const MAX_SIGNATURES = 64;
const MAX_POLICY_ITEMS = 32;
const MAX_NAME_BYTES = 255;
const ED25519 = 0x01;
const ML_DSA_44 = 0x06;

export type Checkpoint = { origin: string; size: number; root: Buffer };
export type Signature = { name: string; keyId: string; signature: Buffer };
export type SignedCheckpoint = Checkpoint & { text: string; signatures: Signature[] };

/** @throws {@link Refused} */
export function parseCheckpoint(bytes: Buffer): SignedCheckpoint {
  const note = decodeText(bytes, "the checkpoint");
  const split = note.lastIndexOf("\n\n");
  if (split === -1 || !note.endsWith("\n")) throw new Refused("the checkpoint is no signed note");
  const text = note.slice(0, split + 1);
  const lines = text.slice(0, -1).split("\n");
  const [origin = "", size = "", root = ""] = lines;
  if (lines.length !== 3) throw new Refused("the checkpoint has not exactly three lines");
  if (origin === "" || Buffer.byteLength(origin) > MAX_NAME_BYTES)
    throw new Refused("the checkpoint's origin is empty or too long");
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(size) || !Number.isSafeInteger(Number(size)))
    throw new Refused("the checkpoint's size is no number");
  const signatures = note.slice(split + 2, -1).split("\n");
  if (signatures.length > MAX_SIGNATURES) throw new Refused("the checkpoint has too many signatures");
  return { origin, size: Number(size), root: decodeBase64(root, 32), text, signatures: signatures.map(parseSignature) };
}

function parseSignature(line: string): Signature {
  const match = /^— ([^\s+]+) (\S+)$/u.exec(line);
  if (match === null) throw new Refused("the checkpoint has a line that is no signature");
  const [, name = "", encoded = ""] = match;
  const bytes = decodeBase64(encoded, null);
  if (bytes.length < 5) throw new Refused("the checkpoint has a signature that is too short");
  return { name, keyId: bytes.subarray(0, 4).toString("hex"), signature: bytes.subarray(4) };
}

export type LogKey = { name: string; keyId: string; type: number; publicKey: Buffer };
export type Policy = { logs: LogKey[]; witnesses: number; quorum: string };

/** @throws {@link Refused} for anything that tlog-policy does not allow */
export function parsePolicy(bytes: Buffer): Policy {
  const logs: LogKey[] = [];
  const names = new Set<string>();
  let witnesses = 0;
  let quorum: string | null = null;
  for (const line of decodeText(bytes, "the policy").split("\n")) {
    const words = line.split(/[ \t]+/).filter((word) => word !== "");
    const [keyword = "#", first = "", second = ""] = words;
    if (keyword.startsWith("#")) continue;
    switch (keyword) {
      case "log":
        if (words.length > 3) throw new Refused("the policy has a log line with too many words");
        logs.push(parseVerifierKey(first));
        break;
      case "witness":
        if (words.length < 3 || words.length > 4) throw new Refused("the policy has a witness line that is none");
        parseVerifierKey(second);
        define(names, first);
        witnesses += 1;
        break;
      case "group":
        if (words.length < 4) throw new Refused("the policy has a group without members");
        for (const member of words.slice(3))
          if (!names.has(member)) throw new Refused(`the policy's group ${first} has an unknown member`);
        define(names, first);
        break;
      case "quorum":
        if (quorum !== null || words.length !== 2) throw new Refused("the policy has not exactly one quorum");
        if (first !== "none" && !names.has(first)) throw new Refused("the policy's quorum names nobody");
        quorum = first;
        break;
      default:
        throw new Refused("the policy has a line of unknown kind");
    }
  }
  if (quorum === null) throw new Refused("the policy has no quorum line");
  if (logs.length > MAX_POLICY_ITEMS || names.size > 2 * MAX_POLICY_ITEMS) throw new Refused("the policy is too long");
  if (new Set(logs.map(({ publicKey }) => publicKey.toString("hex"))).size !== logs.length)
    throw new Refused("the policy lists a key twice");
  return { logs, witnesses, quorum };
}

function define(names: Set<string>, name: string): void {
  if (name === "none" || names.has(name)) throw new Refused(`the policy defines ${name} twice`);
  names.add(name);
}

/** `name+hash+base64(type ‖ key)`; the hash must be the key's own. */
function parseVerifierKey(text: string): LogKey {
  const match = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/u.exec(text);
  if (match === null) throw new Refused("the policy has a key that is none");
  const [, name = "", keyId = "", encoded = ""] = match;
  const bytes = decodeBase64(encoded, null);
  const computed = sha256(Buffer.concat([Buffer.from(`${name}\n`, "utf8"), bytes]))
    .subarray(0, 4)
    .toString("hex");
  const type = bytes[0] ?? 0;
  const length = type === ED25519 ? 33 : type === ML_DSA_44 ? 1_313 : null;
  if (length !== null && (computed !== keyId || bytes.length !== length))
    throw new Refused("the policy has a key whose hash is not its own");
  return { name, keyId, type, publicKey: bytes.subarray(1) };
}

/** Null for a kind of key that this release, or this runtime, can't check. */
export function isSignedBy(checkpoint: SignedCheckpoint, { signature }: Signature, key: LogKey): boolean | null {
  if (key.type === ED25519) {
    const publicKey = publicKeyOf("302a300506032b6570032100", key);
    return (
      publicKey !== null && signature.length === 64 && verify(null, Buffer.from(checkpoint.text, "utf8"), publicKey, signature)
    );
  }
  if (key.type !== ML_DSA_44) return null;
  const publicKey = publicKeyOf("30820532300b06096086480165030403110382052100", key);
  if (publicKey === null) return null;
  return (
    signature.length === 8 + 2_420 &&
    verify(null, timedMessage(checkpoint, key.name, signature), publicKey, signature.subarray(8))
  );
}

/** Null when the runtime does not know the algorithm: ML-DSA came with Node 24. */
function publicKeyOf(spkiPrefix: string, { publicKey }: LogKey): KeyObject | null {
  try {
    return createPublicKey({ key: Buffer.concat([Buffer.from(spkiPrefix, "hex"), publicKey]), format: "der", type: "spki" });
  } catch {
    return null;
  }
}

/** `cosigned_message` of tlog-cosignature: label, signer, time, origin, from 0 to the size, root. */
function timedMessage({ origin, size, root }: SignedCheckpoint, signer: string, signature: Buffer): Buffer {
  const named = (text: string): Buffer => Buffer.concat([Buffer.of(Buffer.byteLength(text)), Buffer.from(text, "utf8")]);
  const sizes = Buffer.alloc(16);
  sizes.writeBigUInt64BE(BigInt(size), 8);
  return Buffer.concat([
    Buffer.from("subtree/v1\n\0", "latin1"),
    named(signer),
    signature.subarray(0, 8),
    named(origin),
    sizes,
    root,
  ]);
}

function decodeText(bytes: Buffer, what: string): string {
  if (bytes.length > MAX_NOTE_BYTES) throw new Refused(`${what} is longer than ${MAX_NOTE_BYTES} bytes`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refused(`${what} is no UTF-8 text`);
  }
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(text)) throw new Refused(`${what} holds control characters`);
  return text;
}

function decodeBase64(text: string, length: number | null): Buffer {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text || (length !== null && bytes.length !== length))
    throw new Refused("a value is no base64 of its length");
  return bytes;
}
