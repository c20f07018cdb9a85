/** Whether a line is a key's signature of a checkpoint, by signed-note and tlog-cosignature. */
import { concat, equal, fromHex, readU64, u64, utf8 } from "../input/bytes.ts";
import { type Checkpoint, headText, type Signature } from "../input/note.ts";
import type { Platform } from "../platform/platform.ts";
import { type Key, KEY_TYPE } from "./policy.ts";

const TIME_BYTES = 8;
/** The last second of ECMAScript's time, in the year 275760: a later one can't be shown. */
const MAX_TIME_S = 8_640_000_000_000;
/** The one form of a key on P-256 (RFC 5480): the curve by its name, the point in full. Runtimes read keys of other algorithms here as well. */
const P256_START = fromHex("3059301306072a8648ce3d020106082a8648ce3d03010703420004");
const P256_BYTES = P256_START.length + 64;
const SUBTREE_LABEL = utf8("subtree/v1\n\0");

/** `null`: this runtime or release does not know the kind. `timeS` is 0 for kinds without time. */
export type Judgement = { valid: boolean; timeS: number } | null;

export async function evaluateLine(
  checkpoint: Checkpoint,
  { bytes }: Signature,
  key: Key,
  { verify }: Platform,
): Promise<Judgement> {
  const head = utf8(headText(checkpoint));
  const ended = (valid: boolean | null, timeS = 0): Judgement =>
    valid === null ? null : { valid, timeS };
  if (key.type === KEY_TYPE.ED25519)
    return ended(await verify("ed25519", key.publicKey, head, bytes));
  if (key.type === KEY_TYPE.ECDSA)
    return ended(isP256(key.publicKey) && (await verify("ecdsa-p256", key.publicKey, head, bytes)));
  if (key.type !== KEY_TYPE.ED25519_WITH_TIME && key.type !== KEY_TYPE.ML_DSA_44) return null;
  const timeS = bytes.length > TIME_BYTES ? readU64(bytes, 0) : null;
  if (timeS === null || timeS > MAX_TIME_S) return { valid: false, timeS: 0 };
  const signature = bytes.subarray(TIME_BYTES);
  if (key.type === KEY_TYPE.ED25519_WITH_TIME) {
    const message = concat(utf8(`cosignature/v1\ntime ${timeS}\n`), head);
    return ended(await verify("ed25519", key.publicKey, message, signature), timeS);
  }
  const message = concat(
    SUBTREE_LABEL,
    named(key.name),
    u64(timeS),
    named(checkpoint.origin),
    u64(0),
    u64(checkpoint.size),
    checkpoint.root,
  );
  return ended(await verify("ml-dsa-44", key.publicKey, message, signature), timeS);
}

/** What a key says of a checkpoint. `missing`: it has no line. One bad line of a known key makes the note a bad one. */
export async function evaluateKey(
  checkpoint: Checkpoint,
  key: Key,
  platform: Platform,
): Promise<{ state: "valid" | "invalid" | "missing" | "unknown"; timeS: number }> {
  const lines = checkpoint.signatures.filter(
    ({ name, keyId }) => name === key.name && keyId === key.keyId,
  );
  if (lines.length === 0) return { state: "missing", timeS: 0 };
  const judged = await Promise.all(
    lines.map((line) => evaluateLine(checkpoint, line, key, platform)),
  );
  if (judged.some((one) => one?.valid === false)) return { state: "invalid", timeS: 0 };
  if (judged.some((one) => one === null)) return { state: "unknown", timeS: 0 };
  return { state: "valid", timeS: Math.min(...judged.map((one) => one!.timeS)) };
}

function isP256(publicKey: Uint8Array): boolean {
  return (
    publicKey.length === P256_BYTES && equal(publicKey.subarray(0, P256_START.length), P256_START)
  );
}

/** `opaque <1..2^8-1>` */
function named(text: string): Uint8Array {
  const bytes = utf8(text);
  return concat(Uint8Array.of(bytes.length), bytes);
}
