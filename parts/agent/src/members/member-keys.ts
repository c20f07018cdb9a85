/** Keys of a member, made on this node; only requests for certificates leave it. */
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { LEAF_KEY, SIGNATURE_HASH } from "@resontech/contracts/federation-certificates";

const ALGORITHM = {
  name: "RSASSA-PKCS1-v1_5",
  hash: SIGNATURE_HASH,
  modulusLength: LEAF_KEY.modulusLength,
  publicExponent: new Uint8Array([1, 0, 1]),
} as const;

export type KeyAndRequest = { keyPem: string; csrPem: string };

/** A key pair and its PKCS#10 request; the request's subject is a formality, names come from the attempt. */
export async function makeKey(): Promise<KeyAndRequest> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({
    name: "CN=member",
    keys,
    signingAlgorithm: ALGORITHM,
  });
  return {
    keyPem: x509.PemConverter.encode(
      await webcrypto.subtle.exportKey("pkcs8", keys.privateKey),
      "PRIVATE KEY",
    ),
    csrPem: csr.toString("pem"),
  };
}
