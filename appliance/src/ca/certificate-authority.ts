/** The appliance's own CA: a root that only root reads, an intermediate for the coordinator, and server certificates. */
import "reflect-metadata";
import {
  createPrivateKey,
  createPublicKey,
  webcrypto,
  X509Certificate as NodeCertificate,
} from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";
import { ensureFolder, type Owner, ROOT, writeOwned } from "../config/owned-file.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;
const ROOT_DAYS = 3650;
const INTERMEDIATE_DAYS = 1825;
const SERVER_DAYS = 397;
/** A host whose clock is behind must still accept a fresh certificate. */
const BACKDATE_DAYS = 2;

type Issued = { certPem: string; keyPem: string };
type Issuer = { certificate: x509.X509Certificate; key: webcrypto.CryptoKey };

export class CertificateAuthority {
  readonly #folder: string;
  readonly #now: () => Date;
  readonly #isAnew: boolean;

  /**
   * @param folder `<root>/etc/ca`: `root.key` 0400 root, `root.crt` readable by all
   * @param isAnew certificates of servers and clients are issued with new keys, however young those are that lie there
   */
  constructor(folder: string, now: () => Date = () => new Date(), isAnew = false) {
    this.#folder = folder;
    this.#now = now;
    this.#isAnew = isAnew;
  }

  get rootCertFile(): string {
    return join(this.#folder, "root.crt");
  }

  /** Makes the root once; a root that is there stays. */
  async ensureRoot(name: string): Promise<void> {
    ensureFolder(this.#folder, ROOT, 0o755);
    const keyFile = join(this.#folder, "root.key");
    if (existsSync(keyFile) && existsSync(this.rootCertFile)) return;
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: `CN=${name} root,O=ResonTech appliance`,
      serialNumber: serial(),
      ...this.#validity(ROOT_DAYS),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    writeOwned(keyFile, await exportKey(keys.privateKey), ROOT, 0o400);
    writeOwned(this.rootCertFile, certificate.toString("pem"), ROOT, 0o444);
  }

  /**
   * The coordinator's intermediate: signs node certificates and attempt CAs, so it may have one CA below it. It keeps its key when it is
   * renewed: the nodes that it has signed are known by it.
   */
  async ensureIntermediate(folder: string, owner: Owner): Promise<void> {
    const [certFile, keyFile] = [
      join(folder, "intermediate.crt"),
      join(folder, "intermediate.key"),
    ];
    const isThere = existsSync(certFile) && existsSync(keyFile);
    if (isThere && this.#isGood(certFile, keyFile, [])) return;
    ensureFolder(folder, owner, 0o750);
    const keys =
      isThere && isPair(certFile, keyFile) ? await readKeys(keyFile) : await generateKeys();
    const issued = await this.#issue("intermediate", INTERMEDIATE_DAYS, keys, async () => [
      new x509.BasicConstraintsExtension(true, 1, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ]);
    writeOwned(keyFile, issued.keyPem, owner, 0o440);
    writeOwned(certFile, issued.certPem, owner, 0o444);
  }

  /**
   * A server's certificate and key (`<base>.crt`, `<base>.key`) for every name and address given; issued anew in place once two thirds of its
   * life are over (at boot even when it has expired), when a name is missing, and when key or root have changed.
   */
  async ensureServer(
    folder: string,
    owner: Owner,
    base: string,
    names: readonly string[],
  ): Promise<void> {
    await this.#ensure(folder, owner, base, names, async (keys) => [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([
        x509.ExtendedKeyUsage.serverAuth,
        x509.ExtendedKeyUsage.clientAuth,
      ]),
      new x509.SubjectAlternativeNameExtension(
        names.map((name) => ({ type: isIP(name) === 0 ? "dns" : "ip", value: name })),
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ]);
  }

  /** A certificate to call other parts with, which no server can use: it has no name. Kept and renewed as {@link ensureServer} does. */
  async ensureClient(folder: string, owner: Owner, base: string): Promise<void> {
    await this.#ensure(folder, owner, base, [], async (keys) => [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ]);
  }

