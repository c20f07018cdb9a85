/** Follows the log's shards as they grow, and hands out their entries from any place on, proven, a bundle at a time. It only reads there. */
import { readdir, readFile } from "node:fs/promises";
import { abortable } from "@resontech/frame/abortable";
import type { Logger } from "pino";
import { inOrder, isSlug } from "@resontech/audit/format/shard/shard-plan";
import { LogDamagedError } from "@resontech/audit/format/tree/log-reader";
import { currentSlug, shardFolder } from "@resontech/audit/format/shard/shards";
import { TILE_WIDTH } from "@resontech/audit/format/tree/tile-layout";
import { FollowedShard, faultOf, type LogFault } from "./followed-shard.ts";
import type { NoteKey } from "@resontech/audit/format/note/note-key";
import { parsePolicy } from "@resontech/audit/format/note/policy";
import {
  type TrustedCheckpoint,
  CheckpointRefused,
  openTrustedCheckpoint,
} from "./trusted-checkpoint.ts";
import type { Position } from "./position.ts";

/** Entries that follow one another in one shard, proven to be in the tree of `treeSize`. */
export type LeafBatch = {
  slug: string;
  origin: string;
  firstIndex: number;
  leaves: readonly Buffer[];
  hashes: readonly Buffer[];
  treeSize: number;
  /** What lies between the place that was asked for and these, and was passed over. */
  passed: readonly PassedOver[];
};

/** Entries of a shard that can't be read or believed; `to` is null where nobody can say how many there are. */
export type PassedOver = { shard: string; from: number; to: number | null };

/** Whether what is damaged of a shard may be passed over. */
export type MayPass = (shard: FollowedShard) => boolean;
const PASS_NONE: MayPass = () => false;

/** A shard that others follow can't be read to its end. Whoever went on behind it would leave its rest behind for good. */
export class ShardStuckError extends Error {
  override readonly name = "ShardStuckError";
  readonly code = "shard_stuck";

  constructor(shard: string, { message }: LogFault) {
    super(
      `nothing behind the shard ${shard} is handed out until it can be read to its end: ${message}`,
    );
  }
}

/** A damaged shard is looked at again after so long, or so many times as long as the look took: others wait meanwhile. */
const DAMAGED_RETRY_MS = 60_000;
const DAMAGED_RETRY_FACTOR = 20;

export type FollowerOptions = {
  auditDir: string;
  policyFile: string;
  stateDir: string;
  pollMs: number;
};

