import type { CertificateProfile } from "@resontech/contracts/certificate-profile";
import {
  BACKDATED_MS,
  certificateProfile,
  LEAF_KEY,
  LEAF_VALID_MS,
  OID_UNSTRUCTURED_NAME,
  ROOT_KEY,
  ROOT_VALID_MS,
  SIGNATURE_HASH,
} from "@resontech/contracts/federation-certificates";
import { ApiError } from "../api-error.ts";
import { readSigningRequest, serialNumber } from "./certificate-authority.ts";
import * as x509 from "./x509.ts";

export type AttemptRoot = { certPem: string; keyPem: string };

const SIGNING = { name: ROOT_KEY.algorithm, hash: SIGNATURE_HASH };

/** A root for one attempt; its key never leaves the coordinator. */
export async function makeAttemptRoot(attempt: string): Promise<AttemptRoot> {
  const keys = await crypto.subtle.generateKey(
    { name: ROOT_KEY.algorithm, namedCurve: ROOT_KEY.namedCurve },
    true,
    ["sign", "verify"],
  );
  const profile = certificateProfile({ kind: "root", attempt });
  const now = Date.now();
  const cert = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    issuer: nameOf(profile),
    subject: nameOf(profile),
    notBefore: new Date(now - BACKDATED_MS),
    notAfter: new Date(now + ROOT_VALID_MS),
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    signingAlgorithm: SIGNING,
    extensions: [
      ...extensionsOf(profile),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const pkcs8 = await crypto.subtle.exportKey("pkcs8", keys.privateKey);
  return {
    certPem: `${cert.toString("pem")}\n`,
    keyPem: x509.PemConverter.encode(pkcs8, "PRIVATE KEY"),
  };
}

/**
 * A leaf of the attempt for a key made on a member's node, PEM.
 * @throws ApiError `csr_invalid` when the request can't be read, is not signed by its key, or its key is no RSA 2048
 */
export async function signAttemptLeaf(
  root: AttemptRoot,
  profile: CertificateProfile,
  csrPem: string,
): Promise<string> {
  const request = await readSigningRequest(csrPem);
  requireLeafKey(request.publicKey);
  const issuer = new x509.X509Certificate(root.certPem);
  const signingKey = await crypto.subtle.importKey(
    "pkcs8",
    x509.PemConverter.decodeFirst(root.keyPem),
    { name: ROOT_KEY.algorithm, namedCurve: ROOT_KEY.namedCurve },
    false,
    ["sign"],
  );
  const now = Date.now();
  const cert = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    issuer: issuer.subjectName,
    subject: nameOf(profile),
    notBefore: new Date(now - BACKDATED_MS),
    notAfter: new Date(now + LEAF_VALID_MS),
    publicKey: request.publicKey,
    signingKey,
    signingAlgorithm: SIGNING,
    extensions: [
      ...extensionsOf(profile),
      await x509.SubjectKeyIdentifierExtension.create(request.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return `${cert.toString("pem")}\n`;
}

function requireLeafKey(key: x509.PublicKey): void {
  const algorithm = key.algorithm as { name: string; modulusLength?: number };
  if (!algorithm.name.startsWith("RSA") || algorithm.modulusLength !== LEAF_KEY.modulusLength)
    throw new ApiError(
      "csr_invalid",
      `the key of a member is ${LEAF_KEY.algorithm} ${LEAF_KEY.modulusLength}`,
    );
}

function nameOf({ subject }: CertificateProfile): x509.Name {
  const parts: Record<string, { utf8String: string }[]>[] = [
    { CN: [{ utf8String: subject.commonName }] },
  ];
  if (subject.organization !== undefined) parts.push({ O: [{ utf8String: subject.organization }] });
  if (subject.unstructuredName !== undefined)
    parts.push({ [OID_UNSTRUCTURED_NAME]: [{ utf8String: subject.unstructuredName }] });
  return new x509.Name(parts);
}

const USAGE_FLAGS = {
  digitalSignature: x509.KeyUsageFlags.digitalSignature,
  keyEncipherment: x509.KeyUsageFlags.keyEncipherment,
  keyCertSign: x509.KeyUsageFlags.keyCertSign,
  cRLSign: x509.KeyUsageFlags.cRLSign,
} as const;

function extensionsOf(profile: CertificateProfile): x509.Extension[] {
  const { basicConstraints, keyUsage, extendedKeyUsage, dnsNames } = profile;
  const extensions: x509.Extension[] = [
    basicConstraints.ca
      ? new x509.BasicConstraintsExtension(true, basicConstraints.pathLength, true)
      : new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(
      keyUsage
        .map((usage): x509.KeyUsageFlags => USAGE_FLAGS[usage])
        .reduce((all, flag) => all | flag),
      true,
    ),
  ];
  if (extendedKeyUsage.length > 0)
    extensions.push(
      new x509.ExtendedKeyUsageExtension(
        extendedKeyUsage.map((usage) => x509.ExtendedKeyUsage[usage]),
      ),
    );
  if (dnsNames.length > 0)
    extensions.push(
      new x509.SubjectAlternativeNameExtension(dnsNames.map((value) => ({ type: "dns", value }))),
    );
  return extensions;
}
