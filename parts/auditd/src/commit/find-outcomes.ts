/**
 * Finds what the log says of operations whose producer has forgotten it: its database was put back to an older state. A reading of all entries since
 * then, beside everybody's work.
 */
import { setImmediate as breath } from "node:timers/promises";
import { parseLeaf } from "@resontech/audit/format/event/leaf";
import type { LogPlace, SaidOfOperation } from "@resontech/audit/format/wire/frames";
import type { SearchedShard } from "./repeat-search.ts";

/** Between two such steps others are heard. */
const LEAVES_AT_ONCE = 256;

/**
 * @param shards in the order in which they were written; what follows none of them is looked for in all
 * @param isOver nobody waits for it any more
 * @returns in the order of the log; null where it was over before
 */
export async function findOutcomes(
  shards: readonly (Pick<SearchedShard, "nextIndex" | "readLeaf"> & { origin: string })[],
  {
    ops,
    after,
    isOf,
  }: { ops: ReadonlySet<string>; after: LogPlace | undefined; isOf: (prod: string) => boolean },
  isOver: () => boolean,
): Promise<SaidOfOperation[] | null> {
  const needles = [...ops].map((op) => Buffer.from(`"op":${JSON.stringify(op)}`));
  const found: SaidOfOperation[] = [];
  const first = Math.max(
    0,
    shards.findIndex(({ origin }) => origin === after?.origin),
  );
  for (const shard of shards.slice(first)) {
    const { origin, nextIndex: end } = shard;
    for (let index = origin === after?.origin ? after.index + 1 : 0; index < end; index++) {
      if (index % LEAVES_AT_ONCE === 0) await breath();
      if (isOver()) return null;
      const { leaf, leafHash } = await shard.readLeaf(index);
      if (!needles.some((needle) => leaf.includes(needle))) continue;
      const { op, prod, phase, t_log: tLog, detail } = parseLeaf(leaf);
      if (!ops.has(op) || !isOf(prod)) continue;
      found.push({
        op,
        phase,
        index,
        leafHash: leafHash.toString("hex"),
        origin,
        tLog,
        detail: detail ?? {},
      });
    }
  }
  return found;
}
