/** AES-256-GCM as the vault uses it everywhere: `nonce12 ‖ ciphertext ‖ tag16`. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The bytes were not sealed under this key for this purpose, or were changed. */
export class UnsealError extends Error {
  override readonly name = "UnsealError";
  readonly code = "unseal_failed";
}

/** @param context is not kept, and must be given again to open it */
export function seal(key: Uint8Array, plain: Uint8Array, context: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(context);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** @throws {@link UnsealError} */
export function unseal(key: Uint8Array, sealed: Uint8Array, context: Uint8Array): Buffer {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new UnsealError("too short to be sealed");
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES)).setAAD(
    context,
  );
  decipher.setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, end)), decipher.final()]);
  } catch {
    throw new UnsealError("not sealed under this key for this purpose, or changed");
  }
}
