/**
 * The search index: one SQLite file, made from the log alone. It may be deleted at any time; what is damaged, or of another version, is made anew.
 *
 * An entry's number is its shard's, times 2^40, plus its index: the order of numbers is the order of the log.
 */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { PATH_FIELD, type TokenLine } from "@resontech/contracts/vault-tokens";
import { SharedRun } from "@resontech/frame/shared-run";
import { giveBackLog } from "@resontech/audit/scrub/scrub";
import { scrubInThread } from "@resontech/audit/scrub/scrub-thread";
import { inOrder } from "@resontech/audit/format/shard/shard-plan";
import type { Position } from "../follow/position.ts";
import {
  boundColumns,
  type EventFilter,
  idsThatBegin,
  type LeadingColumn,
} from "./event-filter.ts";
import type { EventRow } from "./row-of-leaf.ts";

/** Raised with every change of the tables: another version is made anew from the log. */
const SCHEMA_VERSION = 6;
const SHARD_SPAN = 2 ** 40;
const SCHEMA = `
  CREATE TABLE shards (no INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, size INTEGER NOT NULL) STRICT;
  CREATE TABLE words (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE events (
    n INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, type INTEGER NOT NULL, prod INTEGER NOT NULL, phase INTEGER NOT NULL, op BLOB NOT NULL,
    actor TEXT NOT NULL, on_behalf_of TEXT, kind INTEGER NOT NULL, object TEXT NOT NULL, outcome INTEGER,
    refused INTEGER, administrator INTEGER, approval TEXT
  ) STRICT;
  CREATE TABLE marks (mark TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (mark, n)) STRICT, WITHOUT ROWID;
  CREATE TABLE days (day TEXT NOT NULL, type INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (day, type)) STRICT, WITHOUT ROWID;
  CREATE TABLE tokens (token BLOB NOT NULL, n INTEGER NOT NULL, field INTEGER NOT NULL, PRIMARY KEY (token, n, field)) STRICT, WITHOUT ROWID;
  CREATE TABLE token_places (no INTEGER PRIMARY KEY, idx INTEGER NOT NULL, field TEXT NOT NULL) STRICT;
  CREATE TABLE token_key (id TEXT NOT NULL) STRICT;
  CREATE TABLE token_acts (life TEXT NOT NULL, act INTEGER NOT NULL) STRICT;
  CREATE TABLE token_remnants (one INTEGER PRIMARY KEY CHECK (one = 1)) STRICT;
  CREATE INDEX tokens_n ON tokens (n);
  CREATE INDEX events_at ON events (at_ms);
  CREATE INDEX events_op ON events (op);
  CREATE INDEX events_object ON events (object);
  CREATE INDEX events_actor ON events (actor);
  CREATE INDEX events_on_behalf_of ON events (on_behalf_of) WHERE on_behalf_of IS NOT NULL;
  CREATE INDEX events_outcome ON events (outcome) WHERE outcome IS NOT NULL;
  CREATE INDEX events_refused ON events (refused) WHERE refused IS NOT NULL;
  CREATE INDEX events_administrator ON events (administrator) WHERE administrator IS NOT NULL;
  CREATE INDEX events_approval ON events (approval) WHERE approval IS NOT NULL;
  CREATE INDEX events_type ON events (type);
  CREATE INDEX events_phase ON events (phase);
  CREATE INDEX events_prod ON events (prod);
  CREATE INDEX events_kind ON events (kind);
`;
/** Of objects whose ids begin alike: more of them are not looked up before the span that is asked for. */
const RARE_ENTRIES = 4_000;
const RARE_PREFIX =
  "n IN (SELECT n FROM events WHERE object >= ? AND object < ? AND n BETWEEN ? AND ?)";
