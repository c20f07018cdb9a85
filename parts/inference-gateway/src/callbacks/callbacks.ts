/**
 * Answers on their way to whom a deployment or a call named. One is posted again until its receiver has taken it, and given up after
 * {@link MAX_TRIES}; both are on record before it is forgotten. So it comes at least once, and may come twice.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Readable } from "node:stream";
import type { Logger } from "pino";
import type { Outbound } from "../outbound/outbound.ts";
import { OutboundError } from "../outbound/outbound-error.ts";
import { readOutboundUrl } from "../outbound/outbound-url.ts";
import type { OutLine } from "../records/call-line.ts";
import type { CallRecorder } from "../records/call-recorder.ts";
import type { Callback } from "./callback.ts";
import type { CallbackSpool, Kept } from "./callback-spool.ts";
import { nextTryMs } from "./next-try.ts";
import { postCallback } from "./post-callback.ts";

/** At once: of all, and of one deployment, so that a receiver that does not answer holds nobody else up. */
const MOST_AT_ONCE = 64;
const MOST_OF_ONE = 4;
/** What could not be put on record, or on the disk, waits so long. */
const STUCK_MS = 5_000;
/** The longest that a timer of Node's may wait is not enough for a clock that was set back. */
const LONGEST_SLEEP_MS = 60_000;

export type CallbackParts = {
  spool: CallbackSpool;
  outbound: Pick<Outbound, "receiver" | "open">;
  records: Pick<CallRecorder, "note" | "isAvailable">;
  log: Pick<Logger, "info" | "warn">;
};

export class Callbacks implements AsyncDisposable {
  readonly #parts: CallbackParts;
  readonly #nextTryMs: (tries: number) => number | null;
  /** By the call's id. */
  readonly #underWay = new Map<string, { deployment: string; ended: Promise<void> }>();
  /** Not before, by the call's id: tries that say nothing of the receiver. */
  readonly #stuckUntil = new Map<string, number>();
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    parts: CallbackParts,
    nextMs: (tries: number) => number | null = (tries) => nextTryMs(tries, Math.random()),
  ) {
    this.#parts = parts;
    this.#nextTryMs = nextMs;
    this.#look();
  }

  /** Whether one more answer may wait. */
  hasPlace(deployment: string): boolean {
    return this.#parts.spool.hasPlace(deployment);
  }

  /**
   * From when it resolves the answer is posted until somebody has taken it.
   * @returns the body once more, for the caller: it can be read also when it was posted meanwhile
   * @throws as {@link CallbackSpool.keep}
   */
  async keep(kept: Kept, secret: string, body: AsyncIterable<Uint8Array>): Promise<Readable> {
    const { spool } = this.#parts;
    const again = spool.read(await spool.keep(kept, secret, body));
    await once(again, "open");
    this.#look();
    return again;
  }

  /** What is under way is cut off, and tried again in the next life. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopped.abort();
    await Promise.all([...this.#underWay.values()].map(({ ended }) => ended));
  }

  #look(): void {
    clearTimeout(this.#timer);
    if (this.#stopped.signal.aborted) return;
    // Nothing could be put on record, so nobody is told anything.
    if (!this.#parts.records.isAvailable) return this.#lookIn(STUCK_MS);
    const now = Date.now();
    let next = Number.POSITIVE_INFINITY;
    const busy = new Map<string, number>();
    for (const { deployment } of this.#underWay.values())
      busy.set(deployment, (busy.get(deployment) ?? 0) + 1);
    for (const callback of this.#parts.spool.all()) {
      const { id, deployment } = callback;
      if (this.#underWay.size >= MOST_AT_ONCE) break;
      if (this.#underWay.has(id) || (busy.get(deployment) ?? 0) >= MOST_OF_ONE) continue;
      const at = Math.max(callback.nextAt, this.#stuckUntil.get(id) ?? 0);
      if (at > now) {
        next = Math.min(next, at);
        continue;
      }
      busy.set(deployment, (busy.get(deployment) ?? 0) + 1);
      this.#begin(callback);
    }
    this.#lookIn(Math.min(Math.max(1, next - now), LONGEST_SLEEP_MS));
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  #begin(callback: Callback): void {
    const { id, deployment } = callback;
    this.#stuckUntil.delete(id);
    const ended = this.#post(callback)
      .catch((err: unknown) => {
        if (!this.#stopped.signal.aborted)
          this.#parts.log.warn({ err, call: id }, "a callback is stuck");
        this.#stuckUntil.set(id, Date.now() + STUCK_MS);
      })
      .then(() => {
        this.#underWay.delete(id);
        this.#look();
      });
    this.#underWay.set(id, { deployment, ended });
  }

  /** @throws what says nothing of the receiver: the log or the disk does not take it, the gateway stops */
  async #post(callback: Callback): Promise<void> {
    const { spool, outbound, records, log } = this.#parts;
    const tries = callback.tries + 1;
    await records.note({ ...outOf(callback), step: "begun", urlSha256: sha256Of(callback.url) });
    const failure = await postCallback(
      ...([outbound, callback, spool.read(callback), this.#stopped.signal] as const),
    ).then(
      () => null,
      (error: unknown) => {
        if (!(error instanceof OutboundError)) throw error;
        return error;
      },
    );
    const nextMs = failure === null ? null : this.#nextTryMs(tries);
    if (failure !== null && nextMs !== null) {
      log.info({ err: failure, call: callback.id, tries, nextMs }, "a callback was not taken");
      return await spool.update({ ...callback, tries, nextAt: Date.now() + nextMs });
    }
    const result = failure === null ? "done" : failure.code;
    if (failure !== null) log.warn({ err: failure, call: callback.id }, "a callback is given up");
    await records.note({ ...outOf(callback), step: "ended", result, tries });
    await spool.remove(callback);
  }
}

function outOf({ id, deployment, project, url }: Callback) {
  const { host, port } = readOutboundUrl(url);
  return {
    ...{ kind: "out", id, at: new Date().toISOString(), deployment, project },
    ...{ purpose: "callback", to: `${host}:${port}` },
  } as const satisfies Partial<OutLine>;
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
