import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** The Ed25519 key that signs a bundle; roots by threshold of several take its place later, in the same files. */
export class SigningKey {
  readonly #key: KeyObject;

  constructor(key: KeyObject) {
    if (key.asymmetricKeyType !== "ed25519")
      throw new Error(`the signing key is ${key.asymmetricKeyType}, it must be Ed25519`);
    this.#key = key;
  }

  /** Reads a PKCS#8 PEM; refuses a file that others can read. */
  static read(file: string): SigningKey {
    if ((statSync(file).mode & 0o077) !== 0)
      throw new Error(`${file} can be read by others; make it 0600`);
    return new SigningKey(createPrivateKey(readFileSync(file)));
  }

  /** A key of this machine for development bundles, made at first use. */
  static development(file: string): SigningKey {
    if (!existsSync(file)) {
      mkdirSync(dirname(file), { recursive: true });
      const { privateKey } = generateKeyPairSync("ed25519");
      writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }), {
        mode: 0o600,
        flag: "wx",
      });
    }
    return SigningKey.read(file);
  }

  sign(bytes: Uint8Array): Buffer {
    return sign(null, bytes, this.#key);
  }

  get publicPem(): string {
    return createPublicKey(this.#key).export({ type: "spki", format: "pem" });
  }

  get keyId(): string {
    return keyIdOf(createPublicKey(this.#key));
  }

  /** The 32 raw bytes, hex, as TUF states Ed25519 keys. */
  get publicHex(): string {
    return rawPublicHex(createPublicKey(this.#key));
  }
}

/** SHA-256 of the SPKI, hex. */
export function keyIdOf(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("hex");
}

export function rawPublicHex(key: KeyObject): string {
  return key.export({ type: "spki", format: "der" }).subarray(-32).toString("hex");
}
