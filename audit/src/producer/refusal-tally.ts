/**
 * Refusals by source and kind. The first of a minute is one record at once; what follows from the same source and of the same kind is one record with a
 * count when the minute ends. A flood costs the log two entries a minute, source and kind, and this process no more memory than the caps below allow.
 * A process that is killed loses the counts of its last minute, and no first refusal.
 */

/** What a record adds for refusals that came after the first. */
export type Repeats = {
  count: number;
  /** From the first of the minute to this record, whole seconds, at least 1. */
  windowS: number;
};

export type Refusal = {
  /** Whose cost it is: an IP address. */
  source: string;
  /** What makes two refusals of one source the same: type, code, action and person. No text that the source chose. */
  kind: string;
  /** Makes the record. It is kept for the minute: it should hold no more than the record needs. */
  write: (repeats: Repeats | null) => Promise<unknown>;
};

export type RefusalTallyOptions = {
  /** Unix milliseconds. */
  now: () => number;
  /** Makes the record of refusals beyond the caps. @param source null for many together */
  writeBeyond: (repeats: Repeats, source: string | null) => Promise<unknown>;
  /** A count that could not be written: it is kept for another minute, unless the tally is closed. */
  onError: (error: unknown) => void;
  caps?: { sources: number; kindsOfSource: number; kinds: number };
};

type Counted = { write: Refusal["write"]; startedAt: number; count: number; written: number };
type Minute = { count: number; kinds: Map<string, Counted>; timer: NodeJS.Timeout };

const MINUTE_MS = 60_000;
const CAPS = { sources: 10_000, kindsOfSource: 250, kinds: 20_000 };
/** Records of one moment that are under way at once: the log takes others between them. */
const MAX_WRITES = 256;
/** No address and no kind has this name. */
const BEYOND = "";

export class RefusalTally {
  readonly #options: RefusalTallyOptions;
  readonly #caps: typeof CAPS;
  readonly #minutes = new Map<string, Minute>();
  readonly #noted = new Set<Promise<void>>();
  #due: Counted[] = [];
  #writing: Promise<void> | null = null;
  #kinds = 0;
  #isClosed = false;
  /** In the round of records that is under way. */
  #hasWritten = false;

  constructor(options: RefusalTallyOptions) {
    this.#options = options;
    this.#caps = options.caps ?? CAPS;
  }

  /**
   * Resolves when the refusal is on record or counted.
   * @returns how many this source had in its minute, of all kinds; 1 for a source beyond the cap
   * @throws what `write` does: then it is not counted, and the next one is tried again
   */
  async add({ source, kind, write }: Refusal): Promise<number> {
    const { minute, counted, isFirst } = this.#count(source, kind, write);
    if (isFirst)
      try {
        await write(null);
      } catch (error) {
        counted.count -= 1;
        counted.written = 0;
        minute.count -= 1;
        if (counted.count === 0) this.#drop(minute, kind);
        throw error;
      }
    return this.#minutes.get(source) === minute ? minute.count : 1;
  }

  /** As {@link add}, for an answer that waits for no record. What can't be written now is written with the minute's end. */
  note({ source, kind, write }: Refusal): void {
    const { counted, isFirst } = this.#count(source, kind, write);
    if (!isFirst) return;
    const written = write(null).then(
      () => undefined,
      (error: unknown) => {
        counted.written = 0;
        this.#options.onError(error);
      },
    );
    this.#noted.add(written);
    void written.then(() => this.#noted.delete(written));
  }

  /** Writes what was counted; a log that takes none of it holds nobody up for longer than one round. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#noted);
    for (const source of this.#minutes.keys()) this.#collect(source);
    this.#start();
    while (this.#writing !== null) await this.#writing;
  }

  #count(source: string, kind: string, write: Refusal["write"]) {
    const { minute, counted, isFirst } = this.#placeOf(source, kind, write);
    minute.count += 1;
    counted.count += 1;
    if (isFirst) counted.written = 1;
    return { minute, counted, isFirst };
  }

  /** Where it is counted: by itself while there is room, else with all else of its source, or of every source. */
  #placeOf(source: string, kind: string, write: Refusal["write"]) {
    const hasRoom = this.#minutes.has(source) || this.#minutes.size < this.#caps.sources;
    const of = hasRoom ? source : BEYOND;
    const minute = this.#minutes.get(of) ?? this.#begin(of);
    const known = minute.kinds.get(kind);
    if (known !== undefined) return { minute, counted: known, isFirst: false };
    const isKept =
      hasRoom && minute.kinds.size < this.#caps.kindsOfSource && this.#kinds < this.#caps.kinds;
    if (isKept) return { minute, counted: this.#keep(minute, kind, write), isFirst: true };
    const counted = minute.kinds.get(BEYOND) ?? this.#keep(minute, BEYOND, this.#beyond(of));
    return { minute, counted, isFirst: false };
  }

  #begin(source: string): Minute {
    const timer = setTimeout(() => this.#end(source), MINUTE_MS).unref();
    const minute: Minute = { count: 0, kinds: new Map(), timer };
    this.#minutes.set(source, minute);
    return minute;
  }

  #keep(minute: Minute, kind: string, write: Refusal["write"]): Counted {
    const counted = { write, startedAt: this.#options.now(), count: 0, written: 0 };
    minute.kinds.set(kind, counted);
    this.#kinds += 1;
    return counted;
  }

  #drop(minute: Minute, kind: string): void {
    if (minute.kinds.delete(kind)) this.#kinds -= 1;
  }

  #beyond(source: string): Refusal["write"] {
    const named = source === BEYOND ? null : source;
    return async (repeats) => {
      if (repeats !== null) await this.#options.writeBeyond(repeats, named);
    };
  }

  #end(source: string): void {
    this.#collect(source);
    this.#start();
  }

  #start(): void {
    this.#writing ??= this.#writeDue().finally(() => {
      this.#writing = null;
      if (this.#due.length > 0) this.#start();
    });
  }

  #collect(source: string): void {
    const minute = this.#minutes.get(source);
    if (minute === undefined) return;
    clearTimeout(minute.timer);
    this.#minutes.delete(source);
    this.#kinds -= minute.kinds.size;
    for (const [kind, counted] of minute.kinds)
      if (counted.count > counted.written) this.#due.push(this.#kept(source, kind, counted));
    // A first record that fails later finds its minute over.
    minute.kinds.clear();
  }

  /** What is due, with what becomes of it where it can't be written. */
  #kept(source: string, kind: string, counted: Counted): Counted {
    return {
      ...counted,
      write: async (repeats) => {
        try {
          await counted.write(repeats);
          this.#hasWritten = true;
        } catch (error) {
          this.#options.onError(error);
          if (!this.#isClosed) this.#again(source, kind, counted);
        }
      },
    };
  }

  #again(source: string, kind: string, { write, startedAt, count, written }: Counted): void {
    const { counted } = this.#placeOf(source, kind, write);
    counted.count += count - written;
    counted.startedAt = Math.min(counted.startedAt, startedAt);
  }

  async #writeDue(): Promise<void> {
    while (this.#due.length > 0) {
      this.#hasWritten = false;
      await Promise.all(
        this.#due.splice(0, MAX_WRITES).map(async ({ write, startedAt, count, written }) => {
          const windowS = Math.max(1, Math.round((this.#options.now() - startedAt) / 1_000));
          await write({ count: count - written, windowS });
        }),
      );
      if (this.#isClosed && !this.#hasWritten) this.#due = [];
    }
  }
}
