/**
 * Whether a log was put back to an older state, what was lost then, and under which name it goes on. Pure.
 *
 * A shard that was begun once is never begun again, whoever has its keys: a second tree would grow under one origin. So the new shard's name follows
 * that of the newest one that may have been begun.
 */
import {
  firstSlug,
  inOrder,
  isNumbered,
  isSlug,
  slugAfter,
  slugOf,
  yearOf,
} from "@resontech/audit/format/shard/shard-plan";

/** What somebody outside the log's folder has of it. `origin` is null where that is an acknowledgement: producers don't know of shards. */
export type Seen = { origin: string | null; size: number; root: string | null; by: string };

/** What the log's folder holds: the shard that it names, and of what came after that one what a turn that was cut short left. */
export type Held = { origin: string; size: number; later: ReadonlyMap<string, number> };

/** The most that anybody had seen of a shard. */
export type LostShard = { origin: string; size: number; root: string | null };

export type RestorePlan = {
  /** Of the new shard. */
  slug: string;
  /** The most that was seen of the shard that was put back. */
  seen: LostShard;
  /** Those that followed it. */
  lost: LostShard[];
};

/** As many as the new shard's first entry names. */
const MAX_LOST = 16;
/** Far more than a log ever has: whoever says more says nothing new. */
const MAX_SEEN = 1_024;

/** The most that each has said; what is said again and again, while a log waits for its people, is kept once. */
export class SeenMost {
  readonly #most = new Map<string, Seen>();
  readonly #heldSize: number;

  /** @param heldSize an acknowledgement above it is of another kind than one below: {@link planRestore} */
  constructor(heldSize: number) {
    this.#heldSize = heldSize;
  }

  get all(): Seen[] {
    return [...this.#most.values()];
  }

  add(one: Seen): void {
    const key = `${one.by} ${one.origin ?? String(one.size > this.#heldSize)}`;
    const known = this.#most.get(key);
    if (known === undefined ? this.#most.size < MAX_SEEN : isMore(one, known))
      this.#most.set(key, one);
  }
}

/** Whether there can be a shard of this name that others follow. */
export function mayBeFollowed(slug: string): boolean {
  return isSlug(slug) && isSlug(slugAfter(slug, "year")) && isSlug(slugAfter(slug, "restore"));
}

/** The most that anybody has seen beyond what the folder holds; null when it holds all of it. */
export function rolledBackFrom(held: Held, seen: readonly Seen[]): Seen | null {
  const slug = (one: Seen) => slugOf(one.origin ?? held.origin);
  return (
    seen
      .filter((one) => isBeyond(held, one))
      .sort((a, b) => inOrder(slug(b), slug(a)) || b.size - a.size)[0] ?? null
  );
}

function isBeyond(held: Held, { origin, size }: Seen): boolean {
  if (origin === null || origin === held.origin) return size > held.size;
  return isLater(origin, held) && size > (held.later.get(origin) ?? 0);
}

function isLater(origin: string, held: Held): boolean {
  return inOrder(slugOf(origin), slugOf(held.origin)) > 0;
}

/** Shards after the one that was put back which have keys. */
export type Later = {
  /** None of whose entries are here: they may be prepared, or lost. */
  named: readonly string[];
  /** Of which an opening after a restore left entries: it is gone on with, unless a newer one is lost. */
  begun: readonly string[];
};

/**
 * @param areKeysGone of the shard that was put back: then another one did follow it
 * @param nowMs null where nobody vouches for the clock: then a prepared shard may have been begun as well
 */
export function planRestore(
  held: Held,
  seen: readonly Seen[],
  later: Later,
  areKeysGone: boolean,
  nowMs: number | null,
): RestorePlan {
  const beyond = seen.filter((one) => isBeyond(held, one));
  const lost = new Map<string, LostShard>();
  for (const { origin } of beyond)
    if (origin !== null && origin !== held.origin)
      lost.set(
        origin,
        mostOf(
          origin,
          beyond.filter((one) => one.origin === origin),
        ),
      );
  const newest = newestBegun(held, [...lost.keys()], later, areKeysGone, nowMs);
  const slug = slugAfter(slugOf(newest), "restore");
  const nothing = { size: held.size, root: null };
  if (newest === held.origin) return { slug, seen: mostOf(held.origin, beyond, nothing), lost: [] };
  const own = mostOf(
    held.origin,
    beyond.filter(({ origin }) => origin === held.origin),
    nothing,
  );
  // An acknowledgement that the shard which was put back can't have lost is of the one that producers wrote last.
  const acknowledged = seen.filter(
    ({ origin, size }) => origin === null && (size <= held.size || size > own.size),
  );
  // Those between have keys, so each was made: that nobody speaks of one does not bring it back.
  for (const origin of [...later.named, ...later.begun])
    if (!lost.has(origin) && inOrder(slugOf(origin), slugOf(newest)) < 0)
      lost.set(origin, { origin, size: 0, root: null });
  lost.set(newest, mostOf(newest, acknowledged, lost.get(newest) ?? { size: 0, root: null }));
  const inOrderOfTime = [...lost.values()].sort((a, b) =>
    inOrder(slugOf(a.origin), slugOf(b.origin)),
  );
  return { slug, seen: own, lost: inOrderOfTime.slice(-MAX_LOST) };
}

/** The newest shard that may have been begun, but for an opening that is gone on with. One that is prepared was not, before its year. */
function newestBegun(
  { origin }: Held,
  lost: readonly string[],
  { named, begun }: Later,
  areKeysGone: boolean,
  nowMs: number | null,
): string {
  const newest = (origins: readonly string[]): string =>
    origins.reduce((a, b) => (inOrder(slugOf(b), slugOf(a)) > 0 ? b : a), origin);
  const isDue = (one: string): boolean =>
    nowMs === null || isNumbered(slugOf(one)) || yearOf(slugOf(one)) <= yearOf(firstSlug(nowMs));
  const found = newest([...lost, ...named.filter(isDue), ...begun.map(countedBefore)]);
  return found === origin && areKeysGone ? newest(named) : found;
}

/** `2026-2` was opened after `2026`. */
function countedBefore(origin: string): string {
  const [year = "", count = 0] = slugOf(origin).split("-");
  const before = Number(count) - 1;
  return `${origin.slice(0, origin.lastIndexOf("/") + 1)}${year}${before > 1 ? `-${before}` : ""}`;
}

/** Picks the largest size that was seen; of two that say the same size the one that says the root. */
function mostOf(
  origin: string,
  seen: readonly Seen[],
  least: Omit<LostShard, "origin"> = { size: 0, root: null },
): LostShard {
  const { size, root } = seen.reduce<Omit<LostShard, "origin">>(
    (most, one) => (isMore(one, most) ? one : most),
    least,
  );
  return { origin, size, root };
}

function isMore(one: Seen, most: Omit<LostShard, "origin">): boolean {
  return one.size > most.size || (one.size === most.size && most.root === null);
}
