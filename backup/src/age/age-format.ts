/** What writer and reader of the age format (C2SP, `age.md`, version 1) share: its words, its keys, its chunks. */
import { createHmac, hkdfSync } from "node:crypto";

export const VERSION_LINE = "age-encryption.org/v1\n";
export const STANZA = "X25519";
export const STANZA_INFO = "age-encryption.org/v1/X25519";
export const FILE_KEY_BYTES = 16;
export const PAYLOAD_NONCE_BYTES = 16;
export const CHUNK_BYTES = 64 * 1024;
export const TAG_BYTES = 16;
export const CIPHER = "chacha20-poly1305";
export const RECIPIENT_PREFIX = "age";
export const IDENTITY_PREFIX = "age-secret-key-";

export function derive(key: Uint8Array, salt: Uint8Array, info: string): Buffer {
  return Buffer.from(hkdfSync("sha256", key, salt, info, 32));
}

/** @param head of the file, up to and with the three dashes of its last line */
export function macOf(fileKey: Uint8Array, head: Uint8Array): Buffer {
  return createHmac("sha256", derive(fileKey, Buffer.alloc(0), "header"))
    .update(head)
    .digest();
}

/** Eleven bytes count the chunks, the last one marks the last of them. */
export function chunkNonce(count: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(count, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}
