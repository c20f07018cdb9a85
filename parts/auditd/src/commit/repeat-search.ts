/**
 * Finds what a producer sent before, or the refusal that stands in its place. A producer that has lost its acknowledgements sends thousands again at
 * once: they are looked for one at a time, each from where the one before it was found, so a run of them is one reading of the log.
 */
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { Turns } from "@resontech/frame/turns";
import { AUDITD, type Ledger } from "../decisions/ledger.ts";
import { parseLeaf } from "@resontech/audit/format/event/leaf";
import type { DurableLeaf } from "../checkpoint/checkpointer.ts";

/** A shard that can be searched: the one that is written, or the one before it. */
export type SearchedShard = {
  ledger: Ledger;
  /** One past the last leaf. */
  readonly nextIndex: number;
  readLeaf: (index: number) => Promise<DurableLeaf>;
};

export type FoundEvent = DurableLeaf & { index: number; event: AuditEvent; shard: SearchedShard };
type Sought = { prod: string; boot: string; pseq: number };

export class RepeatSearch {
  readonly #shards: readonly SearchedShard[];
  /** Of each producer: one search at a time. */
  readonly #turns = new Map<string, Turns>();
  readonly #last = new Map<string, Sought & { index: number; shard: SearchedShard }>();

  /** @param shards in the order in which they are searched */
  constructor(shards: readonly SearchedShard[]) {
    this.#shards = shards;
  }

  /**
   * Null when it stands in no shard.
   * @param isOver nobody waits for it any more
   * @returns undefined when that was so before its turn came
   */
  find(sought: Sought, isOver: () => boolean): Promise<FoundEvent | null | undefined> {
    const turns = this.#turns.get(sought.prod) ?? new Turns();
    this.#turns.set(sought.prod, turns);
    return turns.run(async () => (isOver() ? undefined : this.#find(sought)));
  }

  async #find(sought: Sought): Promise<FoundEvent | null> {
    for (const shard of this.#shards) {
      const found = await this.#findIn(shard, sought);
      if (found === null) continue;
      this.#last.set(sought.prod, { ...sought, index: found.index, shard });
      return found;
    }
    return null;
  }

  async #findIn(shard: SearchedShard, sought: Sought): Promise<FoundEvent | null> {
    const { prod, boot, pseq } = sought;
    const start = shard.ledger.sequence(prod)?.locate(pseq);
    if (start == null) return null;
    const last = this.#last.get(prod);
    const isBehindLast =
      last !== undefined && last.shard === shard && last.boot === boot && last.pseq < pseq;
    for (
      let index = Math.max(start.index, isBehindLast ? last.index + 1 : 0);
      index < shard.nextIndex;
      index++
    ) {
      const { leaf, leafHash } = await shard.readLeaf(index);
      const event = parseLeaf(leaf);
      if (isOf(event, sought)) return { index, leaf, leafHash, event, shard };
    }
    return null;
  }
}

function isOf({ prod, boot, pseq, type, object, detail }: AuditEvent, sought: Sought): boolean {
  if (prod === sought.prod && boot === sought.boot && pseq === sought.pseq) return true;
  const isRefusal = prod === AUDITD && type === "audit.rejected" && object.id === sought.prod;
  return (
    isRefusal &&
    detail?.["taken"] === true &&
    detail["boot"] === sought.boot &&
    detail["pseq"] === sought.pseq
  );
}
