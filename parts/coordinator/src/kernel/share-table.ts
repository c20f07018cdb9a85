import type { WriteHandle } from "../db/open-database.ts";
import type { Clock } from "./clock.ts";
import { averageHeld, type Holding, WINDOW_MS } from "./decisions/decayed-use.ts";
import { type ShareStanding, shareStandings } from "./decisions/share-standing.ts";
import type { PersonsBehind } from "./decisions/person-limits.ts";
import { type Amounts, overGuaranteed, type Share } from "./decisions/shares.ts";
import type { PlacementSignal } from "./placement-signal.ts";

type ShareKind = "organisation" | "team" | "project";
type ShareRow = {
  id: string;
  kind: ShareKind;
  name: string;
  parent: string | null;
  guarantee: string | null;
  limits: string | null;
  weight: number | null;
  personRunning: number | null;
  personQueued: number | null;
  interactiveIdleMinutes: number | null;
};
export type NamedShare = Required<Share> & { kind: ShareKind; name: string };
export type StandingShare = NamedShare & { held: Amounts; used: Amounts };
/** @property queued jobs that wait */
export type ShareView = StandingShare & ShareStanding & { queued: number };
/** What holds for each person below a share, and for interactive jobs; null: nothing is set. */
export type PersonLimits = {
  personRunning: number | null;
  personQueued: number | null;
  interactiveIdleMinutes: number | null;
};
export type ShareChange = {
  guarantee?: Amounts;
  limit?: Amounts;
  weight?: number;
} & Partial<PersonLimits>;

/** Organisations, teams and projects, each with what it is guaranteed, may hold at most, and holds. */
export class ShareTable {
  readonly #clock: Clock;
  readonly #signal: Pick<PlacementSignal, "raise">;
  readonly #isSet;
  readonly #limitsQueues;
  readonly #tree;
  readonly #write;
  readonly #remove;
  readonly #holdings;
  readonly #held;
  readonly #queued;
  readonly #persons;

