import { type Checkpoint, checkpointText, signatureOf } from "../../src/format/note/checkpoint.ts";
import type { NoteSigner } from "../../src/format/note/note-key.ts";
import { formatNote } from "../../src/format/note/signed-note.ts";

/** As auditd signs it, under keys of the test's own. */
export function signedCheckpoint(
  checkpoint: Checkpoint,
  signers: readonly NoteSigner[],
  nowMs: number = Date.now(),
): string {
  const signatures = signers.map((signer) =>
    signatureOf(checkpoint, signer, Math.floor(nowMs / 1_000)),
  );
  return formatNote({ text: checkpointText(checkpoint), signatures });
}
