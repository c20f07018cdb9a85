import type { MemberJournal } from "./member-journal.ts";

/** Often enough for the coordinator, which takes two silent minutes for a transfer that stands. */
const TELL_EVERY_MS = 2_000;

/** Tells, every now and then while something moves, how far a member's transfers have come. */
export class TransferProgress {
  readonly #journal: MemberJournal;
  #toldAtMs = 0;
  #done = 0;

  constructor(journal: MemberJournal) {
    this.#journal = journal;
  }

  get done(): number {
    return this.#done;
  }

  moved(step: "image" | "inputs" | "unpack" | "outputs", by: number, total?: number): void {
    this.#done += by;
    const now = performance.now();
    if (now - this.#toldAtMs < TELL_EVERY_MS) return;
    this.#toldAtMs = now;
    this.#journal.note(
      {},
      { kind: "progress", step, done: this.#done, ...(total === undefined ? {} : { total }) },
    );
  }
}