  async #ensure(
    folder: string,
    owner: Owner,
    base: string,
    names: readonly string[],
    extensions: (keys: webcrypto.CryptoKeyPair) => Promise<x509.Extension[]>,
  ): Promise<void> {
    const [certFile, keyFile] = [join(folder, `${base}.crt`), join(folder, `${base}.key`)];
    const isThere = !this.#isAnew && existsSync(certFile) && existsSync(keyFile);
    if (isThere && this.#isGood(certFile, keyFile, names)) return;
    ensureFolder(folder, owner, 0o750);
    const issued = await this.#issue(base, SERVER_DAYS, await generateKeys(), extensions);
    writeOwned(keyFile, issued.keyPem, owner, 0o440);
    writeOwned(certFile, issued.certPem, owner, 0o444);
  }

  async #issue(
    name: string,
    days: number,
    keys: webcrypto.CryptoKeyPair,
    extensions: (keys: webcrypto.CryptoKeyPair) => Promise<x509.Extension[]>,
  ): Promise<Issued> {
    const issuer = await this.#rootIssuer();
    const certificate = await x509.X509CertificateGenerator.create({
      subject: `CN=${name},O=ResonTech appliance`,
      issuer: issuer.certificate.subject,
      serialNumber: serial(),
      ...this.#validity(days),
      signingAlgorithm: ALGORITHM,
      publicKey: keys.publicKey,
      signingKey: issuer.key,
      extensions: [
        ...(await extensions(keys)),
        await x509.AuthorityKeyIdentifierExtension.create(issuer.certificate.publicKey),
      ],
    });
    return { certPem: certificate.toString("pem"), keyPem: await exportKey(keys.privateKey) };
  }

  async #rootIssuer(): Promise<Issuer> {
    const pem = readFileSync(join(this.#folder, "root.key"), "utf8");
    const der = x509.PemConverter.decodeFirst(pem);
    const key = await webcrypto.subtle.importKey("pkcs8", der, ALGORITHM, false, ["sign"]);
    return { certificate: new x509.X509Certificate(readFileSync(this.rootCertFile, "utf8")), key };
  }

  #validity(days: number): { notBefore: Date; notAfter: Date } {
    const now = this.#now().getTime();
    return {
      notBefore: new Date(now - BACKDATE_DAYS * DAY_MS),
      notAfter: new Date(now + days * DAY_MS),
    };
  }

  #isGood(certFile: string, keyFile: string, names: readonly string[]): boolean {
    const certificate = new NodeCertificate(readFileSync(certFile));
    const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    const isYoung = this.#now().getTime() <= from + ((to - from) * 2) / 3;
    return (
      isYoung &&
      certificate.verify(new NodeCertificate(readFileSync(this.rootCertFile)).publicKey) &&
      // A crash between the two writes leaves a key that is not the certificate's.
      isPair(certFile, keyFile) &&
      names.every(
        (name) =>
          (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !==
          undefined,
      )
    );
  }
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

/** Reads the key pair that lies there, so that what it has signed stays good. */
async function readKeys(keyFile: string): Promise<webcrypto.CryptoKeyPair> {
  const pem = readFileSync(keyFile, "utf8");
  const pkcs8 = x509.PemConverter.decodeFirst(pem);
  const spki = createPublicKey(pem).export({ type: "spki", format: "der" });
  const { subtle } = webcrypto;
  return {
    privateKey: await subtle.importKey("pkcs8", pkcs8, ALGORITHM, true, ["sign"]),
    publicKey: await subtle.importKey("spki", spki, ALGORITHM, true, ["verify"]),
  };
}

function isPair(certFile: string, keyFile: string): boolean {
  return new NodeCertificate(readFileSync(certFile)).checkPrivateKey(
    createPrivateKey(readFileSync(keyFile)),
  );
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY");
}

function serial(): string {
  // Positive and 16 random bytes, as RFC 5280 wants serial numbers unguessable and at most 20 octets.
  return `4${Buffer.from(webcrypto.getRandomValues(new Uint8Array(16)))
    .toString("hex")
    .slice(1)}`;
}
