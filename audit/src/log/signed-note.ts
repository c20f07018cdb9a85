/** C2SP signed-note with Ed25519 keys (type 0x01), and the checkpoint (C2SP tlog-checkpoint) as its text. */
import { createHash, createPublicKey, type KeyObject, sign, verify } from "node:crypto";

const ED25519_TYPE = 0x01;
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

export type NoteSigner = { name: string; keyId: Buffer; publicKey: Buffer; privateKey: KeyObject };
export type Checkpoint = { origin: string; size: number; root: Buffer };

/** Key id = SHA-256(name ‖ 0x0A ‖ 0x01 ‖ public key)[:4]. */
export function noteSigner(name: string, privateKey: KeyObject): NoteSigner {
  const publicKey = createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(-32);
  const keyId = createHash("sha256")
    .update(`${name}\n`)
    .update(Buffer.from([ED25519_TYPE]))
    .update(publicKey)
    .digest()
    .subarray(0, 4);
  return { name, keyId, publicKey, privateKey };
}

/** `name+hex(key id)+base64(0x01 ‖ public key)`: what an auditor is handed. */
export function verifierKey({ name, keyId, publicKey }: NoteSigner): string {
  return `${name}+${keyId.toString("hex")}+${Buffer.concat([Buffer.from([ED25519_TYPE]), publicKey]).toString("base64")}`;
}

export function signCheckpoint(checkpoint: Checkpoint, signer: NoteSigner): string {
  const text = checkpointText(checkpoint);
  const signature = sign(null, Buffer.from(text, "utf8"), signer.privateKey);
  return `${text}\n— ${signer.name} ${Buffer.concat([signer.keyId, signature]).toString("base64")}\n`;
}

/** Reads a checkpoint that this very signer made; null for anything else. */
export function openCheckpoint(note: string, signer: NoteSigner): Checkpoint | null {
  const match = /^([^\n]+)\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n\n— ([^ \n]+) ([A-Za-z0-9+/]+=*)\n$/.exec(note);
  if (match === null) return null;
  const [, origin, size, root, name, line] = match as unknown as [string, string, string, string, string, string];
  const checkpoint = { origin, size: Number(size), root: Buffer.from(root, "base64") };
  const signature = Buffer.from(line, "base64");
  if (name !== signer.name || origin !== signer.name || !signature.subarray(0, 4).equals(signer.keyId)) return null;
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, signer.publicKey]), format: "der", type: "spki" });
  return verify(null, Buffer.from(checkpointText(checkpoint), "utf8"), key, signature.subarray(4)) ? checkpoint : null;
}

function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString("base64")}\n`;
}
