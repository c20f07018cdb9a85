/** Reads a checkpoint and believes it once every key that the policy lists for its origin has signed. */
import { openCheckpoint } from "@resontech/audit/format/note/checkpoint";
import type { NoteKey } from "@resontech/audit/format/note/note-key";

export type TrustedCheckpoint = { origin: string; size: number; root: Buffer; note: string };

/** The bytes are no checkpoint of this log. */
export class CheckpointRefused extends Error {
  override readonly name = "CheckpointRefused";
  readonly code = "checkpoint_refused";
}

/** @param keys of all the policy's logs. @throws {@link CheckpointRefused} */
export function openTrustedCheckpoint(
  bytes: Buffer,
  origin: string,
  keys: readonly NoteKey[],
): TrustedCheckpoint {
  const own = keys.filter(({ name }) => name === origin);
  if (own.length === 0) throw new CheckpointRefused(`the policy lists no key for ${origin}`);
  const note = bytes.toString("utf8");
  const checkpoint = openCheckpoint(note, own);
  if (checkpoint === null)
    throw new CheckpointRefused(`it is no checkpoint that each key of ${origin} has signed`);
  const { size, root } = checkpoint;
  return { origin, size, root, note };
}
