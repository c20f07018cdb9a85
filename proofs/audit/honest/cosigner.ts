/** A witness's key, and what audit-out does with it: cosigns the newest checkpoint and hands the line to auditd. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

const ED25519_COSIGNATURE = 0x04;
const SPKI_BYTES_BEFORE_KEY = 12;

export class Cosigner {
  readonly #name: string;
  readonly #keyId: Buffer;
  readonly #privateKey: KeyObject;
  /** For a policy's line. */
  readonly verifierKey: string;

  constructor(name: string) {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const key = Buffer.concat([
      Buffer.of(ED25519_COSIGNATURE),
      publicKey.export({ format: "der", type: "spki" }).subarray(SPKI_BYTES_BEFORE_KEY),
    ]);
    this.#name = name;
    this.#keyId = createHash("sha256").update(`${name}\n`).update(key).digest().subarray(0, 4);
    this.#privateKey = privateKey;
    this.verifierKey = `${name}+${this.#keyId.toString("hex")}+${key.toString("base64")}`;
  }

  /** The signature line for a signed checkpoint (C2SP tlog-cosignature). */
  lineFor(note: string, timeMs: number): { origin: string; size: number; line: string } {
    const body = note.slice(0, note.indexOf("\n\n") + 1);
    const [origin = "", size = ""] = body.split("\n");
    const timeS = Math.floor(timeMs / 1_000);
    const time = Buffer.alloc(8);
    time.writeBigUInt64BE(BigInt(timeS));
    const signature = sign(
      null,
      Buffer.from(`cosignature/v1\ntime ${timeS}\n${body}`),
      this.#privateKey,
    );
    const line = `— ${this.#name} ${Buffer.concat([this.#keyId, time, signature]).toString("base64")}\n`;
    return { origin, size: Number(size), line };
  }
}
