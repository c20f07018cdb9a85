/** A place in the log: the entry `index` of a shard. Shards follow one another by year, then by their turn in it. */

export type Position = { slug: string; index: number };

const SLUG = /^([0-9]{4})(?:-([1-9][0-9]{0,3}))?$/;

export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

/** Order of shards in time. */
export function compareSlugs(a: string, b: string): number {
  return rankOf(a) - rankOf(b);
}

function rankOf(slug: string): number {
  const [, year = "0", turn = "1"] = SLUG.exec(slug) ?? [];
  return Number(year) * 10_000 + Number(turn);
}
