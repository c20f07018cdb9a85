/** Finds what a producer sent before, or the refusal that stands in its place. */
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { AUDITD, type Ledger } from "../decisions/ledger.ts";
import { parseLeaf } from "../event/leaf.ts";
import type { DurableLeaf } from "./checkpointer.ts";

/** A shard that can be searched: the one that is written, or the one before it. */
export type SearchedShard = {
  ledger: Ledger;
  /** One past the last leaf. */
  readonly nextIndex: number;
  readLeaf: (index: number) => Promise<DurableLeaf>;
};

export type FoundEvent = DurableLeaf & { index: number; event: AuditEvent };

export async function findEvent(shard: SearchedShard, prod: string, boot: string, pseq: number): Promise<FoundEvent | null> {
  const start = shard.ledger.sequence(prod)?.locate(pseq);
  if (start == null) return null;
  for (let index = start.index; index < shard.nextIndex; index++) {
    const { leaf, leafHash } = await shard.readLeaf(index);
    const event = parseLeaf(leaf);
    const { detail } = event;
    if (event.prod === prod && event.boot === boot && event.pseq === pseq) return { index, leaf, leafHash, event };
    const isRefusal = event.prod === AUDITD && event.type === "audit.rejected" && event.object.id === prod;
    if (isRefusal && detail?.["taken"] === true && detail["boot"] === boot && detail["pseq"] === pseq)
      return { index, leaf, leafHash, event };
  }
  return null;
}
