/** What the log says was erased: stated by the outcome of an erasure, or of a retention, for each shard. */
import { integerIn, nameIn, objectsIn, originIn } from "../leaf/detail.ts";
import type { Leaf } from "../leaf/leaf.ts";
import type { Verdicts } from "../verdicts.ts";

/** Of one shard: how many commitments, and the root over them; null where the entry does not say it. */
export type Stated = { count: number | null; root: string | null };
/** An entry of another shard, from a proof of its own. `isProven`: under a checkpoint that the policy's keys signed. */
export type ErasureElsewhere = {
  origin: string;
  index: number;
  isProven: boolean;
  stated: ReadonlyMap<string, Stated>;
};

/** What was found of one entry by its proof. */
type JudgedEntry = {
  verdicts: Verdicts;
  checkpoint: { origin: string } | null;
  index: number | null;
  event: string | null;
};

const TYPES = ["privacy.erasure", "privacy.retention"];

/** Reads what was erased, by shard; null for an entry that states no erasure. */
export function statedBy({ type, phase, detail = {} }: Leaf): Map<string, Stated> | null {
  if (!TYPES.includes(type) || phase !== "completed") return null;
  const stated = new Map<string, Stated>();
  for (const one of objectsIn(detail, "erased") ?? []) {
    const origin = originIn(one, "origin");
    if (origin === null) continue;
    stated.set(origin, {
      count: integerIn(one, "commitments_count"),
      root: nameIn(one, "commitments_root"),
    });
  }
  return stated;
}

/** Reads what another shard's entry says was erased; null when the proof is of no erasure, or can't be read. */
export function erasureElsewhere({
  checkpoint,
  index,
  event,
  verdicts,
}: JudgedEntry): ErasureElsewhere | null {
  if (checkpoint === null || index === null || event === null) return null;
  const stated = statedBy(JSON.parse(event) as Leaf);
  const { SIGNATURE, INTEGRITY, WITNESSED } = verdicts;
  const isProven =
    SIGNATURE.verdict === "PASS" && INTEGRITY.verdict === "PASS" && WITNESSED.verdict !== "FAIL";
  return stated === null ? null : { origin: checkpoint.origin, index, isProven, stated };
}
