/** Keeps the search index up with the log. */
import { access, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { SharedRun } from "@resontech/frame/shared-run";
import type { Logger } from "pino";
import { inOrder } from "@resontech/audit/format/shard/shard-plan";
import type { LogFollower, MayPass } from "../follow/log-follower.ts";
import { rowOfLeaf } from "./row-of-leaf.ts";
import { isDamagedIndex, type SearchIndex } from "./search-index.ts";

/** Once this file stands in the state folder the index is made anew. */
const REBUILD_MARK = "search.rebuild";
const MARK_CHECK_MS = 1_000;
const RETRY_MS = 5_000;

export function rebuildMark(stateDir: string): string {
  return join(stateDir, REBUILD_MARK);
}

/** Unlike a receiver, the index can be made anew once the shard is mended: meanwhile the shards behind it are found. */
const isDamaged: MayPass = ({ fault }) => fault !== null && fault.code !== "log_unreadable";

export class Indexer implements AsyncDisposable {
  readonly #index: SearchIndex;
  readonly #follower: LogFollower;
  readonly #log: Logger;
  readonly #mark: string;
  readonly #stop = new AbortController();
  /** Aborted when the index is made anew: then whatever was waited for is not what comes next. */
  #rebuilt = new AbortController();
  readonly #rebuilding = new SharedRun();
  readonly #running: Promise<unknown>;

  constructor(index: SearchIndex, follower: LogFollower, stateDir: string, log: Logger) {
    this.#index = index;
    this.#follower = follower;
    this.#log = log;
    this.#mark = rebuildMark(stateDir);
    this.#running = Promise.all([this.#run(), this.#watchMark()]);
  }

  /** Proven entries that can't be found yet. */
  get behind(): number {
    return this.#follower.entriesFrom(this.#index.position);
  }

  /** Call it with what a search threw. @returns whether the index is being made anew because of it */
  hasToRebuild(error: unknown): boolean {
    if (!isDamagedIndex(error)) return false;
    void this.#rebuild("it is damaged");
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const signal = AbortSignal.any([this.#stop.signal, this.#rebuilt.signal]);
      try {
        const from = this.#index.position;
        const { slug, firstIndex, leaves } = await this.#follower.next(from, signal, isDamaged);
        // The index was made anew while the entries were read: they are not the next ones any more.
        if (signal.aborted || (await this.#hasDroppedWhatChanged())) continue;
        await this.#index.whenScrubbed();
        if (signal.aborted) continue;
        this.#index.add(slug, firstIndex, leaves.map(rowOfLeaf));
      } catch (error) {
        if (signal.aborted || this.hasToRebuild(error)) continue;
        this.#log.error({ err: error }, "entries could not be indexed; they are tried again");
        await pause(RETRY_MS, undefined, { signal: this.#stop.signal }).catch(() => {});
      }
    }
  }

  /** A shard was deleted; or one that others follow was cut short by a restore, or was damaged and can be read again. */
  async #hasDroppedWhatChanged(): Promise<boolean> {
    const at = this.#index.position;
    const { shards } = this.#follower;
    const changed = shards.find(({ slug, tree, isSettled }) => {
      const missing = tree.size - this.#index.sizeOf(slug);
      return (
        isSettled && (missing < 0 || (missing > 0 && at !== null && inOrder(slug, at.slug) < 0))
      );
    });
    const [oldest] = shards;
    const isPast =
      oldest !== undefined && this.#index.slugs.some((slug) => inOrder(slug, oldest.slug) < 0);
    if (isPast) await this.#rebuild("a shard is past its retention");
    else if (changed !== undefined)
      await this.#rebuild(`the shard ${changed.slug} is not what was indexed of it`);
    return isPast || changed !== undefined;
  }

  async #watchMark(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const isMarked = await access(this.#mark).then(
        () => true,
        () => false,
      );
      if (isMarked) {
        // The mark goes last: a kill before that makes the index anew once more, and loses no request.
        await this.#rebuild("it was asked for");
        await rm(this.#mark, { force: true });
      }
      await pause(MARK_CHECK_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Several reasons at once make it anew once. */
  #rebuild(reason: string): Promise<void> {
    return this.#rebuilding.run(() => this.#rebuildOnce(reason));
  }

  async #rebuildOnce(reason: string): Promise<void> {
    this.#log.warn({ reason }, "the search index is made anew");
    await this.#index.whenScrubbed();
    this.#index.rebuild();
    this.#rebuilt.abort();
    this.#rebuilt = new AbortController();
  }
}
