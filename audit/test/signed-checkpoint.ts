import { type Checkpoint, checkpointText, signatureOf } from "../src/log/format/note/checkpoint.ts";
import type { NoteSigner } from "../src/log/format/note/note-key.ts";
import { formatNote } from "../src/log/format/note/signed-note.ts";

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
