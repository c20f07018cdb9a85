/**
 * What the first entry of a shard says of those before it: how far the log goes on in the one that it follows, and the most that anybody had seen of that
 * one, and of later ones that are gone. Who has seen more knows that the loss was understated.
 */
import { fromLatin1, hex } from "../input/bytes.ts";
import { type Detail, integerIn, nameIn, objectsIn, originIn } from "../leaf/detail.ts";

/** As many lost shards as an entry names. */
export const MAX_LOST = 16;
const SHARD = /^(.*)\/([0-9]{4})(?:-([0-9]{1,4}))?$/s;

type Head<Root> = { origin: string; size: number; root: Root };
/** Roots in hex; null where nobody had one. */
export type ShardsBefore = {
  /** Of the log that says so. */
  origin: string;
  /** What it keeps of the shard that it follows. */
  kept: Head<string>;
  /** By origin; that of `kept` among them. */
  admitted: ReadonlyMap<string, Omit<Head<string | null>, "origin">>;
};

/** @param origin of the log whose first entry it is. @returns null where no shard is said to be before it */
export function shardsBefore(origin: string, detail: Detail): ShardsBefore | null {
  const before = originIn(detail, "prev_origin");
  if (before === null) return null;
  const kept = {
    origin: before,
    size: integerIn(detail, "prev_size") ?? 0,
    root: nameIn(detail, "prev_root") ?? "",
  };
  const admitted = new Map<string, Omit<Head<string | null>, "origin">>();
  if (detail["reason"] !== "restore") return { origin, kept, admitted: admitted.set(before, kept) };
  for (const lost of (objectsIn(detail, "lost") ?? []).slice(0, MAX_LOST)) {
    const name = originIn(lost, "origin");
    if (name !== null)
      admitted.set(name, { size: integerIn(lost, "size") ?? 0, root: nameIn(lost, "root") });
  }
  const seen = { size: integerIn(detail, "seen_size") ?? 0, root: nameIn(detail, "seen_root") };
  return { origin, kept, admitted: admitted.set(before, seen) };
}

/** What a checkpoint of another shard, had without the appliance, says beside it; its root by its bytes as characters. */
export function compareBefore(
  { origin, kept, admitted }: ShardsBefore,
  known: Head<string>,
): "same" | "unknown" | { fault: string } {
  const root = hex(fromLatin1(known.root));
  if (known.origin === kept.origin && known.size === kept.size)
    return root === kept.root
      ? "same"
      : {
          fault: `the shard before, ${known.origin}, ended otherwise than the checkpoint that you kept`,
        };
  const said = admitted.get(known.origin);
  if (said === undefined && !isBetween(kept.origin, known.origin, origin)) return "unknown";
  const size = said?.size ?? 0;
  if (known.size > size)
    return {
      fault: `the checkpoint that you kept of ${known.origin} has ${known.size} entries, and this log admits that ${size} were seen: more was lost than it says`,
    };
  const isOther = known.size === size && typeof said?.root === "string" && said.root !== root;
  if (isOther)
    return {
      fault: `the ${size} entries of ${known.origin} that this log admits were seen are not those of the checkpoint that you kept`,
    };
  return known.size < kept.size && known.origin === kept.origin ? "unknown" : "same";
}

/** Whether it is a shard of the same log, after the one and before the other: such a one is gone. */
function isBetween(before: string, origin: string, after: string): boolean {
  const [first, one, last] = [before, origin, after].map(placeOf);
  if (!first || !one || !last || first.log !== one.log || one.log !== last.log) return false;
  return first.place < one.place && one.place < last.place;
}

/** A log's shards are called by their year, and those after a restore `-2`, `-3` besides. */
function placeOf(origin: string): { log: string; place: number } | null {
  const [, log, year, turn = "0"] = SHARD.exec(origin) ?? [];
  return log === undefined ? null : { log, place: Number(year) * 10_000 + Number(turn) };
}