/** An address or an object is told by so much of its token: nobody makes two of them alike. */
const SOURCE_CHARACTERS = 12;
/** How an operation ends. What it was done to is said once, in its first entry: the last one repeats the commitment, and nothing opens it there. */
const ENDING_PHASES: ReadonlySet<string> = new Set(["completed", "failed", "denied"]);
const COLUMNS =
  "n, at_ms, type, prod, phase, op, actor, on_behalf_of, kind, object, outcome, approval";
const MARKED = "n IN (SELECT n FROM marks WHERE mark = ? AND n BETWEEN ? AND ?)";
/** An object's operations are few; entries of them are found by the operation. */
const OF_ITS_OPERATIONS = "op IN (SELECT op FROM events WHERE object = ?)";
/** Columns whose values are few: kept once, in `words`. */
const WORD_COLUMNS: ReadonlySet<LeadingColumn> = new Set([
  "type",
  "prod",
  "phase",
  "kind",
  "outcome",
]);

/** Columns that hold 1 or nothing. */
const FLAG_COLUMNS: ReadonlySet<LeadingColumn> = new Set(["refused", "administrator"]);

export type IndexedEvent = Omit<EventRow, "isRefused" | "isByAdministrator" | "marks"> & Position;
/** Behind this field of this entry. */
export type TokenPlace = { index: number; field: string };
export type FieldOfEntry = Position & { field: string };
const FIRST_TOKEN_PLACE: TokenPlace = { index: -1, field: "" };
/** Numbers of entries, both included. */
export type Span = { first: number; last: number };
export type DayCount = { day: string; type: string; count: number };

type StoredRow = {
  n: number;
  at_ms: number;
  type: number;
  prod: number;
  phase: number;
  op: Buffer;
  actor: string;
  on_behalf_of: string | null;
  kind: number;
  object: string;
  outcome: number | null;
  approval: string | null;
};

export class SearchIndex implements Disposable {
  readonly #file: string;
  #db: Database.Database;
  readonly #wordIds = new Map<string, number>();
  readonly #words = new Map<number, string>();
  readonly #shards = new Map<string, { no: number; size: number }>();
  readonly #scrubbing = new SharedRun();

  /** @param onRebuild called with the reason when what was there is thrown away */
  constructor(stateDir: string, onRebuild: (reason: string) => void) {
    this.#file = join(stateDir, "search.sqlite");
    this.#db = this.#openOrMake(onRebuild);
  }

  /** Throws everything away; the indexer then begins at the log's first entry. Not before {@link whenScrubbed}: the thread would take the new file's log. */
  rebuild(): void {
    this.#db.close();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${this.#file}${suffix}`, { force: true });
    this.#db = this.#make();
  }

