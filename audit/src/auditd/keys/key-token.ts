/**
 * The Ed25519 keys of shards in a PKCS#11 token: made there, never out of it. One pair of objects for each shard, labelled with its origin.
 *
 * A token counts wrong PINs and locks itself; whoever starts auditd again and again with a wrong one would lock it. So no PIN is tried on a token that
 * has counted one.
 */
import { readFile, stat } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type pkcs11js from "pkcs11js";
import { KEY_TYPE, type LogSigner, noteKey } from "../../log/note-key.ts";
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
const OTHERS = 0o077;
const MAX_FOUND = 4;

type Token = NonNullable<AuditdConfig["token"]>;
type Objects = { privateKey: Buffer; publicKey: Buffer };

export class KeyToken implements KeyHolder {
  readonly #api: typeof pkcs11js;
  readonly #module: pkcs11js.PKCS11;
  readonly #session: Buffer;
  readonly #name: string;

  private constructor(api: typeof pkcs11js, module: pkcs11js.PKCS11, session: Buffer, name: string) {
    this.#api = api;
    this.#module = module;
    this.#session = session;
    this.#name = name;
  }

  /** @throws ConfigError */
  static async open({ module: file, label, pinFile }: Token): Promise<KeyToken> {
    // It brings a native module along: loaded only where a token is.
    const { default: api } = await import("pkcs11js");
    const module = new api.PKCS11();
    try {
      const pin = await readPin(pinFile);
      module.load(file);
      module.C_Initialize();
      const slot = module.C_GetSlotList(true).find((one) => module.C_GetTokenInfo(one).label.trim() === label);
      if (slot === undefined) throw new Error(`there is no token ${label}`);
      if ((module.C_GetTokenInfo(slot).flags & (api.CKF_USER_PIN_COUNT_LOW | api.CKF_USER_PIN_LOCKED)) !== 0)
        throw new Error(
          `a wrong PIN was given for ${label}: mend ${pinFile}, then log in once by hand, which sets its count back`,
        );
      const session = module.C_OpenSession(slot, api.CKF_SERIAL_SESSION | api.CKF_RW_SESSION);
      module.C_Login(session, api.CKU_USER, pin);
      return new KeyToken(api, module, session, label);
    } catch (error) {
      module.close();
      throw new ConfigError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  nameOf({ origin }: ShardFiles): string {
    return `${origin} in the token ${this.#name}`;
  }

  async has(shard: ShardFiles): Promise<boolean> {
    return this.#halvesOf(shard).length > 0;
  }

  async ensure(shard: ShardFiles): Promise<void> {
    if (this.#find(shard) !== null) return;
    const shared = [
      { type: this.#api.CKA_TOKEN, value: true },
      { type: this.#api.CKA_KEY_TYPE, value: CKK_EC_EDWARDS },
      { type: this.#api.CKA_LABEL, value: shard.origin },
      { type: this.#api.CKA_ID, value: Buffer.from(shard.slug, "latin1") },
    ];
    this.#module.C_GenerateKeyPair(
      this.#session,
      { mechanism: CKM_EC_EDWARDS_KEY_PAIR_GEN },
      [...shared, { type: this.#api.CKA_VERIFY, value: true }, { type: this.#api.CKA_EC_PARAMS, value: ED25519_PARAMETERS }],
      [
        ...shared,
        { type: this.#api.CKA_PRIVATE, value: true },
        { type: this.#api.CKA_SENSITIVE, value: true },
        { type: this.#api.CKA_EXTRACTABLE, value: false },
        { type: this.#api.CKA_SIGN, value: true },
      ],
    );
  }

  async signerOf(shard: ShardFiles): Promise<LogSigner> {
    const objects = this.#find(shard);
    if (objects === null) throw new ConfigError(`there is no key ${this.nameOf(shard)}`);
    const { privateKey, publicKey } = objects;
    const [{ value } = { value: Buffer.alloc(0) }] = this.#module.C_GetAttributeValue(this.#session, publicKey, [
      { type: this.#api.CKA_EC_POINT },
    ]);
    // A DER octet string around the key, or the key alone: modules differ.
    const point = Buffer.from(value as Buffer).subarray(-PUBLIC_KEY_BYTES);
    return { ...noteKey(shard.origin, KEY_TYPE.ed25519, point), sign: (message) => this.#sign(privateKey, message) };
  }

  async destroy(shard: ShardFiles): Promise<void> {
    for (const half of this.#halvesOf(shard)) this.#module.C_DestroyObject(this.#session, half);
  }

  [Symbol.dispose](): void {
    this.#module.C_Finalize();
    this.#module.close();
  }

  /** @throws an error when the module fails, or says nothing in time */
  async #sign(privateKey: Buffer, message: Buffer): Promise<Buffer> {
    this.#module.C_SignInit(this.#session, { mechanism: CKM_EDDSA }, privateKey);
    const signed = this.#module.C_SignAsync(this.#session, message, Buffer.alloc(SIGNATURE_BYTES));
    signed.catch(() => {});
    const late = new AbortController();
    const signature = await Promise.race([
      signed,
      pause(SIGN_TIMEOUT_MS, null, { signal: late.signal }).catch(() => null),
    ]).finally(() => late.abort());
    if (signature === null) throw new Error(`the token ${this.#name} signs nothing for ${SIGN_TIMEOUT_MS} ms`);
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
    return [this.#api.CKO_PRIVATE_KEY, this.#api.CKO_PUBLIC_KEY].flatMap((kind) => this.#findAll(kind, origin));
  }

  #findAll(kind: number, label: string): Buffer[] {
    const module = this.#module;
    module.C_FindObjectsInit(this.#session, [
      { type: this.#api.CKA_CLASS, value: kind },
      { type: this.#api.CKA_LABEL, value: label },
    ]);
    try {
      return module.C_FindObjects(this.#session, MAX_FOUND);
    } finally {
      module.C_FindObjectsFinal(this.#session);
    }
  }
}

async function readPin(file: string): Promise<string> {
  if (((await stat(file)).mode & OTHERS) !== 0) throw new Error(`${file} is open to others: its mode must be 0400`);
  return (await readFile(file, "utf8")).trimEnd();
}
