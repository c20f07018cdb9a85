import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";

const P256 = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;

/** From and to, Unix milliseconds. */
export type ValiditySpan = { from: number; to: number };

/** A root for one test: servers, nodes and members' certificates. */
export class TestPki {
  readonly rootFile: string;
  readonly serverCertFile: string;
  readonly serverKeyFile: string;
  readonly rootPem: string;
  readonly #root: x509.X509Certificate;
  readonly #key: CryptoKey;

  private constructor(
    dir: string,
    root: x509.X509Certificate,
    key: CryptoKey,
    server: { certPem: string; keyPem: string },
  ) {
    const file = (name: string, text: string): string => {
      writeFileSync(join(dir, name), text, { mode: 0o600 });
      return join(dir, name);
    };
    this.#root = root;
    this.#key = key;
    this.rootPem = root.toString("pem");
    this.rootFile = file("root.pem", this.rootPem);
    this.serverCertFile = file("server.pem", server.certPem);
    this.serverKeyFile = file("server.key", server.keyPem);
  }

  /** @param host address of the servers @param name of the root */
  static async make(dir: string, host: string, name = "Test root"): Promise<TestPki> {
    mkdirSync(dir, { recursive: true });
    const keys = await webcrypto.subtle.generateKey(P256, true, ["sign", "verify"]);
    const root = await x509.X509CertificateGenerator.createSelfSigned({
      name: `CN=${name}`,
      keys,
      signingAlgorithm: P256,
      notAfter: new Date(Date.now() + DAY_MS),
      extensions: [
        new x509.BasicConstraintsExtension(true, 1, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      ],
    });
    return new TestPki(
      dir,
      root,
      keys.privateKey,
      await leafWithKey(root, keys.privateKey, "localhost", host),
    );
  }

  /** A certificate and key of its own, for a peer that is no node. */
  async identity(name: string): Promise<{ certPem: string; keyPem: string }> {
    return await leafWithKey(this.#root, this.#key, name);
  }

  /** @throws when the request is not signed by its own key */
  async sign(csrPem: string, name: string, span?: ValiditySpan): Promise<string> {
    const csr = new x509.Pkcs10CertificateRequest(csrPem);
    if (!(await csr.verify())) throw new Error("the request is not signed by its own key");
    return await leaf(this.#root, this.#key, name, csr.publicKey, undefined, span);
  }
}

async function leafWithKey(
  root: x509.X509Certificate,
  rootKey: CryptoKey,
  name: string,
  host?: string,
): Promise<{ certPem: string; keyPem: string }> {
  const keys = await webcrypto.subtle.generateKey(P256, true, ["sign", "verify"]);
  return {
    certPem: await leaf(root, rootKey, name, keys.publicKey, host),
    keyPem: x509.PemConverter.encode(
      await webcrypto.subtle.exportKey("pkcs8", keys.privateKey),
      "PRIVATE KEY",
    ),
  };
}

async function leaf(
  root: x509.X509Certificate,
  rootKey: CryptoKey,
  name: string,
  publicKey: x509.PublicKeyType,
  host = "127.0.0.1",
  { from, to }: ValiditySpan = { from: Date.now(), to: Date.now() + DAY_MS },
): Promise<string> {
  const cert = await x509.X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: root.subject,
    publicKey,
    signingKey: rootKey,
    signingAlgorithm: P256,
    notBefore: new Date(from),
    notAfter: new Date(to),
    extensions: [
      new x509.SubjectAlternativeNameExtension([
        { type: "dns", value: name },
        { type: "ip", value: host },
      ]),
    ],
  });
  return `${cert.toString("pem")}\n`;
}