  /** Behind the last indexed entry; null when there is none. */
  get position(): Position | null {
    const [slug] = [...this.#shards.keys()].sort(inOrder).slice(-1);
    return slug === undefined ? null : { slug, index: this.sizeOf(slug) };
  }

  /** Entries of one shard that are indexed: its first so many. */
  sizeOf(slug: string): number {
    return this.#shards.get(slug)?.size ?? 0;
  }

  /** Oldest first. */
  get slugs(): string[] {
    return [...this.#shards.keys()].sort(inOrder);
  }

  /** Adds entries that follow one another; all or none of them. */
  add(slug: string, firstIndex: number, rows: readonly EventRow[]): void {
    if (firstIndex !== this.sizeOf(slug))
      throw new RangeError(`entry ${firstIndex} does not follow ${this.sizeOf(slug)}`);
    try {
      this.#db.transaction(() => this.#insert(slug, firstIndex, rows))();
    } catch (error) {
      // Ids that the transaction gave out went with it.
      this.#load();
      throw error;
    }
    const { no } = this.#shards.get(slug)!;
    this.#shards.set(slug, { no, size: firstIndex + rows.length });
  }

  /** The entries of a shard that a filter's times allow; null when there are none. */
  spanOf(slug: string, { fromMs, toMs }: EventFilter): Span | null {
    const shard = this.#shards.get(slug);
    if (shard === undefined || shard.size === 0) return null;
    const all: Span = {
      first: shard.no * SHARD_SPAN,
      last: shard.no * SHARD_SPAN + shard.size - 1,
    };
    // The log's time never goes back, so times are bounds of numbers.
    const first =
      fromMs === undefined
        ? all.first
        : this.#number("SELECT n FROM events WHERE at_ms >= ? ORDER BY at_ms, n LIMIT 1", fromMs);
    const last =
      toMs === undefined
        ? all.last
        : this.#number(
            "SELECT n FROM events WHERE at_ms < ? ORDER BY at_ms DESC, n DESC LIMIT 1",
            toMs,
          );
    if (first === null || last === null) return null;
    const span = { first: Math.max(first, all.first), last: Math.min(last, all.last) };
    return span.first > span.last ? null : span;
  }

  numberOf({ slug, index }: Position): number | null {
    const shard = this.#shards.get(slug);
    return shard === undefined ? null : shard.no * SHARD_SPAN + index;
  }

  positionOf(n: number): Position {
    const no = Math.floor(n / SHARD_SPAN);
    const [slug = ""] = [...this.#shards].find(([, shard]) => shard.no === no) ?? [];
    return { slug, index: n - no * SHARD_SPAN };
  }

  /** Behind the last token of a shard that is known. */
  tokenPlaceOf(slug: string): TokenPlace {
    const no = this.#shards.get(slug)?.no ?? -1;
    const row = this.#db
      .prepare<unknown[], TokenPlace>('SELECT idx AS "index", field FROM token_places WHERE no = ?')
      .get(no);
    return row ?? FIRST_TOKEN_PLACE;
  }

  /**
   * Adds tokens of a shard's entries, all or none of them.
   * @param places behind which they stand, and behind which the next ones will; nothing happens unless the shard's tokens end at the first: the
   * index was made anew meanwhile
   */
  addTokens(
    slug: string,
    { after, at }: { after: TokenPlace; at: TokenPlace },
    lines: readonly TokenLine[],
  ): void {
    const shard = this.#shards.get(slug);
    const known = this.tokenPlaceOf(slug);
    if (shard === undefined || known.index !== after.index || known.field !== after.field) return;
    const insert = this.#db.prepare(
      "INSERT INTO tokens (token, n, field) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    );
    const entriesOf = this.#entriesByField();
    this.#db.transaction(() => {
      for (const { token, index, field } of lines) {
        const bytes = Buffer.from(token, "hex");
        const fieldId = this.#idOf(field);
        for (const n of entriesOf(shard.no * SHARD_SPAN + index, field))
          insert.run(bytes, n, fieldId);
      }
      this.#db
        .prepare(
          "INSERT INTO token_places (no, idx, field) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET idx = excluded.idx, field = excluded.field",
        )
        .run(shard.no, at.index, at.field);
    })();
  }

  /** Which key of the vault's made the tokens; null before the first. */
  get tokenKey(): string | null {
    return this.#db.prepare<[], string>("SELECT id FROM token_key").pluck().get() ?? null;
  }

