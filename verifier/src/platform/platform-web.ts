/** A browser: its own SHA-256, because the runtime's is asynchronous; signatures by WebCrypto. */
import { verifyMlDsa44 } from "./ml-dsa-44.ts";
import type { Platform, SignatureAlgorithm } from "./platform.ts";
import { sha256, sha256Into } from "./sha256.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** How WebCrypto takes each kind of key. */
const KEY_FORMAT = {
  ed25519: "raw",
  // It came with ML-DSA, and the browser's types do not know it yet.
  "ml-dsa-44": "raw-public" as "raw",
  "ecdsa-p256": "spki",
} as const;
const IMPORTED = {
  ed25519: { name: "Ed25519" },
  "ml-dsa-44": { name: "ML-DSA-44" },
  "ecdsa-p256": { name: "ECDSA", namedCurve: "P-256" },
} as const;
const VERIFIED = { ...IMPORTED, "ecdsa-p256": { name: "ECDSA", hash: "SHA-256" } } as const;

export const webPlatform: Platform = {
  sha256,
  sha256Into,
  verify: async (algorithm, publicKey, message, signature) => {
    let key: CryptoKey | null;
    try {
      key = await imported(algorithm, publicKey.slice());
    } catch (error) {
      if (algorithm === "ml-dsa-44") return verifyMlDsa44(publicKey, message, signature);
      return error instanceof DOMException && error.name === "NotSupportedError" ? null : false;
    }
    if (key === null) return null;
    const raw = algorithm === "ecdsa-p256" ? rawEcdsa(signature) : signature.slice();
    return (
      raw !== null && (await crypto.subtle.verify(VERIFIED[algorithm], key, raw, message.slice()))
    );
  },
};

/** Imports a key. Null says that the page was opened in a way in which the browser gives no cryptography. */
async function imported(
  algorithm: SignatureAlgorithm,
  publicKey: Bytes,
): Promise<CryptoKey | null> {
  if (globalThis.crypto?.subtle === undefined) return null;
  return crypto.subtle.importKey(KEY_FORMAT[algorithm], publicKey, IMPORTED[algorithm], false, [
    "verify",
  ]);
}

/** `SEQUENCE { INTEGER r, INTEGER s }` as the two numbers of 32 bytes that WebCrypto takes; null for another form. */
function rawEcdsa(der: Uint8Array): Bytes | null {
  const raw = new Uint8Array(64);
  if (der[0] !== 0x30 || der[1] !== der.length - 2 || der.length > 72) return null;
  let at = 2;
  for (const end of [32, 64]) {
    const length = der[at + 1] ?? 0;
    const number = der.subarray(at + 2, at + 2 + length);
    const digits = number[0] === 0 ? number.subarray(1) : number;
    const isOne = der[at] === 0x02 && length > 0 && number.length === length && digits.length <= 32;
    // As short as can be, and not negative: else one signature would have many forms.
    if (!isOne || number[0]! >= 0x80 || (number[0] === 0 && (digits[0] ?? 0) < 0x80)) return null;
    raw.set(digits, end - digits.length);
    at += 2 + length;
  }
  return at === der.length ? raw : null;
}
