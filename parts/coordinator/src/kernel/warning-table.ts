import type { WriteHandle } from "../db/open-database.ts";
import type { Changes } from "./changes.ts";
import { type KeptWarning, warningText } from "./decisions/warning-text.ts";

/** A job has at most so many: a site more or less, a handful of topics. What its code makes up beyond that is dropped. */
const MAX_OF_JOB = 2_000;

/** By what a job is told that it can't start as the fleet is, until it does. */
export const NEVER_STARTS = { site: "fleet", topic: "never-starts" } as const;

/** By which an interactive job is told that it idles, until it does something. */
export const IDLES = { site: "job", topic: "idle" } as const;

/** @param why as an end of the sentence */
export function neverStarts(why: string): NewWarning {
  return { ...NEVER_STARTS, text: `as it is, the job can never start: ${why}` };
}

export type NewWarning = { site: string; topic: string; text: string; round?: number | undefined };

/** What people must hear of a job though it goes on: of each site and topic the newest, and how often it came. */
export class WarningTable {
  readonly #changes: Changes;
  readonly #note;
  readonly #count;
  readonly #times;
  readonly #forget;
  readonly #of;

  constructor(db: WriteHandle, changes: Changes) {
    this.#changes = changes;
    this.#note = db
      .prepare<[object], number>(
        `INSERT INTO job_warnings (job_id, site, topic, text, times, first_round, last_round)
       VALUES (@jobId, @site, @topic, @text, 1, @round, @round)
       ON CONFLICT (job_id, site, topic) DO UPDATE SET text = excluded.text, times = times + 1,
         first_round = coalesce(first_round, excluded.first_round), last_round = coalesce(excluded.last_round, last_round)
       RETURNING times`,
      )
      .pluck();
    this.#count = db
      .prepare<[string], number>("SELECT count(*) FROM job_warnings WHERE job_id = ?")
      .pluck();
    this.#times = db
      .prepare<[string, string, string], number>(
        "SELECT times FROM job_warnings WHERE job_id = ? AND site = ? AND topic = ?",
      )
      .pluck();
    this.#forget = db.prepare(
      "DELETE FROM job_warnings WHERE job_id = ? AND site = ? AND topic = ?",
    );
    this.#of = db.prepare<[string], KeptWarning>(
      "SELECT site, topic, text, times, first_round, last_round FROM job_warnings WHERE job_id = ? ORDER BY length(site), site, topic",
    );
  }

  /** Inside a transaction. */
  note(jobId: string, { site, topic, text, round }: NewWarning): void {
    if ((this.#count.get(jobId) ?? 0) >= MAX_OF_JOB) return;
    const times = this.#note.get({ jobId, site, topic, text, round: round ?? null })!;
    this.#changes.note({ kind: "warning", job: jobId, site, topic, text, times });
  }

  times(jobId: string, site: string, topic: string): number {
    return this.#times.get(jobId, site, topic) ?? 0;
  }

  /** Inside a transaction: it is no longer so. */
  forget(jobId: string, site: string, topic: string): void {
    const { changes } = this.#forget.run(jobId, site, topic);
    if (changes === 1)
      this.#changes.note({ kind: "warning", job: jobId, site, topic, text: null, times: 0 });
  }

  /** One line each, by site. */
  of(jobId: string): string[] {
    return this.#of.all(jobId).map(warningText);
  }
}
