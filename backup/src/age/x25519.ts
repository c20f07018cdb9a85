/** X25519 by the 32 bytes of its keys, which Node has as objects alone. */
import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from "node:crypto";

export const KEY_BYTES = 32;
/** PKCS #8 of RFC 8410 up to the key itself. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b656e04220420", "hex");

export function publicOf(secret: Uint8Array): Buffer {
  const { x } = createPublicKey(privateKey(secret)).export({ format: "jwk" });
  return Buffer.from(x ?? "", "base64url");
}

/** @throws Error where the other's key is of low order: no secret would be shared */
export function sharedSecret(secret: Uint8Array, other: Uint8Array): Buffer {
  return diffieHellman({ privateKey: privateKey(secret), publicKey: publicKey(other) });
}

function privateKey(secret: Uint8Array): KeyObject {
  return createPrivateKey({
    key: Buffer.concat([PKCS8_HEAD, secret]),
    ...{ format: "der", type: "pkcs8" },
  });
}

function publicKey(bytes: Uint8Array): KeyObject {
  const x = Buffer.from(bytes).toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "X25519", x }, format: "jwk" });
}
