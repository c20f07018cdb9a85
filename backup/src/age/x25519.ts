/** X25519 by the 32 bytes of its keys. */
import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from "node:crypto";

export const KEY_BYTES = 32;
const TYPE = { asymmetricKeyType: "x25519" } as const;

export function publicOf(secret: Uint8Array): Buffer {
  return createPublicKey(privateKey(secret)).export({ format: "raw-public" });
}

/** @throws Error where the other's key is of low order: no secret would be shared */
export function sharedSecret(secret: Uint8Array, other: Uint8Array): Buffer {
  const publicKey = createPublicKey({ ...TYPE, format: "raw-public", key: other });
  return diffieHellman({ privateKey: privateKey(secret), publicKey });
}

function privateKey(secret: Uint8Array): KeyObject {
  return createPrivateKey({ ...TYPE, format: "raw-private", key: secret });
}
