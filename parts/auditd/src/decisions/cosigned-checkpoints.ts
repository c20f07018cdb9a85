/** Which witnesses cosigned which of the newest checkpoints. In memory alone; what has a quorum is on disk. Pure. */
import { type SignedCheckpoint, verifiedTime } from "@resontech/audit/format/note/checkpoint";
import type { NoteKey } from "@resontech/audit/format/note/note-key";
import type { Policy } from "@resontech/audit/format/note/policy";
import {
  formatNote,
  isLineOf,
  MAX_NOTE_BYTES,
  MAX_SIGNATURES,
  type SignatureLine,
} from "@resontech/audit/format/note/signed-note";

/** Some minutes of checkpoints: an answer of a witness that is older is of no use, because a newer one has come. */
const MAX_REMEMBERED = 512;

export type Cosigned = {
  /** Lines that were new and right. */
  accepted: number;
  note: string;
  hasQuorum: boolean;
};

type Remembered = {
  checkpoint: SignedCheckpoint;
  own: readonly SignatureLine[] /** One of each witness's key. */;
  lines: SignatureLine[];
};

export class CosignedCheckpoints {
  readonly #bySize = new Map<number, Remembered>();

  /** A checkpoint that the log signed with these keys of its own. */
  signed(checkpoint: SignedCheckpoint, keys: readonly NoteKey[]): void {
    const own = checkpoint.signatures.filter((line) => keys.some((key) => isLineOf(line, key)));
    this.#bySize.set(checkpoint.size, { checkpoint, own, lines: [] });
    if (this.#bySize.size > MAX_REMEMBERED)
      this.#bySize.delete(this.#bySize.keys().next().value ?? 0);
  }

  /** Takes the lines that a witness of the policy signed; others are ignored. Null for a checkpoint that is not remembered. */
  cosign(size: number, lines: readonly SignatureLine[], policy: Policy): Cosigned | null {
    const known = this.#bySize.get(size);
    if (known === undefined) return null;
    const { checkpoint, own, lines: kept } = known;
    let accepted = 0;
    for (const line of lines) {
      const witness = policy.witnesses.find(({ key }) => isLineOf(line, key));
      if (witness === undefined || kept.some((other) => isLineOf(other, witness.key))) continue;
      // A cosignature states its time: zero is none.
      if (!verifiedTime(checkpoint, line, witness.key)) continue;
      kept.push(line);
      accepted += 1;
    }
    const cosigned = policy.witnesses.filter(({ key }) => kept.some((line) => isLineOf(line, key)));
    const names = new Set(cosigned.map(({ name }) => name));
    const note = noteOf(checkpoint.text, own, kept, policy);
    return { accepted, note, hasQuorum: policy.needsWitness && policy.isQuorum(names) };
  }
}

/** All who are on the policy now, for whom there is room, then as many of those who were before as have some. */
function noteOf(
  text: string,
  own: readonly SignatureLine[],
  kept: readonly SignatureLine[],
  { witnesses }: Policy,
): string {
  const isOfPolicy = (line: SignatureLine): boolean =>
    witnesses.some(({ key }) => isLineOf(line, key));
  const signatures = [...own, ...kept.filter(isOfPolicy)];
  for (const line of kept.filter((one) => !isOfPolicy(one))) {
    const longer = [...signatures, line];
    if (
      longer.length <= MAX_SIGNATURES &&
      Buffer.byteLength(formatNote({ text, signatures: longer })) <= MAX_NOTE_BYTES
    )
      signatures.push(line);
  }
  return formatNote({ text, signatures });
}
