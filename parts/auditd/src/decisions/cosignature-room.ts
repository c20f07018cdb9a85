/** Whether every witness of a policy has room for its line under a checkpoint. A note that a reader may refuse for its length proves nothing. Pure. */
import { KEY_TYPE, type KeyType } from "@resontech/audit/format/note/note-key";
import type { Policy } from "@resontech/audit/format/note/policy";
import { MAX_NOTE_BYTES, MAX_SIGNATURES } from "@resontech/audit/format/note/signed-note";

/** Of the time that a cosignature states, where its type has one, and the signature itself. */
const SIGNATURE_BYTES: Readonly<Record<KeyType, number>> = {
  [KEY_TYPE.ed25519]: 64,
  [KEY_TYPE.ed25519Cosignature]: 72,
  [KEY_TYPE.mlDsa44]: 2_428,
};
const MAX_ORIGIN_BYTES = 255;
const OWN_TYPES = [KEY_TYPE.ed25519, KEY_TYPE.mlDsa44];
/** Origin, a size of sixteen digits, root, and the blank line. */
const MAX_TEXT_BYTES = MAX_ORIGIN_BYTES + 1 + 17 + 45 + 1;
const OWN_BYTES =
  MAX_TEXT_BYTES + OWN_TYPES.reduce((sum, type) => sum + lineBytes(MAX_ORIGIN_BYTES, type), 0);

/** Why the checkpoint that all of them have cosigned is no note that every reader of ours takes; null when it is one. */
export function roomViolation({ witnesses }: Policy): string | null {
  const bytes = witnesses.reduce(
    (sum, { key }) => sum + lineBytes(Buffer.byteLength(key.name), key.type),
    OWN_BYTES,
  );
  if (bytes <= MAX_NOTE_BYTES && witnesses.length + OWN_TYPES.length <= MAX_SIGNATURES) return null;
  return `the cosignatures of ${witnesses.length} witnesses do not fit under a checkpoint: ${bytes} bytes, and a note has at most ${MAX_NOTE_BYTES}`;
}

/** `— name base64(key id ‖ signature)`; the dash has three bytes. */
function lineBytes(nameBytes: number, type: KeyType): number {
  return 4 + nameBytes + 1 + 4 * Math.ceil((4 + SIGNATURE_BYTES[type]) / 3) + 1;
}
