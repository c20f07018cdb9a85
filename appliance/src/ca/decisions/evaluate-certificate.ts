/** Whether a certificate that a customer brings may stand in the doors. Pure: texts in, an ordered chain or a refusal with a code out. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";

export type Brought = {
  /** PEM: the certificate, and whoever stands between it and the authority, in any order. */
  cert: string;
  /** PEM, not sealed by a password. */
  key: string;
  /** PEM: the authorities that clients trust. */
  ca: string;
};
export type DoorCertificate = {
  /** PEM: the certificate first, then each one's issuer, without the authority. */
  chain: string;
  /** PKCS #8. */
  key: string;
  /** The authorities, nothing else. */
  ca: string;
  /** Of the certificate, the authorities; hex. */
  certSha256: string;
  caSha256: string;
  /** Unix milliseconds: the first that ends of all that are needed. */
  endsAt: number;
};

export class CertificateRefusedError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const CURVES = new Set(["prime256v1", "secp384r1"]);
const MIN_RSA_BITS = 2_048;
const MAX_RSA_BITS = 8_192;
/** An intermediate or two; a longer way is a mistake. */
const MOST_BETWEEN = 8;
const WEAK = /md5|sha1(?!\d)/i;

/**
 * @param name that clients and nodes know the appliance by
 * @throws CertificateRefusedError
 */
export function evaluateCertificate(
  { cert, key, ca }: Brought,
  name: string,
  now: number,
): DoorCertificate {
  const [leaf, ...between] = certificatesIn(cert, "cert_unreadable", "--cert");
  const authorities = certificatesIn(ca, "ca_unreadable", "--ca");
  const privateKey = readKey(key);
  requireKind(privateKey);
  if (!leaf!.checkPrivateKey(privateKey))
    throw refused(
      "key_mismatch",
      "the key is not the one of the certificate",
      "give the key that the certificate was asked for with, and the certificate itself as the first of --cert",
    );
  if (leaf!.ca)
    throw refused(
      "cert_is_ca",
      "the certificate is an authority's own",
      "give a certificate for a server, as the first of --cert",
    );
  // Node calls the extended key usage so; absent, it is good for everything.
  const usage = (leaf!.keyUsage as string[] | undefined) ?? [SERVER_AUTH];
  if (!usage.includes(SERVER_AUTH))
    throw refused(
      "cert_not_for_servers",
      "the certificate's extended key usage does not have serverAuth",
      "ask your authority for a certificate for a server",
    );
  if (leaf!.checkHost(name, { subject: "never" }) === undefined)
    throw refused(
      "name_missing",
      `the certificate is for ${leaf!.subjectAltName ?? "no name"}, and not for ${name}`,
      `ask your authority for a certificate with the subject alternative name DNS:${name}`,
    );
  const way = wayUp(leaf!, between, authorities);
  for (const one of way) requireStrong(one);
  for (const one of way) requireValid(one, now);
  return {
    chain: way.slice(0, -1).map(String).join(""),
    key: privateKey.export({ type: "pkcs8", format: "pem" }),
    ca: authorities.map(String).join(""),
    certSha256: hexOf(leaf!),
    caSha256: hexOf(way.at(-1)!),
    endsAt: Math.min(...way.map((one) => Date.parse(one.validTo))),
  };
}

/** All certificates of a text in PEM, in their order. */
export function certificatesIn(text: string, code: string, option: string): X509Certificate[] {
  try {
    const found = (text.match(PEM) ?? []).map((pem) => new X509Certificate(pem));
    if (found.length > 0) return found;
  } catch {
    // As if there were none.
  }
  throw refused(code, `${option} holds no certificate that can be read`, `give ${option} in PEM`);
}

function readKey(text: string): KeyObject {
  if (text.includes("ENCRYPTED"))
    throw refused(
      "key_encrypted",
      "the key is sealed by a password, and nobody is there to type it at a start",
      "openssl pkey -in KEY -out OPEN_KEY, with umask 077; the appliance keeps it for root alone",
    );
  try {
    return createPrivateKey(text);
  } catch {
    throw refused("key_unreadable", "--key holds no key that can be read", "give --key in PEM");
  }
}

/** What the doors and every usual client can do. */
function requireKind({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): void {
  const bits = asymmetricKeyDetails?.modulusLength ?? 0;
  const isGood =
    asymmetricKeyType === "rsa"
      ? bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS
      : asymmetricKeyType === "ec" && CURVES.has(asymmetricKeyDetails?.namedCurve ?? "");
  if (!isGood)
    throw refused(
      "key_kind",
      `the key is ${[asymmetricKeyType, bits === 0 ? (asymmetricKeyDetails?.namedCurve ?? "") : `${bits} bits`].join(" ").trim()}`,
      "take ECDSA over P-256 or P-384, or RSA with 2048 to 8192 bits",
    );
}

/** Finds the way from the certificate to an authority, each signed by the next. */
function wayUp(
  leaf: X509Certificate,
  between: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): X509Certificate[] {
  const way = [leaf];
  while (way.length <= MOST_BETWEEN) {
    const last = way.at(-1)!;
    const top = authorities.find((one) => vouches(one, last));
    if (top !== undefined) return [...way, top];
    const next = between.find((one) => !way.includes(one) && vouches(one, last));
    if (next === undefined) break;
    way.push(next);
  }
  throw refused(
    "chain_broken",
    `no certificate of --cert or --ca has signed ${nameOf(way.at(-1)!)}`,
    "put the certificates between it and the authority into --cert, and the authority into --ca",
  );
}

function vouches(issuer: X509Certificate, of: X509Certificate): boolean {
  return issuer.ca && of.checkIssued(issuer) && of.verify(issuer.publicKey);
}

function requireStrong(one: X509Certificate): void {
  // An authority's signature over itself proves nothing.
  const isOwn = one.checkIssued(one);
  const { signatureAlgorithm } = one as X509Certificate & { signatureAlgorithm?: string };
  if (!isOwn && WEAK.test(signatureAlgorithm ?? ""))
    throw refused(
      "signature_weak",
      `${nameOf(one)} is signed with ${signatureAlgorithm}, which clients refuse`,
      "ask your authority for certificates that are signed with SHA-256 or better",
    );
}

function requireValid(one: X509Certificate, now: number): void {
  if (Date.parse(one.validFrom) > now)
    throw refused(
      "cert_not_yet_valid",
      `${nameOf(one)} is good from ${one.validFrom} on`,
      "look at this host's clock, or wait",
    );
  if (Date.parse(one.validTo) <= now)
    throw refused(
      "cert_expired",
      `${nameOf(one)} ended ${one.validTo}`,
      "ask your authority for a newer certificate",
    );
}

function nameOf({ subject }: X509Certificate): string {
  return JSON.stringify(subject.replaceAll("\n", ", "));
}

function hexOf({ fingerprint256 }: X509Certificate): string {
  return fingerprint256.replaceAll(":", "").toLowerCase();
}

function refused(code: string, message: string, hint: string): CertificateRefusedError {
  return new CertificateRefusedError(code, message, hint);
}