  constructor(db: WriteHandle, clock: Clock, signal: Pick<PlacementSignal, "raise">) {
    this.#clock = clock;
    this.#signal = signal;
    this.#isSet = db
      .prepare<[], number>(
        `SELECT EXISTS (SELECT 1 FROM shares WHERE guarantee <> '{}' OR limits <> '{}' OR weight <> 1 OR person_running IS NOT NULL OR person_queued IS NOT NULL)`,
      )
      .pluck();
    this.#limitsQueues = db
      .prepare<[], number>("SELECT EXISTS (SELECT 1 FROM shares WHERE person_queued IS NOT NULL)")
      .pluck();
    // A user's first project belongs to no team: it hangs under the appliance's own organisation.
    this.#tree = db.prepare<[], ShareRow>(
      `SELECT tree.id, tree.kind, tree.name, tree.parent, shares.guarantee, shares.limits, shares.weight, shares.person_running AS personRunning, shares.person_queued AS personQueued,
         shares.interactive_idle_minutes AS interactiveIdleMinutes
       FROM (SELECT 0 AS level, 'organisation' AS kind, id, name, NULL AS parent FROM organisations
             UNION ALL SELECT 1, 'team', id, name, organisation_id FROM teams
             UNION ALL SELECT 2, 'project', id, name, coalesce(team_id, (SELECT min(id) FROM organisations)) FROM projects) AS tree
         LEFT JOIN shares ON shares.id = tree.id
       ORDER BY tree.level, tree.name, tree.id`,
    );
    this.#write = db.prepare<[object]>(
      `INSERT INTO shares (id, guarantee, limits, weight, person_running, person_queued, interactive_idle_minutes, changed_at)
         VALUES (@id, @guarantee, @limit, @weight, @personRunning, @personQueued, @interactiveIdleMinutes, @now)
       ON CONFLICT (id) DO UPDATE SET guarantee = excluded.guarantee, limits = excluded.limits, weight = excluded.weight,
         person_running = excluded.person_running, person_queued = excluded.person_queued,
         interactive_idle_minutes = excluded.interactive_idle_minutes, changed_at = excluded.changed_at`,
    );
    this.#persons = db.prepare<[], { id: string; person: string }>(
      "SELECT id, coalesce(answerable_id, created_by) AS person FROM service_accounts",
    );
    this.#remove = db.prepare<[string]>("DELETE FROM shares WHERE id = ?");
    this.#holdings = db.prepare<[number], Holding>(
      `SELECT project_id AS project, model, held_from AS "from", held_until AS until FROM holdings
       WHERE held_until IS NULL OR held_until > ?`,
    );
    this.#held = db.prepare<[], { project: string; model: string; count: number }>(
      "SELECT project_id AS project, model, count(*) AS count FROM holdings WHERE held_until IS NULL GROUP BY project_id, model",
    );
    this.#queued = db.prepare<[], { project: string; count: number }>(
      "SELECT project_id AS project, count(*) AS count FROM jobs WHERE state IN ('QUEUED', 'HELD') AND ended_at IS NULL GROUP BY project_id",
    );
  }

  /** Whether anybody was guaranteed or limited anything. */
  get isSet(): boolean {
    return this.#isSet.get() === 1;
  }

  /** Whether some share limits how many jobs of a person may wait. */
  get limitsQueues(): boolean {
    return this.#limitsQueues.get() === 1;
  }

  find(id: string): NamedShare | null {
    return this.all().find((one) => one.id === id) ?? null;
  }

  /** Those above before those below. */
  all(): NamedShare[] {
    return this.#tree.all().map((row) => ({ ...shareOf(row), kind: row.kind, name: row.name }));
  }

  /** What projects held on average over the last days, the newest hours most. */
  used(): Map<string, Amounts> {
    const now = this.#clock.now();
    return averageHeld(this.#holdings.all(now - WINDOW_MS), now);
  }

  /** Who answers for the programs of projects. */
  personsBehind(): PersonsBehind {
    return new Map(this.#persons.all().map(({ id, person }) => [id, person]));
  }

  /** Those above before those below. */
  facts(): StandingShare[] {
    const shares = this.all();
    const held = sumsOf(shares, this.#heldByProject());
    const used = sumsOf(shares, this.used());
    return shares.map((share) => ({
      ...share,
      held: held.get(share.id) ?? {},
      used: used.get(share.id) ?? {},
    }));
  }

  /** {@link facts}, with who lends and borrows and how many jobs wait. @param free workers that could be given now, by model */
  views(free: Amounts): ShareView[] {
    const facts = this.facts();
    const standings = shareStandings(facts, new Map(facts.map(({ id, held }) => [id, held])), free);
    const waiting = new Map(
      this.#queued.all().map(({ project, count }) => [project, { jobs: count }]),
    );
    const queued = sumsOf(facts, waiting);
    return facts.map((share) => ({
      ...share,
      ...standings.get(share.id)!,
      queued: queued.get(share.id)?.["jobs"] ?? 0,
    }));
  }

  /** What a change would make of all shares; nothing is written. */
  changed(id: string, change: ShareChange): Share[] {
    return this.all().map((share) => (share.id === id ? { ...share, ...change } : share));
  }

  /**
   * Inside a transaction, which must be rolled back where more would be guaranteed below a share than it is guaranteed itself.
   * @returns that share; null: it is set
   */
  set(id: string, change: ShareChange): ReturnType<typeof overGuaranteed> {
    const share = this.find(id)!;
    const { guarantee, limit, weight, ...rest } = { ...share, ...change };
    const { personRunning, personQueued, interactiveIdleMinutes } = rest;
    const isSet =
      [guarantee, limit].some((amounts) => Object.keys(amounts).length > 0) ||
      [personRunning, personQueued, interactiveIdleMinutes].some((most) => most !== null);
    // One that says nothing is none: without any all is lent in order of arrival again.
    if (!isSet && weight === 1) this.#remove.run(id);
    else
      this.#write.run({
        ...{ id, guarantee: JSON.stringify(guarantee), limit: JSON.stringify(limit) },
        ...{ weight, personRunning, personQueued, interactiveIdleMinutes },
        now: this.#clock.now(),
      });
    this.#signal.raise("shares-set");
    return overGuaranteed(this.all());
  }

  #heldByProject(): Map<string, Amounts> {
    const held = new Map<string, Record<string, number>>();
    for (const { project, model, count } of this.#held.all())
      held.set(project, { ...held.get(project), [model]: count });
    return held;
  }
}

/** What projects have, summed for all that stand above them. */
function sumsOf(
  shares: readonly Share[],
  ofProjects: ReadonlyMap<string, Amounts>,
): Map<string, Amounts> {
  const parents = new Map(shares.map(({ id, parent }) => [id, parent]));
  const sums = new Map<string, Record<string, number>>();
  for (const [project, amounts] of ofProjects)
    for (let id: string | null | undefined = project; id; id = parents.get(id)) {
      const sum = sums.get(id) ?? {};
      for (const [model, count] of Object.entries(amounts)) sum[model] = (sum[model] ?? 0) + count;
      sums.set(id, sum);
    }
  return sums;
}

function shareOf({ id, parent, guarantee, limits, weight, ...row }: ShareRow): Required<Share> {
  const amounts = (text: string | null) => JSON.parse(text ?? "{}") as Amounts;
  const { personRunning, personQueued, interactiveIdleMinutes } = row;
  return {
    ...{ id, parent, guarantee: amounts(guarantee), limit: amounts(limits), weight: weight ?? 1 },
    ...{ personRunning, personQueued, interactiveIdleMinutes },
  };
}
