/** Keys of C2SP signed notes: what their ids are, and how they are written down. */
import { createHash, createPublicKey, type KeyObject, sign } from "node:crypto";

/** Signature types of signed-note: Ed25519 over the note, Ed25519 with time, ML-DSA-44 with time. */
export const KEY_TYPE = { ed25519: 0x01, ed25519Cosignature: 0x04, mlDsa44: 0x06 } as const;
export type KeyType = (typeof KEY_TYPE)[keyof typeof KEY_TYPE];

export type NoteKey = {
  name: string;
  type: KeyType /** 4 bytes */;
  keyId: Buffer /** as the algorithm writes it */;
  publicKey: Buffer;
};
/** A key that signs; where its private half lies is its own affair. */
export type LogSigner = NoteKey & { sign: (message: Buffer) => Promise<Buffer> };
export type NoteSigner = LogSigner & { privateKey: KeyObject };

/** DER of SubjectPublicKeyInfo up to the key: RFC 8410, RFC 9881. */
const SPKI_PREFIX = {
  ed25519: Buffer.from("302a300506032b6570032100", "hex"),
  mlDsa44: Buffer.from("30820532300b06096086480165030403110382052100", "hex"),
} as const;
const ALGORITHM_OF: Readonly<Record<KeyType, keyof typeof SPKI_PREFIX>> = {
  0x01: "ed25519",
  0x04: "ed25519",
  0x06: "mlDsa44",
};
const KEY_BYTES = { ed25519: 32, mlDsa44: 1_312 } as const;
const MAX_NAME_BYTES = 255;
/** No Unicode space, no plus: signed-note "Format". */
const NAME = /^[^\s+]+$/u;
const VERIFIER_KEY = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/u;

/** A verifier key that is none, or of a type that is not ours. */
export class NoteKeyError extends Error {
  override readonly name = "NoteKeyError";
  readonly code = "note_key_invalid";
}

/** Key id = SHA-256(name ‖ 0x0A ‖ type ‖ public key)[:4]. @throws NoteKeyError */
export function noteKey(name: string, type: KeyType, publicKey: Buffer): NoteKey {
  if (!NAME.test(name) || Buffer.byteLength(name) > MAX_NAME_BYTES)
    throw new NoteKeyError("a key's name is empty, too long or has spaces");
  if (publicKey.length !== KEY_BYTES[ALGORITHM_OF[type]])
    throw new NoteKeyError(`the key of ${name} has not the length of its type`);
  const keyId = createHash("sha256")
    .update(`${name}\n`)
    .update(Buffer.of(type))
    .update(publicKey)
    .digest()
    .subarray(0, 4);
  return { name, type, keyId, publicKey };
}

export function noteSigner(name: string, type: KeyType, privateKey: KeyObject): NoteSigner {
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  const key = noteKey(name, type, spki.subarray(-KEY_BYTES[ALGORITHM_OF[type]]));
  return { ...key, privateKey, sign: async (message) => sign(null, message, privateKey) };
}

/** `name+hex(key id)+base64(type ‖ public key)`: what a policy lists. */
export function verifierKey({ name, type, keyId, publicKey }: NoteKey): string {
  return `${name}+${keyId.toString("hex")}+${Buffer.concat([Buffer.of(type), publicKey]).toString("base64")}`;
}

/** @throws NoteKeyError unless the key is of a type of ours and its id its own */
export function parseVerifierKey(text: string): NoteKey {
  const [, name = "", keyId = "", encoded = ""] = VERIFIER_KEY.exec(text) ?? [];
  const bytes = Buffer.from(encoded, "base64");
  const type = Object.values(KEY_TYPE).find((known) => known === bytes[0]);
  if (type === undefined || bytes.toString("base64") !== encoded)
    throw new NoteKeyError("a verifier key is none, or of an unknown type");
  const key = noteKey(name, type, bytes.subarray(1));
  if (key.keyId.toString("hex") !== keyId)
    throw new NoteKeyError(`the key id of ${name} is not its own`);
  return key;
}

export function publicKeyObject({ type, publicKey }: NoteKey): KeyObject {
  return createPublicKey({
    key: Buffer.concat([SPKI_PREFIX[ALGORITHM_OF[type]], publicKey]),
    format: "der",
    type: "spki",
  });
}
