/** The process in which a token's module seals or opens one file: it answers one request, and is ended by whoever asked. */
import { randomBytes } from "node:crypto";
import type { Pkcs11Token } from "@resontech/contracts/pkcs11-token";
import type pkcs11js from "pkcs11js";
import { OpenToken } from "./open-token.ts";

export type TokenRequest = {
  verb: "seal" | "unseal";
  token: Pkcs11Token & { keyLabel: string };
  bytes: Uint8Array;
  /** Of the file. */
  name: string;
};
export type TokenAnswer = { bytes: Uint8Array } | { error: string };

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Seals as `iv12 ‖ ciphertext ‖ tag16`. */
class SealingKey {
  readonly #token: OpenToken;
  readonly #label: string;

  /** @throws an error where the token has no AES-GCM */
  constructor(token: OpenToken, label: string) {
    this.#token = token;
    this.#label = label;
    this.#require("CKM_AES_GCM");
  }

  seal(plain: Uint8Array, name: string): Buffer {
    const { module, session, label } = this.#token;
    const key = this.#find() ?? this.#make();
    const iv = randomBytes(IV_BYTES);
    module.C_EncryptInit(session, this.#mechanism(iv, name), key);
    const cipher = module.C_Encrypt(
      session,
      Buffer.from(plain),
      Buffer.alloc(plain.length + 2 * TAG_BYTES),
    );
    const sealed = Buffer.concat([iv, cipher]);
    // A module that took an IV of its own leaves what nothing opens.
    if (!this.unseal(sealed, name).equals(plain))
      throw new Error(`the token ${label} does not open what it sealed`);
    return sealed;
  }

  unseal(sealed: Buffer, name: string): Buffer {
    const { module, session, label } = this.#token;
    if (sealed.length < IV_BYTES + TAG_BYTES) throw new Error("too short to be sealed");
    const key = this.#find();
    if (key === null) throw new Error(`there is no key ${this.#label} in the token ${label}`);
    try {
      module.C_DecryptInit(session, this.#mechanism(sealed.subarray(0, IV_BYTES), name), key);
      return module.C_Decrypt(session, sealed.subarray(IV_BYTES), Buffer.alloc(sealed.length));
    } catch (error) {
      throw new Error(`the token ${label} does not open it: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Null when there is none. @throws an error when it is not what {@link #make} makes */
  #find(): Buffer | null {
    const { api, module, session, label } = this.#token;
    const [key, ...more] = this.#token.findAll(api.CKO_SECRET_KEY, this.#label);
    if (key === undefined) return null;
    if (more.length > 0) throw new Error(`the token ${label} holds two keys ${this.#label}`);
    const wanted = [
      api.CKA_KEY_TYPE,
      api.CKA_VALUE_LEN,
      api.CKA_PRIVATE,
      api.CKA_SENSITIVE,
      api.CKA_EXTRACTABLE,
    ];
    const values = module.C_GetAttributeValue(
      session,
      key,
      wanted.map((type) => ({ type })),
    );
    const [type, length, isPrivate, isSensitive, isExtractable] = values.map(({ value }) =>
      numberOf(value),
    );
    if (
      type !== api.CKK_AES ||
      length !== KEY_BYTES ||
      isPrivate !== 1 ||
      isSensitive !== 1 ||
      isExtractable !== 0
    )
      throw new Error(
        `${this.#label} in the token ${label} is no AES-256 key that stays in the token`,
      );
    return key;
  }

  #make(): Buffer {
    const { api, module, session } = this.#token;
    this.#require("CKM_AES_KEY_GEN");
    return module.C_GenerateKey(session, { mechanism: api.CKM_AES_KEY_GEN }, [
      { type: api.CKA_CLASS, value: api.CKO_SECRET_KEY },
      { type: api.CKA_KEY_TYPE, value: api.CKK_AES },
      { type: api.CKA_VALUE_LEN, value: KEY_BYTES },
      { type: api.CKA_LABEL, value: this.#label },
      { type: api.CKA_TOKEN, value: true },
      { type: api.CKA_PRIVATE, value: true },
      { type: api.CKA_SENSITIVE, value: true },
      { type: api.CKA_EXTRACTABLE, value: false },
      { type: api.CKA_ENCRYPT, value: true },
      { type: api.CKA_DECRYPT, value: true },
      { type: api.CKA_WRAP, value: false },
      { type: api.CKA_UNWRAP, value: false },
    ]);
  }

  #mechanism(iv: Buffer, name: string): pkcs11js.Mechanism {
    const { api } = this.#token;
    // The structure as the standard's header has it, with the IV's bits; its text once lacked them.
    const parameter = {
      type: api.CK_PARAMS_AES_GCM_v240,
      iv,
      ivBits: 8 * IV_BYTES,
      aad: Buffer.from(name),
      tagBits: 8 * TAG_BYTES,
    };
    return { mechanism: api.CKM_AES_GCM, parameter };
  }

  #require(name: "CKM_AES_GCM" | "CKM_AES_KEY_GEN"): void {
    const { api, module, slot, label } = this.#token;
    if (!module.C_GetMechanismList(slot).includes(api[name]))
      throw new Error(`the token ${label} has no ${name}`);
  }
}

async function answer({ verb, token, bytes, name }: TokenRequest): Promise<TokenAnswer> {
  try {
    using opened = await OpenToken.open(token);
    const key = new SealingKey(opened, token.keyLabel);
    return {
      bytes: verb === "seal" ? key.seal(bytes, name) : key.unseal(Buffer.from(bytes), name),
    };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

/** Reads a CK_BBOOL or CK_ULONG. */
function numberOf(value: Buffer): number {
  return value.length === 1 ? value.readUInt8() : Number(value.readBigUInt64LE());
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// For as long as somebody listens on the other side.
process.on(
  "message",
  (request: TokenRequest) => void answer(request).then((message) => process.send?.(message)),
);
