import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

/** What an operator compares before a client trusts it. */
export function showRoot(file: string): {
  file: string;
  subject: string;
  sha256: string;
  notBefore: string;
  notAfter: string;
} {
  const certificate = new X509Certificate(readFileSync(file));
  return {
    file,
    subject: certificate.subject.replaceAll("\n", ", "),
    sha256: certificate.fingerprint256,
    notBefore: new Date(certificate.validFrom).toISOString(),
    notAfter: new Date(certificate.validTo).toISOString(),
  };
}
