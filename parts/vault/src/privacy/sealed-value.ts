/** One value under the key of its subject and month, bound to the commitment that it opens. */
import { seal, unseal } from "../keys/aead.ts";

const SALT_BYTES = 32;

/** @param salt hex */
export function sealValue(
  key: Uint8Array,
  commitment: Uint8Array,
  salt: string,
  value: string,
): Buffer {
  return seal(
    key,
    Buffer.concat([Buffer.from(salt, "hex"), Buffer.from(value, "utf8")]),
    commitment,
  );
}

/** @throws UnsealError */
export function unsealValue(
  key: Uint8Array,
  commitment: Uint8Array,
  sealed: Uint8Array,
): { salt: string; value: string } {
  const plain = unseal(key, sealed, commitment);
  return {
    salt: plain.subarray(0, SALT_BYTES).toString("hex"),
    value: plain.subarray(SALT_BYTES).toString("utf8"),
  };
}
