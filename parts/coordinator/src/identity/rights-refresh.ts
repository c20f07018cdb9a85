/**
 * Gives buckets of an older program the rights of this one, in the background: the object store may not be up yet, and nobody waits for it.
 * Where nothing changed, the store is asked nothing.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import type { BucketKeys } from "./bucket-keys.ts";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export class RightsRefresh implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(
    bucketKeys: Pick<BucketKeys, "refreshRights">,
    logger: Pick<FastifyBaseLogger, "info" | "warn">,
  ) {
    this.#running = this.#run(bucketKeys, logger);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(
    bucketKeys: Pick<BucketKeys, "refreshRights">,
    logger: Pick<FastifyBaseLogger, "info" | "warn">,
  ): Promise<void> {
    const { signal } = this.#stop;
    let known = "";
    for (
      let pauseMs = FIRST_PAUSE_MS;
      !signal.aborted;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    ) {
      const { refreshed, left, error } = await bucketKeys
        .refreshRights(signal)
        .catch((thrown: unknown) => ({
          ...{ refreshed: 0, left: 1 },
          error: thrown,
        }));
      if (refreshed > 0)
        logger.info({ refreshed, left }, "buckets of an older program have the rights of this one");
      if (left === 0) return;
      const reason = String(error);
      if (error !== null && reason !== known)
        logger.warn({ err: error, left }, "rights of buckets are tried again");
      known = reason;
      await pause(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}
