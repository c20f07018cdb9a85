/**
 * Deletes shards that are past their retention, oldest first, when the vault says that no legal hold stands.
 *
 * requested, durable and witnessed ── renamed ──► deleted but for its checkpoint ──► completed, durable ──► gone
 *      └── no witness, or killed ──► denied or failed, and asked for again another day
 *
 * From the rename on there is no way back. The new name is the operation's: whatever life finds such a folder goes on with it.
 */
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import { syncFolder } from "@resontech/frame/durable-file";
import { Turns } from "@resontech/frame/turns";
import { AUDITD } from "../decisions/ledger.ts";
import { inOrder, isPastRetention, isSlug, slugOf } from "@resontech/audit/format/shard/shard-plan";
import { parseLeaf } from "@resontech/audit/format/event/leaf";
import { parseCheckpoint } from "@resontech/audit/format/note/checkpoint";
import { LeafReader } from "@resontech/audit/format/tree/leaf-reader";
import { LogDamagedError, LogReader } from "@resontech/audit/format/tree/log-reader";
import { shardFolder } from "@resontech/audit/format/shard/shards";
import type { OpenShard } from "./open-shard.ts";
import type { Spools } from "./spools.ts";

const TYPE = "audit.shard.delete";
const DOOMED = /^[0-9]{4}(?:-[1-9][0-9]{0,3})?\.deleted\.([0-9a-f-]{36})$/;
const CHECKPOINT = "checkpoint";

type ShardContext = {
  auditDir: string;
  spools: Spools;
  isClockTrusted: () => boolean;
  /** The shard that takes entries; null while none does. */
  current: () => OpenShard | null;
  onFault: (error: unknown) => void;
};

/** What of a shard stays on record. */
type Deleted = { origin: string; size: number; root: string };
type Doomed = { folder: string; op: string };
type Closing = Pick<EventDraft<typeof TYPE>, "phase" | "outcome" | "detail">;

export class ShardDeletion {
  readonly #around: ShardContext;
  readonly #turns = new Turns();

  constructor(around: ShardContext) {
    this.#around = around;
  }

  /**
   * Shards whose last entry is older than `beforeMs`. The one that is written and the one before it stay, and nothing goes while nobody vouches
   * for the clock, while what opens a shard's commitments waits for the vault, or unless the policy's witnesses saw that it was asked for.
   * @returns origins of those that are as good as gone
   */
  begin(beforeMs: number): Promise<string[]> {
    return this.#turns.run(async () => {
      const begun: string[] = [];
      for (
        let next = await this.#beginOldest(beforeMs);
        next !== null;
        next = await this.#beginOldest(beforeMs)
      )
        begun.push(next);
      return begun;
    });
  }

  /** Brings to its end what was begun, by this life or by an earlier one. What can't be removed is tried again the next time. */
  goOn(): Promise<void> {
    return this.#turns.run(async () => {
      const { auditDir, current, onFault } = this.#around;
      const doomed: Doomed[] = (await readdir(auditDir)).flatMap((name) => {
        const [, op] = DOOMED.exec(name) ?? [];
        return op === undefined ? [] : [{ folder: join(auditDir, name), op }];
      });
      const open = [...(current()?.auditLog.ledger.open ?? [])].filter(
        ([, { type, prod }]) => type === TYPE && prod === AUDITD,
      );
      for (const [op] of open)
        if (!doomed.some((one) => one.op === op))
          await this.#close(op, { phase: "failed", outcome: { code: "interrupted" } });
      for (const one of doomed) await this.#finish(one).catch(onFault);
    });
  }

  async #beginOldest(beforeMs: number): Promise<string | null> {
    const { auditDir, isClockTrusted, current, spools } = this.#around;
    const shard = current();
    const slug = shard === null ? null : await this.#oldestBefore(shard);
    if (shard === null || slug === null || !isClockTrusted()) return null;
    const folder = shardFolder(auditDir, slug);
    const deleted = await deletedOf(folder);
    const lastAt = await lastTimeIn(folder, deleted.size);
    const isSealed = (await spools.oldest(shard))?.origin !== deleted.origin;
    if (!isSealed || !isPastRetention(lastAt, beforeMs, Date.now()) || current() !== shard)
      return null;
    const op = crypto.randomUUID();
    const detail = { ...deleted, last_at: lastAt, before: new Date(beforeMs).toISOString() };
    const { index } = await shard.auditLog.record({ ...draftOf(op), phase: "requested", detail });
    const { needsWitness, witnessed } = await shard.witnessed(index);
    if (needsWitness && !witnessed) {
      await this.#close(op, { phase: "denied", outcome: { code: "unwitnessed" } });
      return null;
    }
    await spools.forget(slug);
    await rename(folder, join(auditDir, `${slug}.deleted.${op}`));
    await syncFolder(auditDir);
    return deleted.origin;
  }

  /** Null when there is none but the shard that is written and the one before it. */
  async #oldestBefore({ auditLog }: OpenShard): Promise<string | null> {
    const { follows } = auditLog.ledger;
    if (follows === null) return null;
    const slugs = (await readdir(this.#around.auditDir))
      .filter((name) => isSlug(name))
      .sort(inOrder);
    const [oldest] = slugs;
    return oldest !== undefined && inOrder(oldest, slugOf(follows.origin)) < 0 ? oldest : null;
  }

  /** Its checkpoint goes last: it says what is to be stated. */
  async #finish({ folder, op }: Doomed): Promise<void> {
    const { auditDir, current } = this.#around;
    for (const name of await readdir(folder))
      if (name !== CHECKPOINT) await rm(join(folder, name), { recursive: true, force: true });
    await syncFolder(folder);
    const shard = current();
    // Between two shards nothing can be said: the next one carries the operation on.
    if (shard === null) return;
    if (shard.auditLog.ledger.open.has(op))
      await this.#close(op, {
        phase: "completed",
        outcome: { code: "ok" },
        detail: await deletedOf(folder),
      });
    await rm(folder, { recursive: true });
    await syncFolder(auditDir);
  }

  async #close(op: string, closing: Closing): Promise<void> {
    await this.#around.current()?.auditLog.record({ ...draftOf(op), ...closing });
  }
}

function draftOf(op: string) {
  return { type: TYPE, op, object: { kind: "log", id: AUDITD } } as const;
}

/** @throws LogDamagedError */
async function deletedOf(folder: string): Promise<Deleted> {
  const checkpoint = parseCheckpoint(await readFile(join(folder, CHECKPOINT), "utf8"));
  if (checkpoint === null) throw new LogDamagedError(0, `${folder} has no checkpoint`);
  const { origin, size, root } = checkpoint;
  return { origin, size, root: root.toString("hex") };
}

/** @throws LogDamagedError */
async function lastTimeIn(folder: string, size: number): Promise<string> {
  return parseLeaf(await new LeafReader(new LogReader(folder)).read(size - 1, size)).t_log;
}
