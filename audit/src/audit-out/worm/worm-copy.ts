/**
 * Copies the log to a bucket that can't be changed: entry bundles and tiles as they become full, and once in a while the newest checkpoint with the partial
 * files that make its tree whole. Everything is read proven, and what the bucket has already is compared.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { encodeEntries } from "../../log/entry-bundle.ts";
import { filesOfTree, TILE_WIDTH, type TileName, tilePath } from "../../log/tile-layout.ts";
import type { FollowedShard } from "../follow/followed-shard.ts";
import type { LogFollower } from "../follow/log-follower.ts";
import { compareSlugs, type Position } from "../follow/position.ts";
import type { Reporter } from "../reporter.ts";
import type { CursorFile } from "../sinks/cursor-file.ts";
import type { LockedBucket } from "./locked-bucket.ts";

const NAME = "worm";
const LAST_RETRY_MS = 60_000;
const DAY_MS = 86_400_000;

export type WormCopyOptions = {
  bucket: LockedBucket;
  cursor: CursorFile;
  follower: LogFollower;
  reporter: Reporter;
  log: Logger;
  retentionDays: number;
  checkpointMs: number;
  pollMs: number;
  retryMs: number;
};

export type WormStatus = {
  state: "running" | "failing";
  /** Everything before it is in the bucket; it stands at the end of a full bundle, or of a checkpoint. */
  cursor: Position | null;
  lag: number;
  error: string | null;
};

export class WormCopy implements AsyncDisposable {
  readonly #options: WormCopyOptions;
  readonly #stop = new AbortController();
  readonly #lastCheckpoint = new Map<string, number>();
  readonly #running: Promise<void>;
  #cursor: Position | null;
  #error: string | null = null;
  #isReportedFailing = false;
  #checkpointAt = Number.NEGATIVE_INFINITY;

  private constructor(options: WormCopyOptions, cursor: Position | null) {
    this.#options = options;
    this.#cursor = cursor;
    this.#running = this.#run();
  }

  /** @throws ConfigError when its cursor can't be read */
  static async start(options: WormCopyOptions): Promise<WormCopy> {
    return new WormCopy(options, await options.cursor.read());
  }

  get status(): WormStatus {
    return {
      state: this.#error === null ? "running" : "failing",
      ...{ cursor: this.#cursor, lag: this.#options.follower.entriesFrom(this.#cursor), error: this.#error },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { bucket, pollMs } = this.#options;
    let { retryMs } = this.#options;
    let isPrepared = false;
    while (!signal.aborted) {
      try {
        if (!isPrepared) await bucket.prepare(signal);
        isPrepared = true;
        await this.#copyWhatIsNew();
        this.#succeeded();
        retryMs = this.#options.retryMs;
        await pause(pollMs, undefined, { signal }).catch(() => {});
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(error);
        await pause(retryMs, undefined, { signal }).catch(() => {});
        retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
      }
    }
  }

  async #copyWhatIsNew(): Promise<void> {
    for (const shard of this.#options.follower.shards) {
      if (this.#cursor !== null && compareSlugs(shard.slug, this.#cursor.slug) < 0) continue;
      await this.#copyFull(shard);
      // A shard that another one follows is closed with its last checkpoint, whatever the hour.
      if (shard.isSettled || performance.now() - this.#checkpointAt >= this.#options.checkpointMs)
        await this.#copyCheckpoint(shard);
      // The next shard's place in the cursor would leave the rest of this one behind.
      this.#options.follower.checkNotStuck(shard);
      if (!shard.isSettled) return;
    }
  }

  async #copyFull(shard: FollowedShard): Promise<void> {
    const { size } = shard.tree;
    const from = this.#indexIn(shard);
    for (let bundle = Math.floor(from / TILE_WIDTH); (bundle + 1) * TILE_WIDTH <= size; bundle += 1) {
      for (const name of completedBy(bundle)) await this.#keep(shard, name);
      await this.#advance({ slug: shard.slug, index: (bundle + 1) * TILE_WIDTH });
    }
  }

  async #copyCheckpoint(shard: FollowedShard): Promise<void> {
    const { size, note } = shard.tree.checkpoint;
    if (size === 0 || size === this.#lastCheckpoint.get(shard.slug)) return;
    await this.#copyFull(shard);
    for (const name of filesOfTree(size)) if (name.width < TILE_WIDTH) await this.#keep(shard, name);
    await this.#put(`${shard.slug}/checkpoints/${size}`, Buffer.from(note, "utf8"));
    this.#lastCheckpoint.set(shard.slug, size);
    this.#checkpointAt = performance.now();
    await this.#advance({ slug: shard.slug, index: size });
  }

  async #keep({ slug, tree }: FollowedShard, name: TileName): Promise<void> {
    const body =
      name.level === "entries"
        ? encodeEntries((await tree.readBundle(name.index)).entries.slice(0, name.width))
        : await tree.readTile(name.level, name.index, name.width);
    await this.#put(`${slug}/${tilePath(name)}`, body);
  }

  #put(key: string, body: Buffer): Promise<void> {
    const { bucket, retentionDays } = this.#options;
    return bucket.keep(key, body, new Date(Date.now() + retentionDays * DAY_MS), this.#stop.signal);
  }

  #indexIn({ slug }: FollowedShard): number {
    return this.#cursor?.slug === slug ? this.#cursor.index : 0;
  }

  async #advance(to: Position): Promise<void> {
    await this.#options.cursor.write(to);
    this.#cursor = to;
  }

  #succeeded(): void {
    if (this.#error !== null) this.#options.log.info("the copy goes on");
    this.#error = null;
    if (this.#isReportedFailing) this.#report("recovered");
  }

  #failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message !== this.#error) this.#options.log.error({ err: error }, "the log can't be copied; it is tried again");
    this.#error = message;
    if (!this.#isReportedFailing) this.#report("failing");
  }

  #report(state: "failing" | "recovered"): void {
    this.#isReportedFailing = state === "failing";
    const size = this.#options.follower.shards.at(-1)?.tree.size ?? 0;
    const detail = { sink: NAME, state, cursor: this.#cursor?.index ?? 0, size };
    this.#options.reporter.report<"audit.sink">({ type: "audit.sink", object: { kind: "log", id: "audit-out" }, detail });
  }
}

/** A full bundle, its tile, and the tiles above that it completes. */
function* completedBy(bundle: number): Generator<TileName> {
  yield { level: "entries", index: bundle, width: TILE_WIDTH };
  yield { level: 0, index: bundle, width: TILE_WIDTH };
  for (let level = 1, done = bundle + 1; done % TILE_WIDTH === 0; level += 1) {
    done /= TILE_WIDTH;
    yield { level, index: done - 1, width: TILE_WIDTH };
  }
}
