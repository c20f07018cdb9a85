import type { WriteHandle } from "../db/open-database.ts";

/** A member that is over, and the parts of its log are still many objects. */
export type LogMerge = { memberId: string; jobId: string; bucket: string; attempts: number };

/** A few at a time: other work in the store waits behind them. */
const AT_ONCE = 4;

/** Whose parts of a log are to become one: a row from the member's end until it is done. */
export class LogMergeTable {
  readonly #expect;
  readonly #due;
  readonly #defer;
  readonly #done;

  constructor(db: WriteHandle) {
    // The first part's number is 0: who opened no other has nothing to merge.
    this.#expect = db.prepare(
      `INSERT INTO log_merges (member_id, not_before)
       SELECT @memberId, @notBefore WHERE EXISTS (
         SELECT 1 FROM uploads WHERE member_id = @memberId AND is_log = 1 AND key NOT LIKE '%/00000000')
       ON CONFLICT (member_id) DO NOTHING`,
    );
    this.#due = db.prepare<[number, number], LogMerge>(
      `SELECT member_id AS memberId, members.job_id AS jobId, jobs.bucket, attempts
       FROM log_merges JOIN members ON members.id = member_id JOIN jobs ON jobs.id = members.job_id
       WHERE not_before <= ? ORDER BY not_before LIMIT ?`,
    );
    this.#defer = db.prepare(
      "UPDATE log_merges SET attempts = attempts + 1, not_before = ? WHERE member_id = ?",
    );
    this.#done = db.prepare("DELETE FROM log_merges WHERE member_id = ?");
  }

  /** Decides that what the member stored of its log is merged, if that is more than one part. */
  expect(memberId: string, notBefore: number): void {
    this.#expect.run({ memberId, notBefore });
  }

  due(now: number): LogMerge[] {
    return this.#due.all(now, AT_ONCE);
  }

  defer(memberId: string, untilMs: number): void {
    this.#defer.run(untilMs, memberId);
  }

  done(memberId: string): void {
    this.#done.run(memberId);
  }
}
