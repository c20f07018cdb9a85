import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import { calendarNews, type RunningThere, runsInto } from "./decisions/calendar-news.ts";
import type { Closure } from "./decisions/gate-facts.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { NodeGates } from "./node-gates.ts";

/** What nobody was there to tell for so long is told no more. */
const NEWS_AGE_MS = 86_400_000;
/** By what a job is told that its node is wanted for something else. */
const TOLD = { site: "fleet", topic: "calendar" } as const;

type MemberRow = {
  job: string;
  project: string;
  node: string;
  expires_at: number | null;
  time_limit_ms: number | null;
  ran_ms: number;
};
type Placed = RunningThere & { nodes: string[] };

/** Tells jobs that run what the calendar wants of their nodes, and placement that something begins or ends. What was told is a row: a restart tells nothing twice. */
export class CalendarWatch {
  readonly #commit: GroupCommit;
  readonly #tables: Pick<KernelTables, "clock" | "jobs" | "warnings" | "placementSignal">;
  readonly #gates: Pick<NodeGates, "read">;
  readonly #members;
  readonly #told;
  readonly #queue;
  readonly #forget;
  #lookedAt: number | null = null;
  /** As of the last look: one that has ended since is no longer read. */
  #known: readonly Closure[] = [];

  constructor(
    db: WriteHandle,
    commit: GroupCommit,
    tables: Pick<KernelTables, "clock" | "jobs" | "warnings" | "placementSignal">,
    gates: Pick<NodeGates, "read">,
  ) {
    this.#commit = commit;
    this.#tables = tables;
    this.#gates = gates;
    this.#members = db.prepare<[], MemberRow>(
      `SELECT DISTINCT jobs.id AS job, project_id AS project, members.node_id AS node, expires_at, time_limit_ms, ran_ms
       FROM members JOIN jobs ON jobs.id = members.job_id
       WHERE members.state IN ('LEASED', 'STARTING', 'RUNNING', 'DRAINING') AND jobs.state IN ('RESERVED', 'PROVISIONING', 'STAGING', 'RUNNING')
       ORDER BY jobs.id, members.node_id`,
    );
    this.#told = db.prepare<[string, string], { job: string; text: string }>(
      `SELECT job_id AS job, text FROM job_warnings JOIN jobs ON jobs.id = job_id
       WHERE site = ? AND topic = ? AND ended_at IS NULL`,
    );
    this.#queue = db.prepare<[string, string, number]>(
      "INSERT INTO calendar_news (job_id, text, noted_at) VALUES (?, ?, ?)",
    );
    this.#forget = db.prepare<[number]>("DELETE FROM calendar_news WHERE noted_at < ?");
  }

  async look(): Promise<void> {
    const { clock, jobs, placementSignal, warnings } = this.#tables;
    const now = clock.now();
    const gates = this.#gates.read();
    const closures = [...gates.values()].flatMap((gate) => gate.closures);
    if (hasTurned([...this.#known, ...closures], this.#lookedAt, now))
      placementSignal.raise("calendar");
    this.#lookedAt = now;
    this.#known = closures;
    const told = new Map(this.#told.all(TOLD.site, TOLD.topic).map(({ job, text }) => [job, text]));
    if (closures.length === 0 && told.size === 0) return;
    const news = new Map<string, string>();
    for (const [job, { nodes, ...there }] of this.#placed(now)) {
      const places = nodes.map((node) => ({ node, closures: gates.get(node)?.closures ?? [] }));
      const text = calendarNews(there, places, now);
      if (text !== null) news.set(job, text);
    }
    const changed = [...news].filter(([job, text]) => told.get(job) !== text);
    const over = [...told.keys()].filter((job) => !news.has(job));
    if (changed.length === 0 && over.length === 0) return;
    await this.#commit.run(() => {
      // It may have ended meanwhile: what it was told last stays with it.
      for (const [job, text] of changed)
        if (jobs.get(job)?.ended_at === null) {
          warnings.note(job, { ...TOLD, text });
          this.#queue.run(job, text, now);
        }
      this.#forget.run(now - NEWS_AGE_MS);
      for (const job of over)
        if (jobs.get(job)?.ended_at === null) warnings.forget(job, TOLD.site, TOLD.topic);
    });
  }

  /** How many jobs run on these nodes and may run into it. */
  affected(nodes: readonly string[], closure: Closure): number {
    const wanted = new Set(nodes);
    return [...this.#placed(this.#tables.clock.now()).values()].filter(
      (job) => job.nodes.some((node) => wanted.has(node)) && runsInto(job, closure),
    ).length;
  }

  #placed(now: number): Map<string, Placed> {
    const placed = new Map<string, Placed>();
    for (const row of this.#members.all()) {
      const { job, project, node, expires_at: end, time_limit_ms: limit, ran_ms: ran } = row;
      const known = placed.get(job);
      if (known !== undefined) {
        known.nodes.push(node);
        continue;
      }
      const endsAt = end ?? (limit === null ? null : now + Math.max(0, limit - ran));
      placed.set(job, { project, endsAt, nodes: [node] });
    }
    return placed;
  }
}

/** Whether something has begun or ended since; also when the clock was set back. */
function hasTurned(closures: readonly Closure[], since: number | null, now: number): boolean {
  if (since === null || now < since) return true;
  const isIn = (time: number) => since < time && time <= now;
  return closures.some(({ from, until }) => isIn(from) || isIn(until));
}
