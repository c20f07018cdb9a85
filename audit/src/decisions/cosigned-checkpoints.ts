/** Which witnesses cosigned which of the newest checkpoints. In memory alone; what has a quorum is on disk. Pure. */
import { type SignedCheckpoint, verifiedTime } from "../log/checkpoint.ts";
import type { NoteKey } from "../log/note-key.ts";
import type { Policy } from "../log/policy.ts";
import { formatNote, isLineOf, type SignatureLine } from "../log/signed-note.ts";

/** Some minutes of checkpoints: an answer of a witness that is older is of no use, because a newer one has come. */
const MAX_REMEMBERED = 512;
/** A reader may refuse a note with more. */
const MAX_LINES = 16;

export type Cosigned = {
  /** Lines that were new and right. */
  accepted: number;
  note: string;
  hasQuorum: boolean;
};

type Remembered = { checkpoint: SignedCheckpoint; own: readonly SignatureLine[]; lines: Map<string, SignatureLine> };

export class CosignedCheckpoints {
  readonly #bySize = new Map<number, Remembered>();

  /** A checkpoint that the log signed with these keys of its own. */
  signed(checkpoint: SignedCheckpoint, keys: readonly NoteKey[]): void {
    const own = checkpoint.signatures.filter((line) => keys.some((key) => isLineOf(line, key)));
    this.#bySize.set(checkpoint.size, { checkpoint, own, lines: new Map() });
    if (this.#bySize.size > MAX_REMEMBERED) this.#bySize.delete(this.#bySize.keys().next().value ?? 0);
  }

  /** Takes the lines that a witness of the policy signed; others are ignored. Null for a checkpoint that is not remembered. */
  cosign(size: number, lines: readonly SignatureLine[], policy: Policy): Cosigned | null {
    const known = this.#bySize.get(size);
    if (known === undefined) return null;
    const { checkpoint, own, lines: kept } = known;
    let accepted = 0;
    for (const line of lines) {
      const witness = policy.witnesses.find(({ key }) => isLineOf(line, key));
      // A cosignature states its time: zero is none.
      if (witness === undefined || kept.has(witness.name) || !verifiedTime(checkpoint, line, witness.key)) continue;
      if (own.length + kept.size === MAX_LINES) break;
      kept.set(witness.name, line);
      accepted += 1;
    }
    const names = new Set([...kept.keys()].filter((name) => policy.witnesses.some((witness) => witness.name === name)));
    const note = formatNote({ text: checkpoint.text, signatures: [...own, ...kept.values()] });
    return { accepted, note, hasQuorum: policy.needsWitness && policy.isQuorum(names) };
  }
}
