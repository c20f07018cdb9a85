/**
 * The one key pair of a bucket: made, replaced, and swept after a crash.
 *
 * Order of a change: row names the new pair → engine makes it → policy names it alone → row promotes it → engine forgets the
 * old pair → row is settled. The policy names one principal, so the old pair has lost the bucket before it is gone itself.
 */
import { randomBytes } from "node:crypto";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { ApiError } from "../api-error.ts";
import { BUCKET_RIGHTS, bucketPolicy } from "../storage/decisions/bucket-policy.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { S3Credentials } from "../storage/s3-transport.ts";
import type { S3Users } from "../storage/s3-users.ts";
import {
  bucketsToWithdraw,
  bucketsWithOtherRights,
  notePendingPair,
  noteRights,
  pairWithOtherRights,
  promotePair,
  retirePair,
  settlePair,
  type UnsettledPair,
  unsettledPairs,
} from "./bucket-store.ts";

export type BucketKeysDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  store: Pick<ObjectStore, "setBucketPolicy">;
  users: S3Users;
};

export class BucketKeys {
  readonly #deps: BucketKeysDeps;
  readonly #changing = new Set<string>();
  /** Buckets that are being given the rights of now: whoever changes their pair waits for that, a request long. */
  readonly #refreshing = new Map<string, Promise<void>>();

  constructor(deps: BucketKeysDeps) {
    this.#deps = deps;
  }

  /**
   * A new pair for the bucket; the one before it is refused from the engine's next request on.
   * @param settled runs with the last change of the row, for the audit outcome and the caller's own rows
   * @throws ApiError rotation_in_progress
   */
  async replace(bucket: string, settled: (db: WriteHandle) => void): Promise<S3Credentials> {
    await this.#refreshing.get(bucket);
    if (this.#changing.has(bucket))
      throw new ApiError("rotation_in_progress", "the key of this bucket is being replaced");
    this.#changing.add(bucket);
    const { commit, users, store } = this.#deps;
    try {
      await this.#settle(
        unsettledPairs(this.#deps.read).filter((pairs) => pairs.bucket === bucket),
      );
      const pair = newPair();
      await commit.run((db) => notePendingPair(db, bucket, pair.accessKeyId));
      await users.create(pair);
      await store.setBucketPolicy(bucket, bucketPolicy(bucket, pair.accessKeyId));
      const retired = await commit.run((db) => promotePair(db, bucket, BUCKET_RIGHTS));
      if (retired !== null) await users.remove(retired);
      await commit.run((db) => {
        settlePair(db, bucket);
        settled(db);
      });
      return pair;
    } finally {
      this.#changing.delete(bucket);
    }
  }

  /**
   * Takes the bucket's pair away: nobody's key opens the bucket until {@link replace} makes a new pair.
   * @param settled as for {@link replace}
   * @throws ApiError rotation_in_progress
   */
  async withdraw(bucket: string, settled: (db: WriteHandle) => void): Promise<void> {
    await this.#refreshing.get(bucket);
    if (this.#changing.has(bucket))
      throw new ApiError("rotation_in_progress", "the key of this bucket is being replaced");
    this.#changing.add(bucket);
    const { commit, users } = this.#deps;
    try {
      await this.#settle(
        unsettledPairs(this.#deps.read).filter((pairs) => pairs.bucket === bucket),
      );
      const retired = await commit.run((db) => retirePair(db, bucket));
      if (retired !== null) await users.remove(retired);
      await commit.run((db) => {
        settlePair(db, bucket);
        settled(db);
      });
    } finally {
      this.#changing.delete(bucket);
    }
  }

  /** Takes from the engine what a crash left between two steps. Called at start, before any port opens. */
  async sweep(): Promise<void> {
    await this.#settle(unsettledPairs(this.#deps.read));
    for (const bucket of bucketsToWithdraw(this.#deps.read)) await this.withdraw(bucket, () => {});
  }

  /**
   * Gives every bucket whose pair has the rights of an older program those of this one; safe to repeat. One that fails keeps no other waiting.
   * @param signal after it no further bucket is begun
   * @returns how many have them now, how many are left, and why the last one of these is
   */
  async refreshRights(
    signal: AbortSignal,
  ): Promise<{ refreshed: number; left: number; error: unknown }> {
    let refreshed = 0;
    let error: unknown = null;
    for (const bucket of bucketsWithOtherRights(this.#deps.read, BUCKET_RIGHTS)) {
      if (signal.aborted) break;
      // A new pair comes with them.
      const accessKeyId = this.#changing.has(bucket)
        ? null
        : pairWithOtherRights(this.#deps.read, bucket, BUCKET_RIGHTS);
      if (accessKeyId === null) continue;
      const giving = this.#giveRights(bucket, accessKeyId);
      this.#refreshing.set(
        bucket,
        giving.catch(() => {}),
      );
      try {
        await giving;
        refreshed += 1;
      } catch (thrown) {
        error = thrown;
      } finally {
        this.#refreshing.delete(bucket);
      }
    }
    return {
      refreshed,
      left: bucketsWithOtherRights(this.#deps.read, BUCKET_RIGHTS).length,
      error,
    };
  }

  async #giveRights(bucket: string, accessKeyId: string): Promise<void> {
    const { commit, store } = this.#deps;
    await store.setBucketPolicy(bucket, bucketPolicy(bucket, accessKeyId));
    await commit.run((db) => noteRights(db, bucket, BUCKET_RIGHTS));
  }

  async #settle(unsettled: readonly UnsettledPair[]): Promise<void> {
    const { commit, users, store } = this.#deps;
    for (const { bucket, accessKeyId, pending, retired } of unsettled) {
      // The policy may already name the pending pair, whose secret nobody has seen.
      if (pending !== null && accessKeyId !== null)
        await store.setBucketPolicy(bucket, bucketPolicy(bucket, accessKeyId));
      for (const stray of [pending, retired]) if (stray !== null) await users.remove(stray);
      await commit.run((db) => settlePair(db, bucket));
    }
  }
}

function newPair(): S3Credentials {
  return {
    accessKeyId: `RT${randomBytes(10).toString("hex").toUpperCase()}`,
    secretAccessKey: randomBytes(32).toString("base64url"),
  };
}
