/**
 * Copies the log to a bucket that can't be changed: entry bundles and tiles as they become full, and once in a while the newest checkpoint with the partial
 * files that make its tree whole. Everything is read proven, and what the bucket has already is compared.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { inOrder } from "@resontech/audit/format/shard/shard-plan";
import { encodeEntries } from "@resontech/audit/format/tree/entry-bundle";
import { LogDamagedError } from "@resontech/audit/format/tree/log-reader";
import {
  filesOfTree,
  TILE_WIDTH,
  type TileName,
  tilePath,
} from "@resontech/audit/format/tree/tile-layout";
import type { FollowedShard } from "../follow/followed-shard.ts";
import { type LogFollower, type PassedOver, passOver } from "../follow/log-follower.ts";
import type { VerifiedTree } from "../follow/verified-tree.ts";
import type { Position } from "../follow/position.ts";
import type { Reporter } from "../reporter.ts";
import type { CursorFile } from "../sinks/cursor-file.ts";
import { SinkReport } from "../sinks/sink-report.ts";
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
  /** Shards whose damaged part it goes past: what it never gets is told in the log. */
  skipDamaged: readonly string[];
  retentionDays: number;
  checkpointMs: number;
  pollMs: number;
  retryMs: number;
};

export type WormStatus = {
  state: "running" | "failing";
  /** Everything before it is in the bucket, but for what was passed over; it stands at the end of a full bundle, or of a checkpoint. */
  cursor: Position | null;
  lag: number;
  error: string | null;
};

/** What a shard's tree holds at one look, and what of it is passed over. */
type Part = { slug: string; tree: VerifiedTree; size: number; note: string; passed: PassedOver[] };

export class WormCopy implements AsyncDisposable {
  readonly #options: WormCopyOptions;
  readonly #stop = new AbortController();
  readonly #lastCheckpoint = new Map<string, number>();
  readonly #says: SinkReport;
  readonly #running: Promise<void>;
  #cursor: Position | null;
  #error: string | null = null;
  #isReportedFailing = false;
  #checkpointAt = Number.NEGATIVE_INFINITY;

  private constructor(options: WormCopyOptions, cursor: Position | null) {
    this.#options = options;
    this.#cursor = cursor;
    this.#says = new SinkReport({ ...options, name: NAME });
    this.#running = this.#run();
  }

  /** @throws ConfigError when its cursor can't be read */
  static async start(options: WormCopyOptions): Promise<WormCopy> {
    return new WormCopy(options, await options.cursor.read());
  }

  get status(): WormStatus {
    return {
      state: this.#error === null ? "running" : "failing",
      ...{
        cursor: this.#cursor,
        lag: this.#options.follower.entriesFrom(this.#cursor),
        error: this.#error,
      },
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
      if (this.#cursor !== null && inOrder(shard.slug, this.#cursor.slug) < 0) continue;
      if (!(await this.#copyShard(shard))) return;
    }
  }

  /** @returns whether nothing of it is left, so that the next one's place in the cursor leaves nothing behind */
  async #copyShard(shard: FollowedShard): Promise<boolean> {
    const { follower, checkpointMs } = this.#options;
    const { slug, isSettled } = shard;
    const mayPass = this.#mayPass(slug);
    const isGivenUp = mayPass && follower.isGivenUp(shard);
    // One that begins again, after a restore, gets another tree: what belongs to this one is copied the next time.
    const part: Part = { slug, tree: shard.tree, ...shard.tree.checkpoint, passed: [] };
    const { size, passed } = part;
    await this.#copyFull(part);
    // A shard that another one follows is closed with its last checkpoint, whatever the hour.
    if (isSettled || isGivenUp || performance.now() - this.#checkpointAt >= checkpointMs)
      await this.#copyCheckpoint(part);
    if (!mayPass) follower.checkNotStuck(shard);
    // One that was mended meanwhile is copied the next time.
    const isLost =
      isGivenUp &&
      follower.isGivenUp(shard) &&
      shard.tree === part.tree &&
      shard.tree.size === size;
    const passedTo = passed.at(-1)?.to ?? 0;
    // What an earlier life copied may be more than can be read now.
    if (isLost)
      passOver(passed, { shard: slug, from: Math.max(size, this.#indexIn(slug)), to: null });
    await this.#tellPassed(passed);
    // Else what lies behind the last whole bundle would be tried again at every look.
    if (passedTo > this.#indexIn(slug)) await this.#advance({ slug, index: passedTo });
    return isSettled || isLost;
  }

  async #copyFull(part: Part): Promise<void> {
    const { slug, size, passed } = part;
    const from = this.#indexIn(slug);
    for (
      let bundle = Math.floor(from / TILE_WIDTH);
      (bundle + 1) * TILE_WIDTH <= size;
      bundle += 1
    ) {
      const end = (bundle + 1) * TILE_WIDTH;
      if (await this.#keepAll(part, completedBy(bundle))) {
        await this.#tellPassed(passed);
        await this.#advance({ slug, index: end });
      } else passOver(passed, { shard: slug, from: Math.max(from, bundle * TILE_WIDTH), to: end });
    }
  }

  async #copyCheckpoint(part: Part): Promise<void> {
    const { slug, size, note, passed } = part;
    if (size === 0 || size === this.#lastCheckpoint.get(slug)) return;
    const from = this.#indexIn(slug);
    const isWhole = await this.#keepAll(part, partialFilesOf(size));
    await this.#put(`${slug}/checkpoints/${size}`, Buffer.from(note, "utf8"));
    this.#lastCheckpoint.set(slug, size);
    this.#checkpointAt = performance.now();
    const partial = size - (size % TILE_WIDTH);
    if (!isWhole) passOver(passed, { shard: slug, from: Math.max(from, partial), to: size });
    else {
      await this.#tellPassed(passed);
      await this.#advance({ slug, index: size });
    }
  }

  /** @returns whether each could be read; what can't be is left out where that may be */
  async #keepAll(part: Part, names: Iterable<TileName>): Promise<boolean> {
    let isWhole = true;
    for (const name of names)
      try {
        await this.#keep(part, name);
      } catch (error) {
        if (!(error instanceof LogDamagedError && this.#mayPass(part.slug))) throw error;
        isWhole = false;
      }
    return isWhole;
  }

  async #keep({ slug, tree }: Part, name: TileName): Promise<void> {
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

  #tellPassed(passed: readonly PassedOver[]): Promise<void> {
    return this.#says.tellPassed(passed, this.#cursor, this.#stop.signal);
  }

  #mayPass(slug: string): boolean {
    return this.#options.skipDamaged.includes(slug);
  }

  #indexIn(slug: string): number {
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
    if (message !== this.#error)
      this.#options.log.error({ err: error }, "the log can't be copied; it is tried again");
    this.#error = message;
    if (!this.#isReportedFailing) this.#report("failing");
  }

  #report(state: "failing" | "recovered"): void {
    this.#isReportedFailing = state === "failing";
    this.#says.say(state, this.#cursor);
  }
}

/** One after the other: a tree has a file for each 256 entries, of which a handful are partial. */
function* partialFilesOf(size: number): Generator<TileName> {
  for (const name of filesOfTree(size)) if (name.width < TILE_WIDTH) yield name;
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
