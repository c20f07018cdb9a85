/** Which shard somebody means: the one that is written, or an earlier one by its name. */
import { readdir } from "node:fs/promises";
import { inOrder, isSlug } from "../format/shard/shard-plan.ts";
import { currentSlug, shardFolder } from "../format/shard/shards.ts";

export type LogShard = {
  slug: string;
  logDir: string;
  /** It grows still; an earlier one has its last checkpoint. */
  isWritten: boolean;
};

/** There is no such shard, or no log. */
class UnknownShardError extends Error {
  override readonly name = "UnknownShardError";
  readonly code = "shard_unknown";
}

/** @throws UnknownShardError, which names those that there are; LogDamagedError */
export async function findLogShard(auditDir: string, slug?: string): Promise<LogShard> {
  const current = await currentSlug(auditDir);
  if (current === null) throw new UnknownShardError("there is no log yet");
  // A next one that is prepared is not begun.
  const begun = (await readdir(auditDir)).filter(
    (name) => isSlug(name) && inOrder(name, current) <= 0,
  );
  const named = slug ?? current;
  if (!begun.includes(named))
    throw new UnknownShardError(
      `there is no shard ${JSON.stringify(named)}; there are ${begun.sort(inOrder).join(", ")}`,
    );
  return { slug: named, logDir: shardFolder(auditDir, named), isWritten: named === current };
}
