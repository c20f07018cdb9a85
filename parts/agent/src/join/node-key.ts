/** A key of the node and the request for its certificate; the key never leaves this host. */
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Both in PEM; the key as PKCS #8. */
export async function makeNodeKey(node: string): Promise<{ keyPem: string; csrPem: string }> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({
    name: `CN=${node}`,
    keys,
    signingAlgorithm: ALGORITHM,
  });
  const pkcs8 = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return {
    keyPem: x509.PemConverter.encode(pkcs8, "PRIVATE KEY"),
    csrPem: csr.toString("pem"),
  };
}
