import { randomBytes, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { BACKDATED_MS } from "@resontech/contracts/federation-certificates";
import * as x509 from "./x509.ts";
import { ApiError } from "../api-error.ts";

const NODE_CERTIFICATE_DAYS = 397;
const DAY_MS = 86_400_000;

export type IssuedCertificate = { certPem: string; sha256: string; notAfter: number };

/** The intermediate that the coordinator holds: signs node certificates and knows its own again. */
export class CertificateAuthority {
  readonly rootPem: string;
  readonly intermediatePem: string;
  readonly #intermediate: x509.X509Certificate;
  readonly #key: CryptoKey;

  private constructor(rootPem: string, intermediatePem: string, key: CryptoKey) {
    this.rootPem = rootPem;
    this.intermediatePem = intermediatePem;
    this.#intermediate = new x509.X509Certificate(intermediatePem);
    this.#key = key;
  }

  /** @throws Error when a file can't be read, or the key is no P-256 key */
  static async load(files: {
    rootCertFile: string;
    intermediateCertFile: string;
    intermediateKeyFile: string;
  }): Promise<CertificateAuthority> {
    const pkcs8 = x509.PemConverter.decodeFirst(readFileSync(files.intermediateKeyFile, "utf8"));
    const key = await crypto.subtle.importKey(
      "pkcs8",
      pkcs8,
      { name: "ECDSA", namedCurve: "P-256" },
      false,
      ["sign"],
    );
    return new CertificateAuthority(
      readFileSync(files.rootCertFile, "utf8"),
      readFileSync(files.intermediateCertFile, "utf8"),
      key,
    );
  }

  /**
   * A certificate for a key made on the node. Of the request only its public key and its proof of possession count.
   * @throws ApiError `csr_invalid` when the request can't be read or its signature is not by its key
   */
  async signNode(node: string, csrPem: string): Promise<IssuedCertificate> {
    const request = await readSigningRequest(csrPem);
    const notAfter = Date.now() + NODE_CERTIFICATE_DAYS * DAY_MS;
    const cert = await x509.X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      issuer: this.#intermediate.subjectName,
      subject: [{ CN: [node] }],
      notBefore: new Date(Date.now() - BACKDATED_MS),
      notAfter: new Date(notAfter),
      publicKey: request.publicKey,
      signingKey: this.#key,
      signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        // Both: the node dials the bus, and listens for its peers on job ports.
        new x509.ExtendedKeyUsageExtension([
          x509.ExtendedKeyUsage.clientAuth,
          x509.ExtendedKeyUsage.serverAuth,
        ]),
        new x509.SubjectAlternativeNameExtension([{ type: "dns", value: node }]),
        await x509.SubjectKeyIdentifierExtension.create(request.publicKey),
        await x509.AuthorityKeyIdentifierExtension.create(this.#intermediate),
      ],
    });
    const certPem = `${cert.toString("pem")}\n`;
    return { certPem, sha256: certificateSha256(certPem), notAfter };
  }

  /** The end of validity of a certificate that this intermediate signed and that is valid now; null for any other. */
  validUntil(certPem: string): number | null {
    const notAfter = this.endOf(certPem);
    return notAfter !== null && Date.now() < notAfter ? notAfter : null;
  }

  /** The same of one that may have ended. @param certificate PEM or DER */
  endOf(certificate: string | Buffer): number | null {
    try {
      const cert = new X509Certificate(certificate);
      const issuer = new X509Certificate(this.intermediatePem);
      const isOurs = cert.checkIssued(issuer) && cert.verify(issuer.publicKey) && !cert.ca;
      return isOurs && cert.validFromDate.getTime() <= Date.now()
        ? cert.validToDate.getTime()
        : null;
    } catch {
      return null;
    }
  }
}

/** SHA-256 of the DER form in hex: what a node is recognized by. */
export function certificateSha256(certificate: string | Buffer): string {
  return new X509Certificate(certificate).fingerprint256.replaceAll(":", "").toLowerCase();
}

/** @throws ApiError `csr_invalid` */
export async function readSigningRequest(csrPem: string): Promise<x509.Pkcs10CertificateRequest> {
  let request: x509.Pkcs10CertificateRequest;
  try {
    request = new x509.Pkcs10CertificateRequest(csrPem);
  } catch (cause) {
    throw new ApiError("csr_invalid", "the certificate request can't be read", { cause });
  }
  if (!(await request.verify().catch(() => false)))
    throw new ApiError("csr_invalid", "the certificate request is not signed by its own key");
  return request;
}

/** 16 random bytes, positive and of full length. */
export function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes.toString("hex");
}
