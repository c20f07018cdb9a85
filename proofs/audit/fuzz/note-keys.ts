/** Keys of the fuzzer's own: those that notes are signed with, and others that a policy can name and no note is ever signed with. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import type { Dice } from "./dice.ts";
import { sha256 } from "./merkle.ts";

/** signed-note "Signature types". */
const TYPE = { ed25519: 0x01, ecdsa: 0x02, cosignature: 0x04, mlDsa: 0x06 } as const;
const RAW_BYTES = { ed25519: 32, cosignature: 32, mlDsa: 1_312 } as const;
const SUBTREE_LABEL = Buffer.from("subtree/v1\n\0");

/** Private keys, PKCS #8, each under its name. */
export type KeyRing = Record<KeyName, Buffer>;
export type KeyName = keyof typeof KEYS;

/** `as`: how a policy lists it. Keys that have no business in a policy are listed as the kind whose form has no length of its own. */
const KEYS = {
  ed25519: { as: "ed25519", make: () => generateKeyPairSync("ed25519") },
  otherEd25519: { as: "ed25519", make: () => generateKeyPairSync("ed25519") },
  mlDsa: { as: "mlDsa", make: () => generateKeyPairSync("ml-dsa-44") },
  witness1: { as: "cosignature", make: () => generateKeyPairSync("ed25519") },
  witness2: { as: "cosignature", make: () => generateKeyPairSync("ed25519") },
  witness3: { as: "mlDsa", make: () => generateKeyPairSync("ml-dsa-44") },
  p256: { as: "ecdsa", make: () => generateKeyPairSync("ec", { namedCurve: "P-256" }) },
  p384: { as: "ecdsa", make: () => generateKeyPairSync("ec", { namedCurve: "P-384" }) },
  explicitCurve: {
    as: "ecdsa",
    make: () => generateKeyPairSync("ec", { namedCurve: "P-256", paramEncoding: "explicit" }),
  },
  rsa: { as: "ecdsa", make: () => generateKeyPairSync("rsa", { modulusLength: 2_048 }) },
  rsaPss: {
    as: "ecdsa",
    make: () => generateKeyPairSync("rsa-pss", { modulusLength: 2_048, hashAlgorithm: "sha512" }),
  },
  dsa: {
    as: "ecdsa",
    make: () => generateKeyPairSync("dsa", { modulusLength: 1_024, divisorLength: 160 }),
  },
  x25519: { as: "ecdsa", make: () => generateKeyPairSync("x25519") },
  ed448: { as: "ecdsa", make: () => generateKeyPairSync("ed448") },
  plainEd25519: { as: "ecdsa", make: () => generateKeyPairSync("ed25519") },
  plainMlDsa: { as: "ecdsa", make: () => generateKeyPairSync("ml-dsa-65") },
} as const satisfies Record<
  string,
  { as: keyof typeof TYPE; make: () => { privateKey: KeyObject } }
>;

export const LOG_KEYS = ["ed25519", "mlDsa"] as const satisfies readonly KeyName[];
export const STRANGE_KEYS = (Object.keys(KEYS) as KeyName[]).filter(
  (name) => KEYS[name].as === "ecdsa",
);
export const WITNESS_NAMES: Readonly<Partial<Record<KeyName, string>>> = {
  witness1: "w.example/w1",
  witness2: "w.example/w2",
  witness3: "w.example/w3",
};

export function newKeyRing(): KeyRing {
  const made = Object.entries(KEYS).map(([name, { make }]) => [
    name,
    make().privateKey.export({ format: "der", type: "pkcs8" }),
  ]);
  return Object.fromEntries(made) as KeyRing;
}

export type Head = { origin: string; size: string; root: string };
/** A signature's line. `form` says what became of it after it was made. */
export type Line = {
  key: KeyName;
  timeS: bigint;
  form: "sound" | "flipped" | "cut" | "long" | "random";
};

