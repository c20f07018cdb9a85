/** ML-DSA-44 where the runtime has none: Node 20, older browsers. The same verdict everywhere is worth a millisecond a signature. */
import { ml_dsa44 } from "@noble/post-quantum/ml-dsa.js";

/** @param publicKey as FIPS 204 writes it */
export function verifyMlDsa44(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  try {
    return ml_dsa44.verify(signature, message, publicKey);
  } catch {
    // Of another length than any signature, or key.
    return false;
  }
}
