/** The Ed25519 keys of shards in a PKCS#11 token: made there, never out of it. One pair of objects for each shard, labelled with its origin. */
import { setTimeout as pause } from "node:timers/promises";
import type { Pkcs11Token } from "@resontech/contracts/pkcs11-token";
import { OpenToken, TokenFault } from "@resontech/audit/keys/open-token";
import { KEY_TYPE, type LogSigner, noteKey } from "@resontech/audit/format/note/note-key";
import { ConfigError } from "../config.ts";
import type { ShardFiles } from "../shard-files.ts";
import type { KeyHolder } from "./key-holder.ts";

/** PKCS#11 3.0; the binding's own list ends before. */
const CKK_EC_EDWARDS = 0x40;
const CKM_EC_EDWARDS_KEY_PAIR_GEN = 0x1055;
const CKM_EDDSA = 0x1057;
/** OID 1.3.101.112 */
const ED25519_PARAMETERS = Buffer.from("06032b6570", "hex");
const PUBLIC_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** A module that hangs must not hold up a stop, nor a restart. */
const SIGN_TIMEOUT_MS = 10_000;

type Objects = { privateKey: Buffer; publicKey: Buffer };

export class KeyToken implements KeyHolder {
  readonly #token: OpenToken;

  private constructor(token: OpenToken) {
    this.#token = token;
  }

  /** @throws ConfigError */
  static async open(token: Pkcs11Token): Promise<KeyToken> {
    try {
      return new KeyToken(await OpenToken.open(token));
    } catch (error) {
      throw error instanceof TokenFault ? new ConfigError(error.message) : error;
    }
  }

  nameOf({ origin }: ShardFiles): string {
    return `${origin} in the token ${this.#token.label}`;
  }

  async has(shard: ShardFiles): Promise<boolean> {
    return this.#halvesOf(shard).length > 0;
  }

  async ensure(shard: ShardFiles): Promise<void> {
    if (this.#find(shard) !== null) return;
    const { api, module, session } = this.#token;
    const shared = [
      { type: api.CKA_TOKEN, value: true },
      { type: api.CKA_KEY_TYPE, value: CKK_EC_EDWARDS },
      { type: api.CKA_LABEL, value: shard.origin },
      { type: api.CKA_ID, value: Buffer.from(shard.slug, "latin1") },
    ];
    module.C_GenerateKeyPair(
      session,
      { mechanism: CKM_EC_EDWARDS_KEY_PAIR_GEN },
      [
        ...shared,
        { type: api.CKA_VERIFY, value: true },
        { type: api.CKA_EC_PARAMS, value: ED25519_PARAMETERS },
      ],
      [
        ...shared,
        { type: api.CKA_PRIVATE, value: true },
        { type: api.CKA_SENSITIVE, value: true },
        { type: api.CKA_EXTRACTABLE, value: false },
        { type: api.CKA_SIGN, value: true },
      ],
    );
  }

  async signerOf(shard: ShardFiles): Promise<LogSigner> {
    const objects = this.#find(shard);
    if (objects === null) throw new ConfigError(`there is no key ${this.nameOf(shard)}`);
    const { privateKey, publicKey } = objects;
    const { api, module, session } = this.#token;
    const [{ value } = { value: Buffer.alloc(0) }] = module.C_GetAttributeValue(
      session,
      publicKey,
      [{ type: api.CKA_EC_POINT }],
    );
    // A DER octet string around the key, or the key alone: modules differ.
    const point = Buffer.from(value as Buffer).subarray(-PUBLIC_KEY_BYTES);
    return {
      ...noteKey(shard.origin, KEY_TYPE.ed25519, point),
      sign: (message) => this.#sign(privateKey, message),
    };
  }

  async destroy(shard: ShardFiles): Promise<void> {
    const { module, session } = this.#token;
    for (const half of this.#halvesOf(shard)) module.C_DestroyObject(session, half);
  }

  [Symbol.dispose](): void {
    this.#token[Symbol.dispose]();
  }

  /** @throws an error when the module fails, or says nothing in time */
  async #sign(privateKey: Buffer, message: Buffer): Promise<Buffer> {
    const { module, session, label } = this.#token;
    module.C_SignInit(session, { mechanism: CKM_EDDSA }, privateKey);
    const signed = module.C_SignAsync(session, message, Buffer.alloc(SIGNATURE_BYTES));
    signed.catch(() => {});
    const late = new AbortController();
    const signature = await Promise.race([
      signed,
      pause(SIGN_TIMEOUT_MS, null, { signal: late.signal }).catch(() => null),
    ]).finally(() => late.abort());
    if (signature === null)
      throw new Error(`the token ${label} signs nothing for ${SIGN_TIMEOUT_MS} ms`);
    return signature;
  }

  /** Null when there is none. @throws ConfigError for half of a pair */
  #find(shard: ShardFiles): Objects | null {
    const [privateKey, publicKey, ...more] = this.#halvesOf(shard);
    if (privateKey === undefined) return null;
    if (publicKey === undefined || more.length > 0)
      throw new ConfigError(`the token holds no whole pair, or two: ${this.nameOf(shard)}`);
    return { privateKey, publicKey };
  }

  /** The private half first. */
  #halvesOf({ origin }: ShardFiles): Buffer[] {
    const { api } = this.#token;
    return [api.CKO_PRIVATE_KEY, api.CKO_PUBLIC_KEY].flatMap((kind) =>
      this.#token.findAll(kind, origin),
    );
  }
}
