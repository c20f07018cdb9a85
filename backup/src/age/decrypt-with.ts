import { createDecipheriv, timingSafeEqual } from "node:crypto";
import { BackupError } from "../backup-error.ts";
import {
  CHUNK_BYTES,
  chunkNonce,
  CIPHER,
  derive,
  macOf,
  PAYLOAD_NONCE_BYTES,
  STANZA,
  STANZA_INFO,
  TAG_BYTES,
} from "./age-format.ts";
import { pieces } from "./byte-pieces.ts";
import { publicOf, sharedSecret } from "./x25519.ts";

/** One stanza for one recipient; age itself allows more. */
const MAX_HEAD_BYTES = 4_096;
/** 32 bytes in base64. The last letter holds four bits: any but these would be a second spelling. */
const BYTES_32 = "([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048])";
const HEAD = new RegExp(
  `^age-encryption\\.org/v1\n-> ${STANZA} ${BYTES_32}\n${BYTES_32}\n--- ${BYTES_32}\n$`,
);

/**
 * The content of an age file. Nothing is given out of a chunk that was changed; that a file was cut is known at its end.
 * @param secret of the recovery key, 32 bytes
 * @param name for messages
 * @throws BackupError `backup_key_wrong`, `backup_damaged`
 */
export async function* decryptWith(
  secret: Uint8Array,
  source: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Buffer> {
  const damaged = (what: string) => new BackupError("backup_damaged", `${name} ${what}`);
  const chunks = source[Symbol.asyncIterator]();
  try {
    const { head, after } = await split(chunks, damaged);
    const fileKey = openHead(head, secret, name);
    const nonce = await first(joined(after, chunks), PAYLOAD_NONCE_BYTES, damaged);
    const key = derive(fileKey, nonce.bytes, "payload");
    let count = 0;
    for await (const { bytes, isLast } of pieces(nonce.rest, CHUNK_BYTES + TAG_BYTES)) {
      const plain = opened(key, chunkNonce(count, isLast), bytes);
      // A last chunk that is empty ends nothing but an empty file.
      if (plain === null || (isLast && plain.length === 0 && count > 0))
        throw damaged(isLast ? "was changed, or its end is missing" : "was changed");
      yield plain;
      count += 1;
    }
  } finally {
    // Whoever reads no further lets go of the file: one that is merely forgotten ends the process when its memory is collected.
    await chunks.return?.();
  }
}

function openHead(head: Buffer, secret: Uint8Array, name: string): Buffer {
  const text = head.toString("latin1");
  const parts = HEAD.exec(text)?.slice(1);
  if (parts === undefined)
    throw new BackupError("backup_damaged", `${name} is no age file for one ${STANZA} key`);
  const [share, body, mac] = parts.map((part) => Buffer.from(part, "base64"));
  const salt = Buffer.concat([share!, publicOf(secret)]);
  const wrapKey = derive(shared(secret, share!, name), salt, STANZA_INFO);
  const fileKey = opened(wrapKey, Buffer.alloc(12), body!);
  if (fileKey === null)
    throw new BackupError("backup_key_wrong", `the recovery key does not open ${name}`);
  const signed = head.subarray(0, text.lastIndexOf("---") + 3);
  if (!timingSafeEqual(macOf(fileKey, signed), mac!))
    throw new BackupError("backup_damaged", `the head of ${name} was changed`);
  return fileKey;
}

function shared(secret: Uint8Array, share: Buffer, name: string): Buffer {
  try {
    return sharedSecret(secret, share);
  } catch (cause) {
    // Of low order.
    throw new BackupError("backup_damaged", `the head of ${name} was changed`, { cause });
  }
}

/** Decrypts what was sealed; null for what was not sealed by this key and nonce. */
function opened(key: Buffer, nonce: Buffer, sealed: Buffer): Buffer | null {
  if (sealed.length < TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const plain = decipher.update(sealed.subarray(0, -TAG_BYTES));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    return null;
  }
}

type Damaged = (what: string) => BackupError;

/** Up to the end of the line that begins with three dashes. */
async function split(
  chunks: AsyncIterator<Uint8Array>,
  damaged: Damaged,
): Promise<{ head: Buffer; after: Buffer }> {
  let held = Buffer.alloc(0);
  for (;;) {
    const mark = held.indexOf("\n--- ");
    const end = mark < 0 ? -1 : held.indexOf("\n", mark + 1);
    if (end >= 0) return { head: held.subarray(0, end + 1), after: held.subarray(end + 1) };
    if (held.length > MAX_HEAD_BYTES) throw damaged("has no head");
    const { value, done } = await chunks.next();
    if (done === true) throw damaged("has no head");
    held = Buffer.concat([held, value]);
  }
}

async function first(
  source: AsyncIterable<Uint8Array>,
  count: number,
  damaged: Damaged,
): Promise<{ bytes: Buffer; rest: AsyncIterable<Uint8Array> }> {
  const chunks = source[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);
  while (held.length < count) {
    const { value, done } = await chunks.next();
    if (done === true) throw damaged("ends too early");
    held = Buffer.concat([held, value]);
  }
  return { bytes: held.subarray(0, count), rest: joined(held.subarray(count), chunks) };
}

async function* joined(
  before: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield before;
  yield* { [Symbol.asyncIterator]: () => rest };
}
