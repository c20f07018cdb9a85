/** A place in the log: the entry `index` of a shard. Shards follow one another by year, then by their turn in it. */
export type Position = { slug: string; index: number };