export class LogFollower implements AsyncDisposable {
  readonly #options: FollowerOptions;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  readonly #shards: FollowedShard[] = [];
  #policy: { text: string; keys: NoteKey[] } | null = null;
  #fault: LogFault | null = null;
  #grown = Promise.withResolvers<void>();
  #polling: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FollowerOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
  }

  /** Looks at the log once, then over and over. A log that can't be read yet is no reason to end: it is looked at again. */
  start(): Promise<void> {
    this.#polling = this.#poll().finally(() => {
      if (!this.#stop.signal.aborted)
        this.#timer = setTimeout(() => void this.start(), this.#options.pollMs);
    });
    return this.#polling;
  }

  /** Oldest first. */
  get shards(): readonly FollowedShard[] {
    return this.#shards;
  }

  /** The first thing that keeps the log, or a shard of it, from being believed. */
  get fault(): LogFault | null {
    return this.#fault ?? this.#shards.find(({ fault }) => fault !== null)?.fault ?? null;
  }

  /** Shards of which entries may be missing: they can't be read, or believed, any further. */
  get incomplete(): string[] {
    const isDoubtful = (shard: FollowedShard): boolean =>
      shard.fault !== null || (this.#fault !== null && this.#isLast(shard));
    return this.#shards
      .filter((shard) => !shard.isSettled && isDoubtful(shard))
      .map(({ slug }) => slug);
  }

  /** Whether it can't be read to its end, and another one waits behind it. */
  isStuck(shard: FollowedShard): boolean {
    return !this.#isLast(shard) && !shard.isSettled && shard.fault !== null;
  }

  /** Whether it is stuck for good: damaged, and not by a restore that explains it. What can't be read just now may be read at the next look. */
  isGivenUp(shard: FollowedShard): boolean {
    return this.isStuck(shard) && shard.fault?.code !== "log_unreadable" && shard.notBeforeMs > 0;
  }

  /** @throws ShardStuckError */
  checkNotStuck(shard: FollowedShard): void {
    if (shard.fault !== null && this.isStuck(shard))
      throw new ShardStuckError(shard.slug, shard.fault);
  }

  /** Reads a checkpoint of one shard that lies beside its newest. @throws CheckpointRefused for what the log's own keys have not signed */
  openNote({ origin }: FollowedShard, note: Buffer): TrustedCheckpoint {
    return openTrustedCheckpoint(note, origin, this.#policy?.keys ?? []);
  }

  /** Proven entries from this place on, also those behind a damaged shard, which wait for it; null is the log's beginning. */
  entriesFrom(position: Position | null): number {
    return this.#shards.reduce((sum, { slug, tree }) => {
      const order = position === null ? 1 : inOrder(slug, position.slug);
      return sum + (order < 0 ? 0 : Math.max(0, tree.size - (order > 0 ? 0 : position!.index)));
    }, 0);
  }

  /**
   * The entries from a place on, at most a bundle, as soon as there are any; null is the log's beginning.
   * @throws LogDamagedError, ShardStuckError
   */
  async next(
    from: Position | null,
    signal: AbortSignal,
    mayPass: MayPass = PASS_NONE,
  ): Promise<LeafBatch> {
    for (;;) {
      const grown = this.#grown.promise;
      const found = await this.read(from, mayPass);
      if (found !== null) return found;
      await abortable(grown, signal);
    }
  }

  /** The same; null when there are none yet. @throws LogDamagedError, ShardStuckError */
  async read(from: Position | null, mayPass: MayPass = PASS_NONE): Promise<LeafBatch | null> {
    const passed: PassedOver[] = [];
    for (const shard of this.#shards) {
      const { slug, origin, tree } = shard;
      const order = from === null ? 1 : inOrder(slug, from.slug);
      if (order < 0) continue;
      let firstIndex = order > 0 ? 0 : from!.index;
      for (const treeSize = tree.size; firstIndex < treeSize; ) {
        const bundle = Math.floor(firstIndex / TILE_WIDTH);
        const skipped = firstIndex % TILE_WIDTH;
        try {
          const { entries, hashes } = await tree.readBundle(bundle);
          const leaves = entries.slice(skipped);
          return {
            slug,
            origin,
            firstIndex,
            leaves,
            hashes: hashes.slice(skipped),
            treeSize,
            passed,
          };
        } catch (error) {
          if (!(error instanceof LogDamagedError && mayPass(shard))) throw error;
          const to = Math.min(treeSize, (bundle + 1) * TILE_WIDTH);
          passOver(passed, { shard: slug, from: firstIndex, to });
          firstIndex = to;
        }
      }
      // Only a shard that was read to its end is left: behind the newest there is nothing, and behind a damaged one its rest would be lost.
      if (shard.isSettled) continue;
      if (this.#isLast(shard) || shard.fault === null) return null;
      if (!mayPass(shard)) this.checkNotStuck(shard);
      if (!this.isGivenUp(shard)) return null;
      passOver(passed, { shard: slug, from: firstIndex, to: null });
    }
    return null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#polling;
    clearTimeout(this.#timer);
  }

  async #poll(): Promise<void> {
    try {
      // The pointer first: the shard that it no longer names has its last checkpoint by then.
      const current = await currentSlug(this.#options.auditDir);
      if (current === null) return;
      const keys = await this.#keys();
      await this.#findShards(current, keys);
      let hasGrown = false;
      for (const shard of this.#shards)
        if (
          !shard.isSettled &&
          performance.now() >= shard.notBeforeMs &&
          (await this.#refresh(shard, keys))
        )
          hasGrown = true;
      this.#fault = null;
      if (hasGrown) this.#announce();
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const fault = faultOf(error);
      if (this.#fault?.message !== fault.message)
        this.#log.error({ err: error }, "the log can't be followed");
      this.#fault = fault;
    }
  }

  async #findShards(current: string, keys: readonly NoteKey[]): Promise<void> {
    const { auditDir, stateDir } = this.#options;
    const names = (await readdir(auditDir)).filter(
      (name) => isSlug(name) && inOrder(name, current) <= 0,
    );
    names.sort(inOrder);
    // Past their retention, oldest first; the log's own entries say so.
    while (
      this.#shards.length > 1 &&
      names.length > 0 &&
      inOrder(this.#shards[0]!.slug, names[0]!) < 0
    )
      this.#shards.shift();
    for (const slug of names) {
      const last = this.#shards.at(-1);
      if (last !== undefined && inOrder(slug, last.slug) <= 0) continue;
      const origin = keys.map(({ name }) => name).find((name) => name.endsWith(`/${slug}`));
      if (origin === undefined)
        throw new CheckpointRefused(`the policy lists no log for the shard ${slug}`);
      this.#shards.push(
        new FollowedShard({ slug, origin, logDir: shardFolder(auditDir, slug), stateDir }),
      );
    }
  }

  /** One shard that can't be believed keeps nobody from reading the others. */
  async #refresh(shard: FollowedShard, keys: readonly NoteKey[]): Promise<boolean> {
    const { signal } = this.#stop;
    const isLast = this.#isLast(shard);
    const fromMs = performance.now();
    try {
      const hasGrown = await shard.refresh(keys, signal);
      if (shard.fault !== null)
        this.#log.info({ shard: shard.slug }, "the shard can be followed again");
      shard.fault = null;
      shard.isSettled = !isLast;
      return hasGrown;
    } catch (error) {
      signal.throwIfAborted();
      if (await shard.fail(error))
        this.#log.error(
          { err: error, shard: shard.slug },
          "the shard can't be believed any further; what was proven before stays",
        );
      if (isLast || shard.fault?.code === "log_unreadable") return false;
      return await this.#startOver(shard, keys, fromMs);
    }
  }

  /** A restore explains what was found, or it is damage: then the fault stays, and so does what was proven. */
  async #startOver(
    shard: FollowedShard,
    keys: readonly NoteKey[],
    fromMs: number,
  ): Promise<boolean> {
    const { signal } = this.#stop;
    try {
      await shard.startOver(keys, signal);
      shard.isSettled = true;
    } catch {
      signal.throwIfAborted();
      const nowMs = performance.now();
      shard.notBeforeMs =
        nowMs + Math.max(DAMAGED_RETRY_MS, DAMAGED_RETRY_FACTOR * (nowMs - fromMs));
    }
    return shard.isSettled;
  }

  #isLast(shard: FollowedShard): boolean {
    return shard === this.#shards.at(-1);
  }

  /** The policy is read again each time: it grows by a shard's keys once a year, and by witnesses now and then. */
  async #keys(): Promise<NoteKey[]> {
    const text = await readFile(this.#options.policyFile, "latin1");
    if (this.#policy?.text !== text)
      this.#policy = { text, keys: [...parsePolicy(Buffer.from(text, "latin1")).logs] };
    return this.#policy.keys;
  }

  #announce(): void {
    const { resolve } = this.#grown;
    this.#grown = Promise.withResolvers<void>();
    resolve();
  }
}

/** Adds a stretch to those before it: what follows the last one makes that longer. */
export function passOver(passed: PassedOver[], stretch: PassedOver): void {
  const last = passed.at(-1);
  if (last?.shard === stretch.shard && last.to === stretch.from) last.to = stretch.to;
  else passed.push(stretch);
}
