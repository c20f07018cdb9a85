/** Where one producer stands in its current boot, and where in the log to look for its earlier events. */

const FIRST_MARK_EVERY = 64;
/** A long life keeps each second mark when it has so many, again and again: a search then reads more leaves, memory stays. */
const MAX_MARKS = 1_024;
/** At least so many, at most twice. */
const RECENT = 4_096;
/** Of those, what is kept over a restart: as many as a producer has under way. */
const KEPT = 1_024;
const MAX_PAST_BOOTS = 32;

export type ProducerSnapshot = {
  name: string;
  boot: string;
  lastPseq: number;
  pastBoots: string[];
  /** `[pseq, index]` of every `markEvery`th event of this boot, ascending. */
  marks: [pseq: number, index: number][];
  markEvery: number;
  /** After a loss its next event may have any number. */
  gapAllowed: boolean;
  /** `[pseq, index]` of its last events, ascending. */
  recent: [pseq: number, index: number][];
};

export class Sequence {
  readonly name: string;
  #boot: string;
  #lastPseq: number;
  #pastBoots: string[];
  #marks: [number, number][];
  #markEvery: number;
  #sinceMark: number;
  #gapAllowed: boolean;
  /** Index of each of the last events. */
  #recent: Map<number, number>;
  /** Of those before {@link #recent} began. */
  #recentBefore = new Map<number, number>();

  constructor({
    name,
    boot,
    lastPseq,
    pastBoots,
    marks,
    markEvery,
    gapAllowed,
    recent,
  }: ProducerSnapshot) {
    this.name = name;
    this.#boot = boot;
    this.#lastPseq = lastPseq;
    this.#pastBoots = pastBoots;
    this.#marks = marks;
    this.#markEvery = markEvery;
    this.#sinceMark = markEvery;
    this.#gapAllowed = gapAllowed;
    this.#recent = new Map(recent);
  }

  /** One that says where its first event will stand. */
  static begin(name: string, boot: string, firstPseq: number): Sequence {
    const nothing = {
      pastBoots: [],
      marks: [],
      markEvery: FIRST_MARK_EVERY,
      gapAllowed: false,
      recent: [],
    };
    return new Sequence({ name, boot, lastPseq: firstPseq - 1, ...nothing });
  }

  /** It has said something in its current boot. */
  get hasSpoken(): boolean {
    return this.#marks.length > 0;
  }

  snapshot(): ProducerSnapshot {
    return {
      name: this.name,
      boot: this.#boot,
      lastPseq: this.#lastPseq,
      pastBoots: this.#pastBoots,
      marks: [...this.#marks],
      markEvery: this.#markEvery,
      gapAllowed: this.#gapAllowed,
      recent: [...this.#recentBefore, ...this.#recent].slice(-KEPT),
    };
  }

  get boot(): string {
    return this.#boot;
  }

  get lastPseq(): number {
    return this.#lastPseq;
  }

  /** How `pseq` stands to the sequence of the current boot. */
  place(pseq: number): "next" | "repeat" | "gap" {
    if (pseq <= this.#lastPseq) return "repeat";
    return pseq === this.#lastPseq + 1 || this.#gapAllowed ? "next" : "gap";
  }

  /** False for a life that ended: one seen before, or a database generation below the current one. */
  admitsBoot(boot: string): boolean {
    if (boot === this.#boot) return true;
    const [current, asked] = [generationOf(this.#boot), generationOf(boot)];
    const isOlderGeneration = current !== null && asked !== null && asked < current;
    return !isOlderGeneration && !this.#pastBoots.includes(boot);
  }

  startBoot(boot: string, firstPseq: number): void {
    this.#pastBoots = [...this.#pastBoots, this.#boot].slice(-MAX_PAST_BOOTS);
    this.#boot = boot;
    this.#lastPseq = firstPseq - 1;
    this.#marks = [];
    this.#markEvery = FIRST_MARK_EVERY;
    this.#sinceMark = FIRST_MARK_EVERY;
    this.#gapAllowed = false;
    this.#recent = new Map();
    this.#recentBefore = new Map();
  }

  advance(pseq: number, index: number): void {
    this.#lastPseq = pseq;
    this.#gapAllowed = false;
    if (this.#sinceMark >= this.#markEvery) this.#mark(pseq, index);
    this.#sinceMark += 1;
    this.#recent.set(pseq, index);
    if (this.#recent.size < RECENT) return;
    // Half of them at once: the first of a map is found the more slowly, the more were removed before it.
    this.#recentBefore = this.#recent;
    this.#recent = new Map();
  }

  #mark(pseq: number, index: number): void {
    this.#marks.push([pseq, index]);
    this.#sinceMark = 0;
    if (this.#marks.length < MAX_MARKS) return;
    this.#marks = this.#marks.filter((_, at) => at % 2 === 0);
    this.#markEvery *= 2;
  }

  /** After a loss was logged the producer goes on wherever it stands. */
  allowGap(): void {
    this.#gapAllowed = true;
  }

  /** The index of an earlier event, or an index at or before it from which to search onwards; null when there is none. */
  locate(pseq: number): { index: number; exact: boolean } | null {
    const recent = this.#recent.get(pseq) ?? this.#recentBefore.get(pseq);
    if (recent !== undefined) return { index: recent, exact: true };
    const mark = this.#marks.findLast(([marked]) => marked <= pseq);
    return mark === undefined ? null : { index: mark[1], exact: mark[0] === pseq };
  }
}

/** The record producer's boot is its database's generation, `g7`; other boots have no order. */
function generationOf(boot: string): number | null {
  const match = /^g([0-9]{1,15})$/.exec(boot);
  return match === null ? null : Number(match[1]);
}
