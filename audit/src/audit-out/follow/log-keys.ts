/** The keys that a tlog-policy (C2SP) lists for logs. Witnesses are the business of whoever judges quorums. */
import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import { ConfigError } from "../config.ts";

export const ED25519 = 0x01;
const ECDSA = 0x02;
const ML_DSA_44 = 0x06;

export type LogKey = { name: string; keyId: Buffer; type: typeof ED25519 | typeof ML_DSA_44; key: KeyObject };

/** DER of SubjectPublicKeyInfo up to the key itself: RFC 8410 §4, RFC 9881 §4. */
const SPKI = {
  [ED25519]: { prefix: Buffer.from("302a300506032b6570032100", "hex"), keyBytes: 32 },
  [ML_DSA_44]: { prefix: Buffer.from("30820532300b06096086480165030403110382052100", "hex"), keyBytes: 1312 },
};

/** @throws {@link ConfigError} when it lists no log, or a key that is none */
export function logKeysOf(policy: string): LogKey[] {
  const keys = policy
    .split("\n")
    .map((line) => line.split(/[ \t]+/).filter((word) => word !== ""))
    .filter(([keyword]) => keyword === "log")
    .map(([, verifierKey = ""]) => readVerifierKey(verifierKey))
    .filter((key) => key !== null);
  if (keys.length === 0) throw new ConfigError("the policy lists no log");
  return keys;
}

/** `name+hash+base64(type ‖ key)`; the hash must be the key's own. Null for an ECDSA key, which stands beside the others and never instead. */
function readVerifierKey(text: string): LogKey | null {
  const [, name = "", hash = "", encoded = ""] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/u.exec(text) ?? [];
  const bytes = Buffer.from(encoded, "base64");
  const type = bytes[0];
  if (type === ECDSA) return null;
  if (type !== ED25519 && type !== ML_DSA_44) throw new ConfigError("the policy lists a log's key of a kind that is not known");
  const { prefix, keyBytes } = SPKI[type];
  const keyId = createHash("sha256").update(`${name}\n`).update(bytes).digest().subarray(0, 4);
  if (bytes.length !== 1 + keyBytes || keyId.toString("hex") !== hash)
    throw new ConfigError(`the policy's key of ${name} is damaged`);
  const der = Buffer.concat([prefix, bytes.subarray(1)]);
  return { name, keyId, type, key: createPublicKey({ key: der, format: "der", type: "spki" }) };
}
