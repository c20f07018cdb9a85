import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as x509 from "../../src/nodes/x509.ts";

const P256 = { name: "ECDSA", namedCurve: "P-256" } as const;
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;

export type TestCa = Awaited<ReturnType<typeof makeTestCa>>;

/** A root, its intermediate and a server certificate for 127.0.0.1, as files under `dir`. */
export async function makeTestCa(dir: string) {
  mkdirSync(dir, { recursive: true });
  const file = (name: string, content: string) => {
    const path = join(dir, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const rootKeys = await crypto.subtle.generateKey(P256, true, ["sign", "verify"]);
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=Test root",
    keys: rootKeys,
    signingAlgorithm: SIGNATURE,
    notAfter: new Date(Date.now() + 30 * DAY_MS),
    extensions: caExtensions(1),
  });
  const intermediateKeys = await crypto.subtle.generateKey(P256, true, ["sign", "verify"]);
  const intermediate = await x509.X509CertificateGenerator.create({
    subject: "CN=Test intermediate",
    issuer: root.subject,
    publicKey: intermediateKeys.publicKey,
    signingKey: rootKeys.privateKey,
    signingAlgorithm: SIGNATURE,
    notAfter: new Date(Date.now() + 30 * DAY_MS),
    extensions: caExtensions(0),
  });
  const serverKeys = await crypto.subtle.generateKey(P256, true, ["sign", "verify"]);
  const server = await x509.X509CertificateGenerator.create({
    subject: "CN=localhost",
    issuer: root.subject,
    publicKey: serverKeys.publicKey,
    signingKey: rootKeys.privateKey,
    signingAlgorithm: SIGNATURE,
    notAfter: new Date(Date.now() + 30 * DAY_MS),
    extensions: [
      new x509.SubjectAlternativeNameExtension([
        { type: "dns", value: "localhost" },
        { type: "ip", value: "127.0.0.1" },
      ]),
    ],
  });
  return {
    rootCertFile: file("root.pem", root.toString("pem")),
    intermediateCertFile: file("intermediate.pem", intermediate.toString("pem")),
    intermediateKeyFile: file("intermediate.key", await privatePem(intermediateKeys.privateKey)),
    serverCertFile: file("server.pem", server.toString("pem")),
    serverKeyFile: file("server.key", await privatePem(serverKeys.privateKey)),
  };
}

/** Key and request as a node makes them. */
export async function makeSigningRequest(name: string) {
  const keys = await crypto.subtle.generateKey(P256, true, ["sign", "verify"]);
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm: SIGNATURE,
  });
  return { csrPem: csr.toString("pem"), keyPem: await privatePem(keys.privateKey) };
}

/** A certificate of the right form and name that nobody of ours signed. */
export async function makeForeignCertificate(name: string) {
  const keys = await crypto.subtle.generateKey(P256, true, ["sign", "verify"]);
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    signingAlgorithm: SIGNATURE,
  });
  return { certPem: cert.toString("pem"), keyPem: await privatePem(keys.privateKey) };
}

async function privatePem(key: CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY");
}

function caExtensions(pathLength: number) {
  return [
    new x509.BasicConstraintsExtension(true, pathLength, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
  ];
}
