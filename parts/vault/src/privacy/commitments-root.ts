/** What an erasure states of the commitments that it ended, by shard: their number, and RFC 6962 root in order of index and field. */
import { Frontier, hashLeaf } from "@resontech/audit/format/tree/merkle";
import type { ErasedCommitment } from "./commitment-store.ts";

export type ErasedOfShard = { origin: string; commitments_count: number; commitments_root: string };

/** @param erased by pages, in order of shard, index and field */
export async function statementOf(
  erased: AsyncIterable<ErasedCommitment[]>,
): Promise<ErasedOfShard[]> {
  const shards = new Map<string, Frontier>();
  for await (const page of erased)
    for (const { origin, index, field, commitment } of page) {
      const frontier = shards.get(origin) ?? new Frontier();
      shards.set(origin, frontier);
      frontier.append(hashLeaf(Buffer.from(`${index}\n${field}\n${commitment.toString("hex")}`)));
    }
  return [...shards].map(([origin, frontier]) => ({
    origin,
    commitments_count: frontier.size,
    commitments_root: frontier.root().toString("hex"),
  }));
}
