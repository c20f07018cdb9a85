/**
 * Who may hold how much: organisation over team over project, each with a guarantee, a limit and a weight over its guarantee, in workers by model.
 * Pure: a ledger is a working copy of one cycle, and changes as its plan grows.
 *
 * A project is within a guarantee while it, or a team above it, holds no more than that one is guaranteed. Over it workers are lent, and may be taken
 * back. Among those that borrow, the one that holds and used least by its weight comes first (dominant-resource fairness,
 * https://www.usenix.org/legacy/event/nsdi11/tech/full_papers/Ghodsi.pdf), level by level from the top.
 */

/** Workers by model; a model that is absent counts 0. */
export type Amounts = Readonly<Record<string, number>>;

export type Share = {
  id: string;
  /** Null: nothing stands above it. */
  parent: string | null;
  guarantee: Amounts;
  /** By model; a model that is absent has no limit. */
  limit: Amounts;
  /** Over its guarantee, beside its peers. Above 0. */
  weight: number;
  /** The most workers that one person may have below it at a time. @default null, any number */
  personRunning?: number | null;
  /** The most jobs of one person that may wait below it. @default null, any number */
  personQueued?: number | null;
  /** So long an interactive job below it may use nothing. @default null, an hour */
  interactiveIdleMinutes?: number | null;
};

/** How a project stands with a gang added: whether that is lent to it, and its load on each level of the tree from the top. */
export type Standing = { isLent: boolean; levels: readonly Level[] };
type Level = { borrows: boolean; load: number };

