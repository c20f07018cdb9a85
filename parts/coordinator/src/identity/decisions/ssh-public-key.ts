/** A public key as OpenSSH writes it (RFC 4253 §6.6, RFC 5656 §3.1, RFC 8709 §4). Pure. */
import { createHash, createPublicKey } from "node:crypto";

/** @property line type, key and comment, with single blanks */
export type SshPublicKey = { type: string; fingerprint: string; comment: string; line: string };

const MIN_RSA_BITS = 3_072;
/** As OpenSSH takes no larger one. */
const MAX_RSA_BITS = 16_384;
const CURVES: Record<string, { name: string; jwk: string; bytes: number }> = {
  "ecdsa-sha2-nistp256": { name: "nistp256", jwk: "P-256", bytes: 32 },
  "ecdsa-sha2-nistp384": { name: "nistp384", jwk: "P-384", bytes: 48 },
  "ecdsa-sha2-nistp521": { name: "nistp521", jwk: "P-521", bytes: 66 },
};

/**
 * Options before the type, as `authorized_keys` may have them, are no part of a key and are refused with all else that is none.
 * @param text one line; a line break at its end is passed over
 */
export function readSshPublicKey(text: string): SshPublicKey | null {
  const match =
    /^([a-z0-9-]{1,32}) ([A-Za-z0-9+/]{1,3000}={0,2})(?: ([\x20-\x7e\u00a0-\uffff]{0,256}))?\r?\n?$/.exec(
      text,
    );
  if (match === null) return null;
  const [, type = "", base64 = "", comment = ""] = match;
  const blob = Buffer.from(base64, "base64");
  // What decodes to the same bytes in another way is no second key.
  if (blob.toString("base64") !== base64) return null;
  const fields = fieldsOf(blob);
  if (fields === null || fields[0]?.toString("latin1") !== type) return null;
  if (!isSound(type, fields.slice(1))) return null;
  const fingerprint = `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`;
  const plain = comment.trim();
  return { type, fingerprint, comment: plain, line: [type, base64, plain].join(" ").trimEnd() };
}

/** Length and bytes, again and again, to the very end. */
function fieldsOf(blob: Buffer): Buffer[] | null {
  const fields: Buffer[] = [];
  for (let at = 0; at < blob.length; ) {
    if (at + 4 > blob.length) return null;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return null;
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

function isSound(type: string, fields: readonly Buffer[]): boolean {
  const [first, second] = fields;
  if (first === undefined) return false;
  if (type === "ssh-ed25519")
    return (
      fields.length === 1 &&
      first.length === 32 &&
      isKey({ kty: "OKP", crv: "Ed25519", x: first.toString("base64url") })
    );
  if (second === undefined || fields.length !== 2) return false;
  if (type === "ssh-rsa") return isSoundRsa(first, second);
  const curve = CURVES[type];
  if (curve === undefined || first.toString("latin1") !== curve.name) return false;
  const { bytes, jwk: crv } = curve;
  if (second.length !== 1 + 2 * bytes || second[0] !== 4) return false;
  const x = second.subarray(1, 1 + bytes).toString("base64url");
  const y = second.subarray(1 + bytes).toString("base64url");
  // A point that is not on the curve is no key.
  return isKey({ kty: "EC", crv, x, y });
}

/** Both numbers are positive, and written without needless zeros before them. */
function isSoundRsa(exponent: Buffer, modulus: Buffer): boolean {
  if (![exponent, modulus].every(isPositive)) return false;
  const bits = BigInt(`0x${modulus.toString("hex")}`).toString(2).length;
  const isOdd = (number: Buffer) => (number.at(-1)! & 1) === 1;
  const power = BigInt(`0x${exponent.toString("hex")}`);
  const isLongEnough = bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS;
  return isLongEnough && isOdd(modulus) && isOdd(exponent) && power >= 3n;
}

function isPositive(number: Buffer): boolean {
  const [first, second] = number;
  if (first === undefined || first >= 0x80) return false;
  return first !== 0 || (second !== undefined && second >= 0x80);
}

function isKey(jwk: Record<string, string>): boolean {
  try {
    createPublicKey({ key: jwk, format: "jwk" });
    return true;
  } catch {
    return false;
  }
}
