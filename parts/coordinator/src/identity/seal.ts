/** What must leave this process unread and come back unchanged: AES-256-GCM under the key of the sessions. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

export class Seal {
  readonly #key: Buffer;

  /** @param key 32 random bytes @throws RangeError */
  constructor(key: Buffer) {
    if (key.length !== KEY_BYTES)
      throw new RangeError(`the key of sessions has ${key.length} bytes`);
    this.#key = key;
  }

  /** @param use what it is for: sealed for one use it does not open for another */
  seal(use: string, value: unknown): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(Buffer.from(use));
    const sealed = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]);
  }

  /** Null for what was not sealed here for this use. */
  open(use: string, sealed: Buffer): unknown {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
    try {
      const decipher = createDecipheriv("aes-256-gcm", this.#key, sealed.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(use))
        .setAuthTag(sealed.subarray(-TAG_BYTES));
      const text = Buffer.concat([
        decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)),
        decipher.final(),
      ]).toString("utf8");
      return JSON.parse(text) as unknown;
    } catch {
      return null;
    }
  }

  /** A value that only this process can name for the same words. */
  derive(use: string, words: string): Buffer {
    return createHmac("sha256", this.#key).update(`${use}\0${words}`).digest();
  }
}
