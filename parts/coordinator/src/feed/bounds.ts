const KIB = 1024;
const MIB = 1024 ** 2;

/** What the feed may hold, in bytes of memory by {@link costOf}. */
export type FeedBounds = {
  /** Changes that a reader can go on from. */
  ringEntries: number;
  ringBytes: number;
  /** Of what a job printed last, and of all jobs together. */
  tailBytesOfJob: number;
  tailBytes: number;
  /** What a job may print live in a second: KERNEL "Logs". Counted as printed. */
  tailBytesPerS: number;
  /** What waits for one reader, and for all together; logs have half of that at most. */
  queueBytes: number;
  queuesBytes: number;
};

export const FEED_BOUNDS: FeedBounds = {
  ringEntries: 16_384,
  ringBytes: 16 * MIB,
  tailBytesOfJob: 512 * KIB,
  tailBytes: 16 * MIB,
  tailBytesPerS: 256 * KIB,
  queueBytes: MIB,
  queuesBytes: 64 * MIB,
};
