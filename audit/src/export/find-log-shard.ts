/** Which shard somebody means: the one that is written, or an earlier one by its name. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseLeaf } from "../format/event/leaf.ts";
import { parseCheckpoint } from "../format/note/checkpoint.ts";
import { inOrder, isSlug } from "../format/shard/shard-plan.ts";
import { currentSlug, shardFolder } from "../format/shard/shards.ts";
import { LeafReader } from "../format/tree/leaf-reader.ts";
import { LogDamagedError, LogReader } from "../format/tree/log-reader.ts";
import { type LogPeriod, overlaps, type ShardSpan } from "./log-period.ts";

export type LogShard = {
  slug: string;
  logDir: string;
  /** It grows still; an earlier one has its last checkpoint. */
  isWritten: boolean;
};

/** Reports that there is no such shard, or no log. */
class UnknownShardError extends Error {
  override readonly name = "UnknownShardError";
  readonly code = "shard_unknown";
}

/** @throws UnknownShardError, which names those that there are; LogDamagedError */
export async function findLogShard(auditDir: string, slug?: string): Promise<LogShard> {
  const { begun, current } = await begunShards(auditDir);
  const named = slug ?? current;
  if (!begun.includes(named))
    throw new UnknownShardError(
      `there is no shard ${JSON.stringify(named)}; there are ${begun.join(", ")}`,
    );
  return { slug: named, logDir: shardFolder(auditDir, named), isWritten: named === current };
}

/**
 * All that hold entries of a period, oldest first.
 * @throws UnknownShardError, which says from when to when the log goes; LogDamagedError
 */
export async function logShardsOf(auditDir: string, period: LogPeriod): Promise<LogShard[]> {
  const { begun, current } = await begunShards(auditDir);
  const spans = await Promise.all(begun.map((slug) => spanOf(auditDir, slug)));
  const within = spans.filter((span) => overlaps(period, span));
  if (within.length === 0) {
    const times = spans.flatMap(({ first, last }) => [first, last]).filter((time) => time !== null);
    throw new UnknownShardError(
      `the log has no entry of that time: it goes from ${times[0] ?? "now"} to ${times.at(-1) ?? "now"}`,
    );
  }
  return within.map(({ slug }) => ({
    ...{ slug, logDir: shardFolder(auditDir, slug), isWritten: slug === current },
  }));
}

/** Lists the shards that are begun, oldest first. A next one that is prepared is not begun. */
async function begunShards(auditDir: string): Promise<{ begun: string[]; current: string }> {
  const current = await currentSlug(auditDir);
  if (current === null) throw new UnknownShardError("there is no log yet");
  const names = await readdir(auditDir);
  const begun = names.filter((name) => isSlug(name) && inOrder(name, current) <= 0).sort(inOrder);
  return { begun, current };
}

async function spanOf(auditDir: string, slug: string): Promise<ShardSpan> {
  const logDir = shardFolder(auditDir, slug);
  const checkpoint = parseCheckpoint(await readFile(join(logDir, "checkpoint"), "utf8"));
  if (checkpoint === null) throw new LogDamagedError(0, `the checkpoint of ${slug} is none`);
  const { size } = checkpoint;
  if (size === 0) return { slug, first: null, last: null };
  const leaves = new LeafReader(new LogReader(logDir));
  const timeOf = async (index: number) => parseLeaf(await leaves.read(index, size)).t_log;
  return { slug, first: await timeOf(0), last: await timeOf(size - 1) };
}