/** Negative when `a` comes before `b`: under guarantee first, then the lowest load, level by level from the top. */
export function compareStandings(a: Standing, b: Standing): number {
  const first = Number(a.isLent) - Number(b.isLent);
  if (first !== 0) return first;
  for (let at = 0; at < Math.max(a.levels.length, b.levels.length); at++) {
    const [one, other] = [a.levels[at], b.levels[at]];
    const difference =
      Number(one?.borrows ?? true) - Number(other?.borrows ?? true) ||
      (one?.load ?? 0) - (other?.load ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A share that may hold at most so many workers of a model. */
export type LimitOver = { id: string; model: string; limit: number };

const NOTHING: Amounts = {};

export class ShareLedger {
  readonly #shares: ReadonlyMap<string, Share>;
  readonly #isLimited: boolean;
  readonly #capacity: Amounts;
  readonly #used: ReadonlyMap<string, Amounts>;
  readonly #held = new Map<string, Record<string, number>>();
  /** Of gangs that were asked to go: nobody borrows it any more, and it counts against limits until it is gone. */
  readonly #leaving = new Map<string, Record<string, number>>();
  readonly #paths = new Map<string, readonly Share[]>();
  /** The same from the top. */
  readonly #downward = new Map<string, readonly Share[]>();
  #version = 0;
  readonly #versions = new Map<string, number>();

  /**
   * @param capacity workers that there are, by model
   * @param used what each project held on average over the last days, the newest hours most
   */
  constructor(
    shares: readonly Share[],
    capacity: Amounts,
    used: ReadonlyMap<string, Amounts> = new Map(),
  ) {
    this.#shares = new Map(shares.map((share) => [share.id, share]));
    this.#isLimited = isLimited(shares);
    this.#capacity = capacity;
    const sums = new Map<string, Record<string, number>>();
    for (const [project, amounts] of used)
      for (const { id } of this.#path(project)) add(sums, id, amounts, 1);
    this.#used = sums;
  }

  /** False: nobody was guaranteed or limited anything, and all is lent in order of arrival. */
  get isSet(): boolean {
    return this.#shares.size > 0;
  }

  get isLimited(): boolean {
    return this.#isLimited;
  }

  /** Changes with what is held. */
  get version(): number {
    return this.#version;
  }

  /** Changes with what is held of these models. */
  versionOf(amounts: Amounts): number {
    let version = 0;
    for (const model in amounts) version += this.#versions.get(model) ?? 0;
    return version;
  }

  hold(project: string, amounts: Amounts): void {
    this.#change(amounts);
    for (const { id } of this.#path(project)) add(this.#held, id, amounts, 1);
  }

  release(project: string, amounts: Amounts): void {
    this.#change(amounts);
    for (const { id } of this.#path(project)) add(this.#held, id, amounts, -1);
  }

  #change(amounts: Amounts): void {
    this.#version += 1;
    for (const model in amounts) this.#versions.set(model, (this.#versions.get(model) ?? 0) + 1);
  }

  /** What was released goes later. */
  leave(project: string, amounts: Amounts): void {
    for (const { id } of this.#path(project)) add(this.#leaving, id, amounts, 1);
  }

  held(id: string): Amounts {
    return this.#held.get(id) ?? NOTHING;
  }

  /** Whether some share on the way up guarantees the gang beside what is held of its models. */
  isGuaranteed(project: string, amounts: Amounts): boolean {
    return this.#path(project).some((share) => this.#guarantees(share, amounts));
  }

  /** Of some model of the gang more is held than any share on its way up guarantees: the gang, or one like it, is lent its workers. */
  borrows(project: string, amounts: Amounts): boolean {
    const path = this.#path(project);
    for (const model in amounts)
      if (
        amounts[model]! > 0 &&
        path.every(({ id, guarantee }) => (this.held(id)[model] ?? 0) > (guarantee[model] ?? 0))
      )
        return true;
    return false;
  }

  /** The first share on the way up whose limit the gang would pass; null when none would be. @param freed what gangs of the project let go for it */
  limitOver(project: string, amounts: Amounts, freed: Amounts = NOTHING): LimitOver | null {
    return this.#limitOver(project, amounts, freed, this.#leaving);
  }

  /** The same once those that were asked to go are gone. */
  limitOverOnceGone(project: string, amounts: Amounts): LimitOver | null {
    return this.#limitOver(project, amounts, NOTHING, new Map());
  }

  #limitOver(
    project: string,
    amounts: Amounts,
    freed: Amounts,
    goes: ReadonlyMap<string, Amounts>,
  ): LimitOver | null {
    for (const { id, limit } of this.#path(project)) {
      const [held, leaving] = [this.held(id), goes.get(id) ?? NOTHING];
      for (const model in amounts) {
        const [count, most] = [amounts[model]!, limit[model]];
        if (most === undefined || count === 0) continue;
        if (total(held, leaving, model) - (freed[model] ?? 0) + count > most)
          return { id, model, limit: most };
      }
    }
    return null;
  }

  /** Whether no wait makes the gang fit: it alone is more than a limit. */
  neverFits(project: string, amounts: Amounts): boolean {
    return this.#path(project).some(({ limit }) =>
      Object.entries(amounts).some(([model, count]) => count > (limit[model] ?? Infinity)),
    );
  }

  /** Whether some share on the way up guarantees as much, whoever holds it now. */
  mayGuarantee(project: string, amounts: Amounts): boolean {
    return this.#path(project).some(({ guarantee }) =>
      Object.entries(amounts).every(([model, count]) => count <= (guarantee[model] ?? 0)),
    );
  }

  /** How a project would stand with a gang added, until the ledger changes. */
  standingOf(project: string, amounts: Amounts): Standing {
    return {
      isLent: !this.isGuaranteed(project, amounts),
      levels: this.#pathDown(project).map((share) => this.#level(share, amounts)),
    };
  }

  /** How far a project is beyond its own guarantee of the gang's models, by its weight. */
  excess(project: string, amounts: Amounts): number {
    const share = this.#shares.get(project) ?? unset(project);
    return this.#lent(share, Object.keys(amounts), NOTHING);
  }

  #level(share: Share, amounts: Amounts): Level {
    const models = Object.keys(amounts);
    if (!this.#guarantees(share, amounts))
      return { borrows: true, load: this.#lent(share, models, amounts) };
    const held = this.held(share.id);
    return {
      borrows: false,
      load: most(models, (model) => {
        const guaranteed = share.guarantee[model] ?? 0;
        return guaranteed === 0 ? 0 : total(held, amounts, model) / guaranteed;
      }),
    };
  }

  /** The dominant part of what there is that would be lent or was used, by weight. */
  #lent(share: Share, models: readonly string[], amounts: Amounts): number {
    const held = this.held(share.id);
    const used = this.#used.get(share.id) ?? NOTHING;
    return most(models, (model) => {
      const lent = Math.max(0, total(held, amounts, model) - (share.guarantee[model] ?? 0));
      const there = this.#capacity[model] ?? 0;
      return there === 0 ? 0 : (lent + (used[model] ?? 0)) / (share.weight * there);
    });
  }

  #guarantees({ id, guarantee }: Share, amounts: Amounts): boolean {
    const held = this.held(id);
    for (const model in amounts) {
      const count = amounts[model]!;
      if (count !== 0 && (held[model] ?? 0) + count > (guarantee[model] ?? 0)) return false;
    }
    return true;
  }

  #pathDown(project: string): readonly Share[] {
    let path = this.#downward.get(project);
    if (path === undefined) this.#downward.set(project, (path = this.#path(project).toReversed()));
    return path;
  }

  #path(project: string): readonly Share[] {
    const known = this.#paths.get(project);
    if (known !== undefined) return known;
    const path = pathOf(this.#shares, project);
    this.#paths.set(project, path);
    return path;
  }
}

/** From the project up. A project of which nothing is set borrows by weight 1. */
export function pathOf(shares: ReadonlyMap<string, Share>, project: string): Share[] {
  const path: Share[] = [];
  for (
    let share: Share | undefined = shares.get(project) ?? unset(project);
    share !== undefined && !path.includes(share);
    share = share.parent === null ? undefined : shares.get(share.parent)
  )
    path.push(share);
  return path;
}

/** The first share below which more is guaranteed than itself has, of a model that it is guaranteed at all; null where each has enough. */
export function overGuaranteed(
  shares: readonly Share[],
): { parent: string; model: string; guaranteed: number; wanted: number } | null {
  const below = Map.groupBy(shares, ({ parent }) => parent);
  for (const { id, guarantee } of shares)
    for (const [model, guaranteed] of Object.entries(guarantee)) {
      const wanted = (below.get(id) ?? []).reduce(
        (sum, share) => sum + (share.guarantee[model] ?? 0),
        0,
      );
      if (guaranteed > 0 && wanted > guaranteed) return { parent: id, model, guaranteed, wanted };
    }
  return null;
}

/** Whether anybody may hold no more than so much. */
export function isLimited(shares: readonly Pick<Share, "limit" | "personRunning">[]): boolean {
  return shares.some(
    ({ limit, personRunning }) => personRunning != null || Object.keys(limit).length > 0,
  );
}

function unset(id: string): Share {
  return { id, parent: null, guarantee: NOTHING, limit: NOTHING, weight: 1 };
}

/** Counts models of workers. */
export function amountsOf(workers: Iterable<{ model: string }>): Record<string, number> {
  const amounts: Record<string, number> = {};
  for (const { model } of workers) amounts[model] = (amounts[model] ?? 0) + 1;
  return amounts;
}

function add(
  into: Map<string, Record<string, number>>,
  id: string,
  amounts: Amounts,
  sign: 1 | -1,
): void {
  const sums = into.get(id) ?? {};
  for (const model in amounts) sums[model] = (sums[model] ?? 0) + sign * amounts[model]!;
  into.set(id, sums);
}

function total(held: Amounts, amounts: Amounts, model: string): number {
  return (held[model] ?? 0) + (amounts[model] ?? 0);
}

function most(models: readonly string[], of: (model: string) => number): number {
  let found = 0;
  for (const model of models) found = Math.max(found, of(model));
  return found;
}
