/** The token by which a node whose certificate has ended asks for the next one: see node-renewal.ts. */

/** Before the SHA-256 of the request, in what the key of the certificate that has ended signs: ECDSA P-256 with SHA-256. */
const LABEL = "sov-node-renewal-v1\0";
const PREFIX = "rtx_";

/** What the token's signature is of. @param csrSha256 of the request in PEM, hex */
export function renewalBytes(csrSha256: string): Buffer {
  return Buffer.from(`${LABEL}${csrSha256}`, "utf8");
}

/** @param certificate in DER */
export function formatRenewalToken(certificate: Buffer, signature: Buffer): string {
  return `${PREFIX}${certificate.toString("base64url")}.${signature.toString("base64url")}`;
}

/** Splits a token into its parts; null for what is no such token: one that an operator made, or nothing. */
export function parseRenewalToken(
  token: string,
): { certificate: Buffer; signature: Buffer } | null {
  const [certificate = "", signature = "", ...more] = token.slice(PREFIX.length).split(".");
  if (!token.startsWith(PREFIX) || more.length > 0) return null;
  return {
    certificate: Buffer.from(certificate, "base64url"),
    signature: Buffer.from(signature, "base64url"),
  };
}
