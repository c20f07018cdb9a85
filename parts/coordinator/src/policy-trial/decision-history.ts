import type { DecisionFacts } from "@resontech/contracts/operator-appliance";
import type { RecentDecisions } from "../authorization/recent-decisions.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle } from "../db/open-database.ts";

const WEEK_MS = 7 * 86_400_000;
const DEFAULTS = {
  /** The table is written off the path of requests; what a kill takes away is this much at most. */
  flushMs: 60_000,
  maxKept: 100_000,
};
/** Rows in one transaction: others wait for it. */
const AT_ONCE = 500;
/** Of a page, in bytes of JSON: no answer grows with the history. */
const PAGE_BYTES = 40_000;

/** Keeps the last week's distinct decisions, with how often and when last each was asked. */
export class DecisionHistory implements AsyncDisposable {
  readonly #commit: GroupCommit;
  readonly #recent: RecentDecisions;
  readonly #now: () => number;
  readonly #maxKept: number;
  readonly #timer: NodeJS.Timeout;
  #flushing: Promise<void> = Promise.resolve();

  constructor(
    parts: {
      commit: GroupCommit;
      recent: RecentDecisions;
      now: () => number;
      onError: (error: unknown) => void;
    },
    options: Partial<typeof DEFAULTS> = {},
  ) {
    const { flushMs, maxKept } = { ...DEFAULTS, ...options };
    this.#commit = parts.commit;
    this.#recent = parts.recent;
    this.#now = parts.now;
    this.#maxKept = maxKept;
    this.#timer = setInterval(() => {
      this.flush().catch(parts.onError);
    }, flushMs);
    this.#timer.unref();
  }

  /** Writes what was asked since the last time, and takes away what is older than a week or too much. */
  flush(): Promise<void> {
    const next = this.#flushing.catch(() => {}).then(() => this.#write());
    this.#flushing = next;
    return next;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #write(): Promise<void> {
    const taken = [...this.#recent.take()];
    if (taken.length === 0) return;
    const now = this.#now();
    for (let at = 0; at < taken.length; at += AT_ONCE)
      await this.#commit.run((db) => {
        const note = db.prepare(
          `INSERT INTO decisions_seen (question, times, last_at) VALUES (?, ?, ?)
           ON CONFLICT (question) DO UPDATE SET times = times + excluded.times, last_at = excluded.last_at`,
        );
        for (const [question, times] of taken.slice(at, at + AT_ONCE))
          note.run(question, times, now);
      });
    await this.#commit.run((db) => {
      db.prepare("DELETE FROM decisions_seen WHERE last_at < ?").run(now - WEEK_MS);
      db.prepare(
        `DELETE FROM decisions_seen WHERE question IN (
           SELECT question FROM decisions_seen ORDER BY last_at DESC, question LIMIT -1 OFFSET ?)`,
      ).run(this.#maxKept);
    });
  }
}

/**
 * Decisions in order of their question, as many as fit a page.
 * @param after the question that the page before ended with; null for the first page
 */
export function pageOfDecisions(
  db: ReadHandle,
  after: string | null,
): { decisions: DecisionFacts[]; next: string | null } {
  const rows = db
    .prepare<[string], DecisionFacts>(
      "SELECT question, times, last_at AS lastAt FROM decisions_seen WHERE question > ? ORDER BY question",
    )
    .iterate(after ?? "");
  const decisions: DecisionFacts[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += Buffer.byteLength(JSON.stringify(row));
    if (bytes > PAGE_BYTES && decisions.length > 0)
      return { decisions, next: decisions.at(-1)!.question };
    decisions.push(row);
  }
  return { decisions, next: null };
}
