/** What opens commitments, sealed; and, of what was erased, that it was. A commitment is in one of the two tables, never in both. */
import type Database from "better-sqlite3";

/** Opens one commitment of one entry, once unsealed: 32 bytes of salt, then the value. */
export type SealedCommitment = {
  origin: string;
  index: number;
  field: string;
  commitment: Buffer;
  subject: string;
  month: string;
  sealed: Buffer;
};
export type ErasedCommitment = Pick<SealedCommitment, "origin" | "index" | "field" | "commitment">;
/** One that was erased names the act that did it. */
export type ShardRow = (SealedCommitment & { op: null }) | (ErasedCommitment & { op: string });
/** Behind the field of an entry. */
type Place = { index: number; field: string };
type ShardPlace = Place & { origin: string };
export type SubjectMonth = { subject: string; month: string };

/** The log hands out another commitment for a place that is sealed already: it is not the log that it was. */
export class SpoolConflict extends Error {
  override readonly name = "SpoolConflict";
  readonly code = "spool_conflict";
}

const ERASED_COLUMNS = 'origin, idx AS "index", field, commitment';

export class CommitmentStore {
  readonly #db: Database.Database;

  constructor(db: Database.Database) {
    this.#db = db;
  }

  /** All or none; one that is there already, or was erased, stays what it is: a segment may come twice. @throws SpoolConflict */
  add(rows: readonly SealedCommitment[]): void {
    const known = this.#db
      .prepare<unknown[], Buffer>(
        `SELECT commitment FROM commitments WHERE origin = @origin AND idx = @index AND field = @field
         UNION ALL SELECT commitment FROM erased WHERE origin = @origin AND idx = @index AND field = @field`,
      )
      .pluck();
    const insert = this.#db.prepare(
      "INSERT INTO commitments (origin, idx, field, commitment, subject, month, sealed) VALUES (?, ?, ?, ?, ?, ?, ?)",
    );
    this.#db
      .transaction(() => {
        for (const { origin, index, field, commitment, subject, month, sealed } of rows) {
          const held = known.get({ origin, index, field });
          if (held === undefined)
            insert.run(origin, index, field, commitment, subject, month, sealed);
          else if (!held.equals(commitment))
            throw new SpoolConflict(`${origin} ${index} ${field}: another commitment is sealed`);
        }
      })
      .immediate();
  }

  ofSubjectMonth({
    subject,
    month,
  }: SubjectMonth): IterableIterator<Pick<SealedCommitment, "commitment" | "sealed">> {
    return this.#db
      .prepare<unknown[], SealedCommitment>(
        "SELECT commitment, sealed FROM commitments WHERE subject = ? AND month = ?",
      )
      .iterate(subject, month);
  }

  /** What stands of a shard behind a place, in order of index and field: what opens these subjects' commitments, and all that was erased. */
  pageOfShard(
    origin: string,
    subjects: readonly string[],
    after: Place,
    limit: number,
  ): ShardRow[] {
    return this.#db
      .prepare<unknown[], ShardRow>(
        `SELECT origin, idx AS "index", field, commitment, subject, month, sealed, NULL AS op FROM commitments
           WHERE origin = @origin AND (idx, field) > (@index, @field) AND subject IN (SELECT value FROM json_each(@subjects))
         UNION ALL
         SELECT origin, idx AS "index", field, commitment, NULL, NULL, NULL, op FROM erased
           WHERE origin = @origin AND (idx, field) > (@index, @field)
         ORDER BY 2, 3 LIMIT @limit`,
      )
      .all({ origin, ...after, subjects: JSON.stringify(subjects), limit });
  }

  /** What is sealed of a shard behind a place and before an entry, in order of index and field. */
  pageOfSealed(origin: string, after: Place, before: number, limit: number): SealedCommitment[] {
    return this.#db
      .prepare<unknown[], SealedCommitment>(
        `SELECT origin, idx AS "index", field, commitment, subject, month, sealed FROM commitments
           WHERE origin = @origin AND (idx, field) > (@index, @field) AND idx < @before ORDER BY idx, field LIMIT @limit`,
      )
      .all({ origin, ...after, before, limit });
  }

  subjectMonthsOf(subject: string): SubjectMonth[] {
    return this.#db
      .prepare<unknown[], SubjectMonth>(
        "SELECT DISTINCT subject, month FROM commitments WHERE subject = ?",
      )
      .all(subject);
  }

  /** The shards in which something of a subject's month is sealed; at most so many. One look into the index for each, however much there is. */
  shardsOf({ subject, month }: SubjectMonth, limit: number): string[] {
    const next = this.#db
      .prepare<unknown[], string>(
        "SELECT origin FROM commitments WHERE subject = ? AND month = ? AND origin > ? ORDER BY origin LIMIT 1",
      )
      .pluck();
    const found: string[] = [];
    for (
      let origin = next.get(subject, month, "");
      origin !== undefined && found.length < limit;
    ) {
      found.push(origin);
      origin = next.get(subject, month, origin);
    }
    return found;
  }

  subjectMonths(): SubjectMonth[] {
    return this.#db
      .prepare<[], SubjectMonth>(
        "SELECT DISTINCT subject, month FROM commitments ORDER BY month, subject",
      )
      .all();
  }

  /** Keeps of a subject's month only that it was erased, by the act `op`; at most so many rows at once. @returns how many it were */
  markErased(op: string, { subject, month }: SubjectMonth, limit: number): number {
    const some =
      "FROM commitments WHERE subject = @subject AND month = @month ORDER BY origin, idx, field LIMIT @limit";
    const keep = this.#db.prepare(
      `INSERT INTO erased (origin, idx, field, commitment, op) SELECT origin, idx, field, commitment, @op ${some}`,
    );
    const remove = this.#db.prepare(
      `DELETE FROM commitments WHERE (origin, idx, field) IN (SELECT origin, idx, field ${some})`,
    );
    return this.#db
      .transaction(() => {
        keep.run({ op, subject, month, limit });
        return remove.run({ subject, month, limit }).changes;
      })
      .immediate();
  }

  /** The act that destroyed next after the `n`th. */
  destroyedAfter(n: number): { n: number; op: string } | null {
    return (
      this.#db
        .prepare<unknown[], { n: number; op: string }>(
          "SELECT n, op FROM destroyed WHERE n > ? ORDER BY n LIMIT 1",
        )
        .get(n) ?? null
    );
  }

  /** What an act erased, by shard, in order of index and field; the next so many behind a place. */
  pageOfErased(op: string, after: ShardPlace, limit: number): ErasedCommitment[] {
    return this.#db
      .prepare<unknown[], ErasedCommitment>(
        `SELECT ${ERASED_COLUMNS} FROM erased WHERE op = @op AND (origin, idx, field) > (@origin, @index, @field)
         ORDER BY origin, idx, field LIMIT @limit`,
      )
      .all({ op, ...after, limit });
  }

  get counts(): { sealed: number; erased: number } {
    const count = (table: string): number =>
      this.#db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
    return { sealed: count("commitments"), erased: count("erased") };
  }
}
