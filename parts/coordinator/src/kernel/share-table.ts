import type { WriteHandle } from "../db/open-database.ts";
import type { Clock } from "./clock.ts";
import { averageHeld, type Holding, WINDOW_MS } from "./decisions/decayed-use.ts";
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
};
export type StandingShare = Share & {
  kind: ShareKind;
  name: string;
  held: Amounts;
  used: Amounts;
};
export type ShareChange = { guarantee?: Amounts; limit?: Amounts; weight?: number };

/** Organisations, teams and projects, each with what it is guaranteed, may hold at most, and holds. */
export class ShareTable {
  readonly #clock: Clock;
  readonly #signal: Pick<PlacementSignal, "raise">;
  readonly #isSet;
  readonly #tree;
  readonly #write;
  readonly #remove;
  readonly #holdings;
  readonly #held;

  constructor(db: WriteHandle, clock: Clock, signal: Pick<PlacementSignal, "raise">) {
    this.#clock = clock;
    this.#signal = signal;
    this.#isSet = db.prepare<[], number>("SELECT EXISTS (SELECT 1 FROM shares)").pluck();
    // A user's first project belongs to no team: it hangs under the appliance's own organisation.
    this.#tree = db.prepare<[], ShareRow>(
      `SELECT tree.id, tree.kind, tree.name, tree.parent, shares.guarantee, shares.limits, shares.weight
       FROM (SELECT 0 AS level, 'organisation' AS kind, id, name, NULL AS parent FROM organisations
             UNION ALL SELECT 1, 'team', id, name, organisation_id FROM teams
             UNION ALL SELECT 2, 'project', id, name, coalesce(team_id, (SELECT min(id) FROM organisations)) FROM projects) AS tree
         LEFT JOIN shares ON shares.id = tree.id
       ORDER BY tree.level, tree.name, tree.id`,
    );
    this.#write = db.prepare<[string, string, string, number, number]>(
      `INSERT INTO shares (id, guarantee, limits, weight, changed_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET guarantee = excluded.guarantee, limits = excluded.limits, weight = excluded.weight, changed_at = excluded.changed_at`,
    );
    this.#remove = db.prepare<[string]>("DELETE FROM shares WHERE id = ?");
    this.#holdings = db.prepare<[number], Holding>(
      `SELECT project_id AS project, model, held_from AS "from", held_until AS until FROM holdings
       WHERE held_until IS NULL OR held_until > ?`,
    );
    this.#held = db.prepare<[], { project: string; model: string; count: number }>(
      "SELECT project_id AS project, model, count(*) AS count FROM holdings WHERE held_until IS NULL GROUP BY project_id, model",
    );
  }

  /** Whether anybody was guaranteed or limited anything. */
  get isSet(): boolean {
    return this.#isSet.get() === 1;
  }

  has(id: string): boolean {
    return this.#tree.all().some((row) => row.id === id);
  }

  all(): Share[] {
    return this.#tree.all().map(shareOf);
  }

  /** What projects held on average over the last days, the newest hours most. */
  used(): Map<string, Amounts> {
    const now = this.#clock.now();
    return averageHeld(this.#holdings.all(now - WINDOW_MS), now);
  }

  /** Those above before those below. */
  facts(): StandingShare[] {
    const rows = this.#tree.all();
    const parents = new Map(rows.map(({ id, parent }) => [id, parent]));
    const held = new Map<string, Record<string, number>>();
    const used = new Map<string, Record<string, number>>();
    const addTo = (sums: typeof held, project: string, model: string, count: number) => {
      for (let id: string | null | undefined = project; id; id = parents.get(id)) {
        const amounts = sums.get(id) ?? {};
        amounts[model] = (amounts[model] ?? 0) + count;
        sums.set(id, amounts);
      }
    };
    for (const { project, model, count } of this.#held.all()) addTo(held, project, model, count);
    for (const [project, amounts] of this.used())
      for (const [model, count] of Object.entries(amounts)) addTo(used, project, model, count);
    return rows.map((row) => ({
      ...shareOf(row),
      ...{ kind: row.kind, name: row.name },
      held: held.get(row.id) ?? {},
      used: used.get(row.id) ?? {},
    }));
  }

  /**
   * Inside a transaction, which must be rolled back where more would be guaranteed below a share than it is guaranteed itself.
   * @returns that share; null: it is set
   */
  set(id: string, change: ShareChange): ReturnType<typeof overGuaranteed> {
    const share = this.all().find((one) => one.id === id)!;
    const { guarantee = share.guarantee, limit = share.limit, weight = share.weight } = change;
    const isSet = [guarantee, limit].some((amounts) => Object.keys(amounts).length > 0);
    // One that says nothing is none: without any all is lent in order of arrival again.
    if (!isSet && weight === 1) this.#remove.run(id);
    else
      this.#write.run(
        ...([id, JSON.stringify(guarantee), JSON.stringify(limit)] as const),
        ...([weight, this.#clock.now()] as const),
      );
    this.#signal.raise("shares-set");
    return overGuaranteed(this.all());
  }
}

function shareOf({ id, parent, guarantee, limits, weight }: ShareRow): Share {
  const amounts = (text: string | null) => JSON.parse(text ?? "{}") as Amounts;
  return { id, parent, guarantee: amounts(guarantee), limit: amounts(limits), weight: weight ?? 1 };
}
