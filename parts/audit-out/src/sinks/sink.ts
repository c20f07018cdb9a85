/**
 * Brings the log to one receiver: at least once, in order, from where its cursor stands. The cursor moves only behind what the receiver has for good, so
 * whatever fails is sent again; nobody waits for a receiver, and no more than one bundle of entries is held for it.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { parseLeaf } from "@resontech/audit/format/event/leaf";
import type { LeafBatch, LogFollower, MayPass } from "../follow/log-follower.ts";
import type { Position } from "../follow/position.ts";
import type { ExportedEvent } from "../formats/exported-event.ts";
import type { Reporter } from "../reporter.ts";
import type { CursorFile } from "./cursor-file.ts";
import type { OpenReceiver, Receiver } from "./receiver.ts";
import { SinkReport } from "./sink-report.ts";

const LAST_RETRY_MS = 60_000;
/** So many entries may be sent again after a failure: then the receiver confirms, however little time has passed. */
const MAX_UNCONFIRMED = 10_000;
/** The log says so at most so often of one receiver: one that comes and goes must not fill it. */
const REPORT_MS = 60_000;

export type SinkOptions = {
  name: string;
  open: OpenReceiver;
  /** Shards whose damaged part it goes past: what it never gets is told in the log. */
  skipDamaged: readonly string[];
  cursor: CursorFile;
  follower: LogFollower;
  reporter: Reporter;
  log: Logger;
  /** First pause after a failure; it doubles up to a minute. */
  retryMs: number;
  /** So often the receiver confirms what it got. */
  confirmMs: number;
};

export type SinkStatus = {
  name: string;
  state: "running" | "failing";
  /** Behind the last entry that the receiver has for good; null while it has none. */
  cursor: Position | null;
  /** Entries that it does not have for good. */
  lag: number;
  /** The last failure, until something got through again. */
  error: string | null;
};

export class Sink implements AsyncDisposable {
  readonly #options: SinkOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #mayPass: MayPass;
  readonly #says: SinkReport;
  #cursor: Position | null;
  #error: string | null = null;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #isReportedFailing = false;

  private constructor(options: SinkOptions, cursor: Position | null) {
    this.#options = options;
    this.#cursor = cursor;
    this.#says = new SinkReport(options);
    this.#mayPass = ({ slug }) => options.skipDamaged.includes(slug);
    this.#running = this.#run();
  }

  /** @throws ConfigError when its cursor can't be read */
  static async start(options: SinkOptions): Promise<Sink> {
    return new Sink(options, await options.cursor.read());
  }

  get status(): SinkStatus {
    return {
      name: this.#options.name,
      state: this.#error === null ? "running" : "failing",
      cursor: this.#cursor,
      lag: this.#options.follower.entriesFrom(this.#cursor),
      error: this.#error,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let retryMs = this.#options.retryMs;
    while (!signal.aborted) {
      try {
        // Nothing is opened for nothing: a receiver that is away is no failure while there is nothing to bring.
        await this.#options.follower.next(this.#cursor, signal, this.#mayPass);
        await using receiver = await this.#options.open(signal);
        retryMs = this.#options.retryMs;
        await this.#feed(receiver);
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(error);
      }
      if (this.#error === null) continue;
      await pause(retryMs, undefined, { signal }).catch(() => {});
      retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
    }
  }

  /** Sends until the receiver's confirmation is due, and has it confirm: once in a while, after many entries, and when the process stops. */
  async #feed(receiver: Receiver): Promise<void> {
    const { follower, confirmMs } = this.#options;
    const { signal } = this.#stop;
    const due = AbortSignal.any([signal, AbortSignal.timeout(confirmMs)]);
    let sent = this.#cursor;
    for (let unconfirmed = 0; unconfirmed < MAX_UNCONFIRMED && !due.aborted; ) {
      const batch = await follower.next(sent, due, this.#mayPass).catch((error: unknown) => {
        // What was sent counts, whatever comes behind it; a fault is met again at its place.
        if (due.aborted || unconfirmed > 0) return null;
        throw error;
      });
      if (batch === null) break;
      await this.#says.tellPassed(batch.passed, this.#cursor, signal);
      await receiver.send(exportedOf(batch), signal);
      sent = { slug: batch.slug, index: batch.firstIndex + batch.leaves.length };
      unconfirmed += batch.leaves.length;
    }
    if (sent === null || sent === this.#cursor) return;
    await receiver.confirm();
    await this.#advance(sent);
  }

  async #advance(to: Position): Promise<void> {
    await this.#options.cursor.write(to);
    this.#cursor = to;
    if (this.#error !== null)
      this.#options.log.info({ sink: this.#options.name }, "the receiver takes entries again");
    this.#error = null;
    if (this.#isReportedFailing) this.#report("recovered");
  }

  #failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (this.#error !== message)
      this.#options.log.warn(
        { err: error, sink: this.#options.name },
        "the receiver takes nothing; it is tried again",
      );
    this.#error = message;
    if (!this.#isReportedFailing && performance.now() - this.#reportedAt >= REPORT_MS)
      this.#report("failing");
  }

  #report(state: "failing" | "recovered"): void {
    this.#isReportedFailing = state === "failing";
    this.#reportedAt = performance.now();
    this.#says.say(state, this.#cursor);
  }
}

function exportedOf({ origin, firstIndex, leaves, hashes, treeSize }: LeafBatch): ExportedEvent[] {
  return leaves.map((leaf, at) => ({
    ...{
      event: parseLeaf(leaf),
      leaf: leaf.toString("utf8"),
      leafHash: hashes[at]!.toString("hex"),
    },
    ...{ index: firstIndex + at, origin, treeSize },
  }));
}
