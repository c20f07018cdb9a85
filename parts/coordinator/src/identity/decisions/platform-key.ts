/**
 * `rsk_live_` or `rsk_dev_`, 43 characters of base 62 for 256 random bits, 6 for their CRC-32: a scanner tells a real key from
 * a look-alike without asking anybody.
 */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

export type KeyKind = "live" | "dev";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_BYTES = 32;
const RANDOM_CHARS = 43;
const CHECKSUM_CHARS = 6;
const KEY_PATTERN = new RegExp(
  `rsk_(?:live|dev)_[0-9A-Za-z]{${RANDOM_CHARS + CHECKSUM_CHARS}}(?![0-9A-Za-z])`,
  "g",
);

/** @param random 32 random bytes */
export function formatPlatformKey(kind: KeyKind, random: Uint8Array): string {
  if (random.length !== RANDOM_BYTES)
    throw new RangeError(`a platform key has ${RANDOM_BYTES} random bytes`);
  const body = base62(BigInt(`0x${Buffer.from(random).toString("hex")}`), RANDOM_CHARS);
  return `rsk_${kind}_${body}${checksum(body)}`;
}

export function isPlatformKey(text: string): boolean {
  const body = /^rsk_(?:live|dev)_([0-9A-Za-z]{49})$/.exec(text)?.[1];
  return body !== undefined && checksum(body.slice(0, RANDOM_CHARS)) === body.slice(RANDOM_CHARS);
}

/** Every platform key in a text, real by its checksum. */
export function findPlatformKeys(text: string): string[] {
  return (text.match(KEY_PATTERN) ?? []).filter(isPlatformKey);
}

/** What is kept of a key: 256 random bits need no slow hash. */
export function hashPlatformKey(key: string): Buffer {
  return createHash("sha256").update(key, "utf8").digest();
}

/** What a list shows of it. */
export function keyHandle(key: string): { prefix: string; last4: string } {
  return { prefix: key.slice(0, key.indexOf("_", 4) + 5), last4: key.slice(-4) };
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_CHARS);
}

function base62(value: bigint, width: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text.padStart(width, "0");
}