  /** Tokens begin anew, under another key. */
  beginTokens(key: string): void {
    this.#db.transaction(() => {
      const { changes } = this.#db.prepare("DELETE FROM tokens").run();
      for (const table of ["token_places", "token_key"])
        this.#db.prepare(`DELETE FROM ${table}`).run();
      this.#db.prepare("INSERT INTO token_key (id) VALUES (?)").run(key);
      if (changes > 0) this.#noteRemnants();
    })();
  }

  /** The last destroying act of the vault whose tokens are gone from here. */
  get tokenAct(): { life: string; act: number } {
    return (
      this.#db
        .prepare<[], { life: string; act: number }>("SELECT life, act FROM token_acts")
        .get() ?? { life: "", act: 0 }
    );
  }

  /** Takes tokens of these very fields out; they have left every byte of the files once the index was scrubbed. */
  dropTokens(fields: readonly FieldOfEntry[]): void {
    const remove = this.#db.prepare("DELETE FROM tokens WHERE n = ? AND field = ?");
    const entriesOf = this.#entriesByField();
    this.#db.transaction(() => {
      let dropped = 0;
      for (const { field, ...entry } of fields)
        for (const n of entriesOf(this.numberOf(entry) ?? -1, field))
          dropped += remove.run(n, this.#wordIds.get(field) ?? -1).changes;
      if (dropped > 0) this.#noteRemnants();
    })();
  }

  /** Notes that whatever the vault's acts up to this one destroyed was dropped. */
  endTokenAct({ life, act }: { life: string; act: number }): void {
    this.#db.transaction(() => {
      this.#db.prepare("DELETE FROM token_acts").run();
      this.#db.prepare("INSERT INTO token_acts (life, act) VALUES (?, ?)").run(life, act);
    })();
  }

  /** Bytes of tokens that were dropped may still stand in the files. */
  get hasRemnants(): boolean {
    return this.#db.prepare("SELECT 1 FROM token_remnants").get() !== undefined;
  }

  /** Once nobody scrubs; whether it went well or not. */
  async whenScrubbed(): Promise<void> {
    while (this.#scrubbing.isUnderWay) await this.#scrubbing.idle().catch(() => {});
  }

  /**
   * Takes what was dropped out of every byte of the files, on a thread. It reads on meanwhile; whoever writes waits first, or the whole process would.
   * @throws NoRoomToScrub, or what the thread says: it is to be tried again, and {@link hasRemnants} until it was done
   */
  async scrub(): Promise<void> {
    await this.whenScrubbed();
    const db = this.#db;
    await this.#scrubbing.run(() => scrubInThread(db));
    // Of the file that was made anew, not of one that took its place.
    if (db === this.#db) db.prepare("DELETE FROM token_remnants").run();
  }

  /**
   * Of which entries a field's value is: an object's path of those that repeat its commitment, too, for that is salted and one operation's
   * alone. A path comes with many tokens in a row, so the last answer is kept.
   */
  #entriesByField(): (n: number, field: string) => readonly number[] {
    const ofObject = this.#db
      .prepare<unknown[], number>(
        "SELECT n FROM events WHERE object = (SELECT object FROM events WHERE n = ?)",
      )
      .pluck();
    let [last, entries]: [number | null, readonly number[]] = [null, []];
    return (n, field) => {
      if (field !== PATH_FIELD) return [n];
      if (n !== last) [last, entries] = [n, ofObject.all(n)];
      return entries;
    };
  }

  #noteRemnants(): void {
    this.#db.prepare("INSERT INTO token_remnants (one) VALUES (1) ON CONFLICT DO NOTHING").run();
  }

  /** At most `limit` entries of a span that match any of these filters, which have one order, each once and in that order. */
  findAny(filters: readonly EventFilter[], span: Span, limit: number): IndexedEvent[] {
    const [only, ...more] = filters;
    if (only === undefined) return [];
    if (more.length === 0) return this.find(only, span, limit);
    const found = new Map<number, IndexedEvent>();
    for (const filter of filters)
      for (const event of this.find(filter, span, limit))
        found.set(this.numberOf(event) ?? -1, event);
    const direction = only.order === "newest" ? -1 : 1;
    return [...found]
      .sort(([a], [b]) => direction * (a - b))
      .slice(0, limit)
      .map(([, event]) => event);
  }

  /** At most `limit` entries of a span that match, in the filter's order. */
  find(filter: EventFilter, { first, last }: Span, limit: number): IndexedEvent[] {
    const isRare = this.#isRarePrefix(filter);
    const [sql, values] = selectionOf(filter, isRare);
    const bound = values.map(({ column, text }) => {
      if (column === "op") return Buffer.from(text.replaceAll("-", ""), "hex");
      if (FLAG_COLUMNS.has(column)) return 1;
      return WORD_COLUMNS.has(column) ? (this.#wordIds.get(text) ?? -1) : text;
    });
    const subject = filter.sub === undefined ? [] : [filter.sub];
    const token = (filter.tokens ?? []).flatMap((list) => [
      ...list.map((hex) => Buffer.from(hex, "hex")),
      first,
      last,
    ]);
    const prefix = filter.objectPrefix === undefined ? [] : idsThatBegin(filter.objectPrefix);
    const half = [
      ...subject,
      ...token,
      ...(filter.mark === undefined ? [] : [filter.mark, first, last]),
      ...(filter.opsOf === undefined ? [] : [filter.opsOf]),
      ...prefix,
      ...(isRare ? [first, last] : []),
      ...bound,
      first,
      last,
    ];
    const arms = subject.length === 0 ? half : [...half, ...half];
    return this.#db
      .prepare<unknown[], StoredRow>(sql)
      .all(...arms, limit)
      .map((row) => this.#eventOf(row));
  }

  /** Whether so few entries are of objects that begin so that the index of objects leads; else they are told one by one, of a span. */
  #isRarePrefix({ objectPrefix }: EventFilter): boolean {
    if (objectPrefix === undefined) return false;
    const row = this.#db
      .prepare<unknown[], { count: number }>(
        "SELECT count(*) AS count FROM (SELECT 1 FROM events WHERE object >= ? AND object < ? LIMIT ?)",
      )
      .get(...idsThatBegin(objectPrefix), RARE_ENTRIES + 1);
    return (row?.count ?? 0) <= RARE_ENTRIES;
  }

  /** Stands for the address that an entry came from; null where none is known. */
  sourceOf(entry: Position): string | null {
    const token = this.#db
      .prepare<unknown[], Buffer>("SELECT token FROM tokens WHERE n = ? AND field = ?")
      .pluck()
      .get(this.numberOf(entry), this.#wordIds.get("src.addr") ?? -1);
    return token === undefined ? null : token.toString("hex").slice(0, SOURCE_CHARACTERS);
  }

  /** Stands for the path of the object that an entry is about; null where none is known. Its folders' tokens stand beside its own, and only all of them tell it. */
  handleOf(entry: Position): string | null {
    const tokens = this.#db
      .prepare<unknown[], Buffer>(
        "SELECT token FROM tokens WHERE n = ? AND field = ? ORDER BY token",
      )
      .pluck()
      .all(this.numberOf(entry), this.#wordIds.get(PATH_FIELD) ?? -1);
    if (tokens.length === 0) return null;
    const digest = createHash("sha256").update(Buffer.concat(tokens)).digest("hex");
    return digest.slice(0, SOURCE_CHARACTERS);
  }

  /** Of the days from `fromDay` on, newest first. */
  countsByDay(fromDay: string, limit: number): DayCount[] {
    return this.#db
      .prepare<unknown[], DayCount>(
        "SELECT day, text AS type, count FROM days JOIN words ON id = type WHERE day >= ? ORDER BY day DESC, text LIMIT ?",
      )
      .all(fromDay, limit);
  }

  countsByType(): { type: string; count: number }[] {
    return this.#db
      .prepare<unknown[], { type: string; count: number }>(
        "SELECT text AS type, sum(count) AS count FROM days JOIN words ON id = type GROUP BY text ORDER BY text",
      )
      .all();
  }

  /** Outcomes that some entry has, in order; each is found by its index alone. */
  get outcomes(): string[] {
    return this.#db
      .prepare<[], string>(
        `WITH RECURSIVE each (id) AS (
           SELECT min(outcome) FROM events WHERE outcome IS NOT NULL
           UNION ALL SELECT (SELECT min(outcome) FROM events WHERE outcome > each.id) FROM each WHERE each.id IS NOT NULL)
         SELECT text FROM each JOIN words USING (id) ORDER BY text`,
      )
      .pluck()
      .all();
  }

  /** How SQLite would look for it: a test pins it. */
  planOf(filter: EventFilter, isRarePrefix: boolean = false): string {
    const [sql] = selectionOf(filter, isRarePrefix);
    const parameters = Array.from({ length: sql.split("?").length - 1 }, () => 1);
    const steps = this.#db
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...parameters);
    return steps.map(({ detail }) => detail).join("\n");
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  #openOrMake(onRebuild: (reason: string) => void): Database.Database {
    let db: Database.Database | null = null;
    try {
      db = this.#configured(new Database(this.#file));
      const version = db.pragma("user_version", { simple: true });
      if (version === SCHEMA_VERSION) {
        const verdict = String(db.pragma("quick_check(1)", { simple: true }));
        if (verdict !== "ok") throw new Error(verdict);
        this.#load(db);
        giveBackLog(db);
        return db;
      }
      if (version !== 0)
        onRebuild(
          `the index is of version ${String(version)}, this program's is ${SCHEMA_VERSION}`,
        );
    } catch (error) {
      onRebuild(error instanceof Error ? error.message : String(error));
    }
    db?.close();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${this.#file}${suffix}`, { force: true });
    return this.#make();
  }

  #make(): Database.Database {
    const db = this.#configured(new Database(this.#file));
    db.transaction(() => {
      db.exec(SCHEMA);
      db.pragma(`user_version = ${SCHEMA_VERSION}`);
    })();
    this.#load(db);
    return db;
  }

  #configured(db: Database.Database): Database.Database {
    db.pragma("journal_mode = WAL");
    // A power cut may cost the newest rows, never the file: they come from the log again.
    db.pragma("synchronous = NORMAL");
    db.pragma("secure_delete = ON");
    db.pragma("cache_size = -65536");
    return db;
  }

  #load(db: Database.Database = this.#db): void {
    this.#wordIds.clear();
    this.#words.clear();
    this.#shards.clear();
    for (const { id, text } of db
      .prepare<unknown[], { id: number; text: string }>("SELECT id, text FROM words")
      .all()) {
      this.#wordIds.set(text, id);
      this.#words.set(id, text);
    }
    const shards = db
      .prepare<unknown[], { no: number; slug: string; size: number }>(
        "SELECT no, slug, size FROM shards",
      )
      .all();
    for (const { no, slug, size } of shards) this.#shards.set(slug, { no, size });
  }

  #insert(slug: string, firstIndex: number, rows: readonly EventRow[]): void {
    let no = this.#shards.get(slug)?.no;
    if (no === undefined) {
      no = this.#number("SELECT coalesce(max(no), -1) + 1 AS n FROM shards") ?? 0;
      this.#db.prepare("INSERT INTO shards (no, slug, size) VALUES (?, ?, 0)").run(no, slug);
      this.#shards.set(slug, { no, size: 0 });
    }
    const insert = this.#db.prepare(
      `INSERT INTO events (${COLUMNS}, refused, administrator) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const mark = this.#db.prepare("INSERT INTO marks (mark, n) VALUES (?, ?)");
    const count = this.#db.prepare(
      "INSERT INTO days (day, type, count) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
    );
    const counts = new Map<string, number>();
    const repeat = this.#db.prepare(
      `INSERT INTO tokens (token, n, field) SELECT token, @n, field FROM events JOIN tokens USING (n)
       WHERE object = @object AND n < @n AND field = @path ON CONFLICT DO NOTHING`,
    );
    const path = this.#wordIds.get(PATH_FIELD);
    for (const [at, row] of rows.entries()) {
      const type = this.#idOf(row.type);
      insert.run(
        ...[
          no * SHARD_SPAN + firstIndex + at,
          row.atMs,
          type,
          this.#idOf(row.prod),
          this.#idOf(row.phase),
        ],
        ...[
          Buffer.from(row.op.replaceAll("-", ""), "hex"),
          row.sub,
          row.onBehalfOf,
          this.#idOf(row.kind),
          row.object,
        ],
        row.outcome === null ? null : this.#idOf(row.outcome),
        ...[row.approval, row.isRefused ? 1 : null, row.isByAdministrator ? 1 : null],
      );
      for (const one of row.marks) mark.run(one, no * SHARD_SPAN + firstIndex + at);
      if (path !== undefined && row.kind === "object" && ENDING_PHASES.has(row.phase))
        repeat.run({ n: no * SHARD_SPAN + firstIndex + at, object: row.object, path });
      const day = `${new Date(row.atMs).toISOString().slice(0, 10)} ${type}`;
      counts.set(day, (counts.get(day) ?? 0) + 1);
    }
    for (const [key, added] of counts) {
      const [day, type] = key.split(" ");
      count.run(day, Number(type), added);
    }
    this.#db.prepare("UPDATE shards SET size = ? WHERE no = ?").run(firstIndex + rows.length, no);
  }

  #idOf(text: string): number {
    const known = this.#wordIds.get(text);
    if (known !== undefined) return known;
    const id = Number(
      this.#db.prepare("INSERT INTO words (text) VALUES (?)").run(text).lastInsertRowid,
    );
    this.#wordIds.set(text, id);
    this.#words.set(id, text);
    return id;
  }

  #number(sql: string, ...values: unknown[]): number | null {
    return this.#db.prepare<unknown[], { n: number }>(sql).get(...values)?.n ?? null;
  }

  #eventOf(row: StoredRow): IndexedEvent {
    const word = (id: number): string => this.#words.get(id) ?? "";
    return {
      ...this.positionOf(row.n),
      ...{
        atMs: row.at_ms,
        type: word(row.type),
        prod: word(row.prod),
        phase: word(row.phase),
        op: uuidOf(row.op),
      },
      ...{ sub: row.actor, onBehalfOf: row.on_behalf_of, kind: word(row.kind), object: row.object },
      outcome: row.outcome === null ? null : word(row.outcome),
      approval: row.approval,
    };
  }
}

/** SQLite says so when its file is not what it wrote. */
export function isDamagedIndex(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(?:CORRUPT|NOTADB)/.test(error.code);
}

/**
 * The leading column's index gives entries in order of their numbers; a `+` before the others keeps SQLite from preferring theirs. A subject acts,
 * or is acted for: one index each, merged in order.
 */
function selectionOf(
  filter: EventFilter,
  isRarePrefix: boolean,
): [sql: string, values: { column: LeadingColumn; text: string }[]] {
  const columns = boundColumns(filter);
  const direction = filter.order === "newest" ? "DESC" : "ASC";
  // What is found elsewhere, as a list of numbers.
  const tokens = filter.tokens ?? [];
  const isListed =
    tokens.length > 0 || isRarePrefix || filter.mark !== undefined || filter.opsOf !== undefined;
  const leads = !isListed && (filter.sub === undefined || filter.op !== undefined);
  const conditions = [
    ...tokens.map(
      (list) =>
        `n IN (SELECT n FROM tokens WHERE token IN (${list.map(() => "?").join(", ")}) AND n BETWEEN ? AND ?)`,
    ),
    ...(filter.mark === undefined ? [] : [MARKED]),
    ...(filter.opsOf === undefined ? [] : [OF_ITS_OPERATIONS]),
    ...(filter.objectPrefix === undefined
      ? []
      : [isRarePrefix ? RARE_PREFIX : "+object >= ? AND +object < ?"]),
    ...columns.map((column, at) => `${at === 0 && leads ? "" : "+"}${column} = ?`),
  ];
  const arm = (subject: string | null): string =>
    `SELECT ${COLUMNS} FROM events WHERE ${[...(subject === null ? [] : [subject]), ...conditions, "n BETWEEN ? AND ?"].join(" AND ")}`;
  const plus = leads || isListed ? "+" : "";
  const arms =
    filter.sub === undefined
      ? [arm(null)]
      : [arm(`${plus}actor = ?`), arm(`${plus}on_behalf_of = ?`)];
  const values = columns.map((column) => ({ column, text: String(filter[column]) }));
  return [`${arms.join(" UNION ")} ORDER BY n ${direction} LIMIT ?`, values];
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
