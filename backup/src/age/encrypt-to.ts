import { createCipheriv, randomBytes } from "node:crypto";
import {
  base64,
  CHUNK_BYTES,
  chunkNonce,
  CIPHER,
  derive,
  FILE_KEY_BYTES,
  macOf,
  PAYLOAD_NONCE_BYTES,
  STANZA,
  STANZA_INFO,
  TAG_BYTES,
  VERSION_LINE,
} from "./age-format.ts";
import { pieces } from "./byte-pieces.ts";
import { KEY_BYTES, publicOf, sharedSecret } from "./x25519.ts";

/**
 * An age file that the holder of one recovery key opens, with ours or with `age` itself.
 * @param recipient the public half, 32 bytes
 */
export async function* encryptTo(
  recipient: Uint8Array,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const fileKey = randomBytes(FILE_KEY_BYTES);
  yield headFor(recipient, fileKey);
  const nonce = randomBytes(PAYLOAD_NONCE_BYTES);
  yield nonce;
  const key = derive(fileKey, nonce, "payload");
  let count = 0;
  for await (const { bytes, isLast } of pieces(source, CHUNK_BYTES)) {
    yield sealed(key, chunkNonce(count, isLast), bytes);
    count += 1;
  }
}

function headFor(recipient: Uint8Array, fileKey: Buffer): Buffer {
  const ephemeral = randomBytes(KEY_BYTES);
  const share = publicOf(ephemeral);
  const salt = Buffer.concat([share, recipient]);
  const wrapKey = derive(sharedSecret(ephemeral, recipient), salt, STANZA_INFO);
  const body = sealed(wrapKey, Buffer.alloc(12), fileKey);
  const head = `${VERSION_LINE}-> ${STANZA} ${base64(share)}\n${base64(body)}\n---`;
  return Buffer.from(`${head} ${base64(macOf(fileKey, Buffer.from(head)))}\n`);
}

function sealed(key: Buffer, nonce: Buffer, plain: Buffer): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}
