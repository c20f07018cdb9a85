/** AES-256-GCM as the vault keeps things, `nonce12 ‖ ciphertext ‖ tag16`: opened here without the vault's code. */
import { createDecipheriv } from "node:crypto";

export const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @throws Error when this key does not open it */
export function openBox(key: Uint8Array, box: Uint8Array, context: Uint8Array): Buffer {
  const end = box.length - TAG_BYTES;
  const decipher = createDecipheriv("aes-256-gcm", key, box.subarray(0, NONCE_BYTES)).setAAD(
    context,
  );
  decipher.setAuthTag(box.subarray(end));
  return Buffer.concat([decipher.update(box.subarray(NONCE_BYTES, end)), decipher.final()]);
}