export class NoteKeys {
  readonly #ring: KeyRing;
  readonly #opened = new Map<KeyName, { privateKey: KeyObject; publicKey: Buffer }>();

  constructor(ring: KeyRing) {
    this.#ring = ring;
  }

  /** `name+hash+base64(type ‖ key)`, under the log's own name unless it is a witness's. */
  verifierKey(key: KeyName, origin: string): string {
    const name = WITNESS_NAMES[key] ?? origin;
    return `${name}+${this.#keyId(key, name).toString("hex")}+${this.#typed(key).toString("base64")}`;
  }

  line({ key, timeS, form }: Line, head: Head, dice: Dice): string {
    const name = WITNESS_NAMES[key] ?? head.origin;
    const made = Buffer.from(
      form === "random" ? dice.bytes(dice.size(100)) : this.#signature(key, timeS, head),
    );
    if (form === "flipped") made[dice.below(made.length)]! ^= 1 << dice.below(8);
    const bytes = form === "cut" ? made.subarray(0, dice.below(made.length)) : made;
    const longer = form === "long" ? Buffer.alloc(dice.size(40_000)) : Buffer.alloc(0);
    return `— ${name} ${Buffer.concat([this.#keyId(key, name), bytes, longer]).toString("base64")}\n`;
  }

  #signature(key: KeyName, timeS: bigint, head: Head): Buffer {
    const { privateKey } = this.#open(key);
    const text = Buffer.from(`${head.origin}\n${head.size}\n${head.root}\n`);
    const time = u64(timeS);
    switch (KEYS[key].as) {
      case "ed25519":
        return sign(null, text, privateKey);
      case "cosignature":
        return Buffer.concat([
          time,
          sign(
            null,
            Buffer.concat([Buffer.from(`cosignature/v1\ntime ${timeS}\n`), text]),
            privateKey,
          ),
        ]);
      case "mlDsa": {
        const name = opaque(WITNESS_NAMES[key] ?? head.origin);
        const tree = Buffer.concat([
          opaque(head.origin),
          u64(0n),
          u64(sizeOf(head)),
          Buffer.from(head.root, "base64"),
        ]);
        return Buffer.concat([
          time,
          sign(null, Buffer.concat([SUBTREE_LABEL, name, time, tree]), privateKey),
        ]);
      }
      case "ecdsa":
        return ecdsa(text, privateKey);
    }
  }

  #keyId(key: KeyName, name: string): Buffer {
    const typed = this.#typed(key);
    const hashed =
      KEYS[key].as === "ecdsa"
        ? typed.subarray(1)
        : Buffer.concat([Buffer.from(`${name}\n`), typed]);
    return sha256(hashed).subarray(0, 4);
  }

  #typed(key: KeyName): Buffer {
    const { as } = KEYS[key];
    const { publicKey } = this.#open(key);
    return Buffer.concat([
      Buffer.of(TYPE[as]),
      as === "ecdsa" ? publicKey : publicKey.subarray(-RAW_BYTES[as]),
    ]);
  }

  #open(key: KeyName): { privateKey: KeyObject; publicKey: Buffer } {
    let opened = this.#opened.get(key);
    if (opened === undefined) {
      const privateKey = createPrivateKey({
        key: Buffer.from(this.#ring[key]),
        format: "der",
        type: "pkcs8",
      });
      opened = {
        privateKey,
        publicKey: createPublicKey(privateKey).export({ format: "der", type: "spki" }),
      };
      this.#opened.set(key, opened);
    }
    return opened;
  }
}

/** Keys of other kinds sign something as well, or nothing. */
function ecdsa(text: Buffer, privateKey: KeyObject): Buffer {
  try {
    return sign("sha256", text, privateKey);
  } catch {
    return Buffer.alloc(70, 1);
  }
}

function sizeOf({ size }: Head): bigint {
  return /^[0-9]{1,19}$/.test(size) ? BigInt(size) : 0n;
}

function opaque(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.of(bytes.length & 255), bytes]);
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt.asUintN(64, value));
  return bytes;
}
