/**
 * Key pairs of buckets, one a member: made, replaced, taken away, and swept after a crash.
 *
 * Order of a change: row names the new pair → engine makes it → policy names it beside those of the other members → row promotes it → engine
 * forgets the old pair → row is settled. The policy names good pairs alone, so the old one has lost the bucket before it is gone itself.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { Turns } from "@resontech/frame/turns";
import type { RecordEvent } from "../audit-ports.ts";
import { COORDINATOR_ACTOR } from "../authorization/in-the-log.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { ApiError } from "../api-error.ts";
import { BUCKET_RIGHTS, bucketPolicy } from "../storage/decisions/bucket-policy.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { S3Credentials } from "../storage/s3-transport.ts";
import type { S3Users } from "../storage/s3-users.ts";
import { findBucket } from "./bucket-store.ts";
import { maySeeData } from "./data-rights.ts";
import { rolesOf } from "./role-holders.ts";
import {
  bucketsWithOtherRights,
  findAccessKey,
  livingAccessKeys,
  notePendingPair,
  noteRights,
  pairsBesideDuties,
  type PairOf,
  type PairToWithdraw,
  pairsOf,
  pairsToWithdraw,
  promotePair,
  retirePair,
  reconcilePair,
  unsettledPairs,
} from "./pair-store.ts";

export type BucketKeysDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  store: Pick<ObjectStore, "setBucketPolicy">;
  users: S3Users;
  record: RecordEvent;
  /** Access keys that the engine has just forgotten: whoever remembers whose they are forgets it, too. */
  onForgotten: (accessKeyIds: readonly string[]) => void;
  /** Unix milliseconds. */
  now: () => number;
};

export class BucketKeys {
  readonly #deps: BucketKeysDeps;
  /** One policy names the pairs of all members: changes of a bucket come one after the other. */
  readonly #turns = new Map<string, Turns>();
  readonly #changing = new Set<string>();

  constructor(deps: BucketKeysDeps) {
    this.#deps = deps;
  }

  /**
   * A new pair of the user for the bucket; the one before it is refused from the engine's next request on, and those of others stay good.
   * @param settled runs with the last change of the row, for the audit outcome and the caller's own rows
   * @throws ApiError rotation_in_progress; not_found for a user who has no part in the bucket; role_conflict for one whose duty leaves no data
   */
  replace(
    bucket: string,
    userId: string,
    settled: (db: WriteHandle) => void,
  ): Promise<S3Credentials> {
    const of = { bucket, userId };
    return this.#once(of, async () => {
      const { read, commit, users, now } = this.#deps;
      const pair = newPair();
      const isMember = await commit.run((db) => {
        requireNoDuty(db, of);
        return notePendingPair(db, of, pair.accessKeyId, now());
      });
      if (!isMember) throw new ApiError("not_found", "this user has no part in the bucket");
      await users.create(pair);
      const old = findAccessKey(read, of);
      const others = livingAccessKeys(read, bucket).filter((key) => key !== old);
      await this.#setPolicy(bucket, [...others, pair.accessKeyId]);
      const retired = await commit.run((db) => promotePair(db, of, BUCKET_RIGHTS));
      if (retired !== null) await users.remove(retired);
      await commit.run((db) => {
        reconcilePair(db, of);
        settled(db);
      });
      this.#tellForgotten([retired]);
      return pair;
    });
  }

  /**
   * Takes the user's pair away, one that is being made as well: no key of the user opens the bucket until {@link replace} makes a new pair.
   * @param settled as for {@link replace}
   */
  withdraw(bucket: string, userId: string, settled: (db: WriteHandle) => void): Promise<void> {
    const of = { bucket, userId };
    return this.#alone(bucket, async () => {
      const { commit } = this.#deps;
      const retired = await commit.run((db) => retirePair(db, of));
      await this.#forget(bucket, [retired]);
      await commit.run((db) => {
        reconcilePair(db, of);
        settled(db);
      });
      this.#tellForgotten([retired]);
    });
  }

  /** {@link withdraw} of every bucket. @param settled runs with the last change */
  async withdrawAll(userId: string, settled: (db: WriteHandle) => void): Promise<void> {
    for (const { bucket } of pairsOf(this.#deps.read, userId))
      await this.withdraw(bucket, userId, () => {});
    await this.#deps.commit.run(settled);
  }

  /**
   * Takes from the engine what a crash left between two steps, or what the engine did not hear of while it was away, and the pairs of people who left.
   * Called at start, before any port opens, and now and then.
   */
  async sweep(): Promise<void> {
    const { read, now } = this.#deps;
    for (const { bucket } of unsettledPairs(read, null)) await this.#alone(bucket, async () => {});
    for (const pair of pairsToWithdraw(read, now())) await this.#withdrawBecause(pair);
    await this.review(null);
  }

  /**
   * Takes away pairs of people whose duties leave them no data, by the policies in force. Called after each change of who holds which duty: the engine asks
   * nobody. @param userId null: of everybody
   */
  async review(userId: string | null): Promise<void> {
    const { read } = this.#deps;
    for (const pair of pairsBesideDuties(read, userId))
      if (!maySeeData(read, pair)) await this.#withdrawBecause({ ...pair, why: "duty" });
  }

  #withdrawBecause({ bucket, userId, logId, why }: PairToWithdraw): Promise<void> {
    return this.withdraw(bucket, userId, (db) => {
      if (why === "ended") return;
      this.#deps.record(db, {
        ...{ type: "key.bucket.withdraw", phase: "fact", op: randomUUID() },
        ...{ actor: COORDINATOR_ACTOR, object: { kind: "bucket", id: logId } },
        detail: { user: userId, reason: why },
      });
    });
  }

  /**
   * Gives every bucket whose pairs have the rights of an older program those of this one; safe to repeat. One that fails keeps no other waiting.
   * @param signal after it no further bucket is begun
   * @returns how many have them now, how many are left, and why the last one of these is
   */
  async refreshRights(
    signal: AbortSignal,
  ): Promise<{ refreshed: number; left: number; error: unknown }> {
    const { read, commit } = this.#deps;
    let refreshed = 0;
    let error: unknown = null;
    for (const bucket of bucketsWithOtherRights(read, BUCKET_RIGHTS)) {
      if (signal.aborted) break;
      await this.#turnOf(bucket).run(async () => {
        // A new pair comes with them, and the last one may be gone meanwhile.
        if (!bucketsWithOtherRights(read, BUCKET_RIGHTS).includes(bucket)) return;
        try {
          await this.#setPolicy(bucket, livingAccessKeys(read, bucket));
          await commit.run((db) => noteRights(db, bucket, BUCKET_RIGHTS));
          refreshed += 1;
        } catch (thrown) {
          error = thrown;
        }
      });
    }
    const left = bucketsWithOtherRights(read, BUCKET_RIGHTS).length;
    return { refreshed, left, error };
  }

  /** A second pair while the first is being made is refused: the first would be void when it is answered. */
  async #once<T>({ bucket, userId }: PairOf, change: () => Promise<T>): Promise<T> {
    const name = `${bucket} ${userId}`;
    if (this.#changing.has(name))
      throw new ApiError("rotation_in_progress", "the key pair for this bucket is being replaced");
    this.#changing.add(name);
    try {
      return await this.#alone(bucket, change);
    } finally {
      this.#changing.delete(name);
    }
  }

  /** In the bucket's turn, after what a crash left there is settled. */
  #alone<T>(bucket: string, change: () => Promise<T>): Promise<T> {
    return this.#turnOf(bucket).run(async () => {
      await this.#settle(bucket);
      return await change();
    });
  }

  #turnOf(bucket: string): Turns {
    const turns = this.#turns.get(bucket) ?? new Turns();
    this.#turns.set(bucket, turns);
    return turns;
  }

  async #settle(bucket: string): Promise<void> {
    for (const { pending, retired, ...of } of unsettledPairs(this.#deps.read, bucket)) {
      // The policy may already name the pending pair, whose secret nobody has seen.
      await this.#forget(of.bucket, [pending, retired]);
      await this.#deps.commit.run((db) => reconcilePair(db, of));
      this.#tellForgotten([pending, retired]);
    }
  }

  /** After the row is settled: whoever asks from then on hears that nobody's key it is. */
  #tellForgotten(accessKeyIds: readonly (string | null)[]): void {
    const gone = accessKeyIds.filter((one) => one !== null);
    if (gone.length > 0) this.#deps.onForgotten(gone);
  }

  /** No pair but the good ones opens the bucket from here on. */
  async #forget(bucket: string, strays: readonly (string | null)[]): Promise<void> {
    const { read, users } = this.#deps;
    const gone = strays.filter((stray) => stray !== null);
    if (gone.length === 0) return;
    const living = livingAccessKeys(read, bucket);
    // A policy names somebody: without any the engine's forgetting is what refuses.
    if (living.length > 0) await this.#setPolicy(bucket, living);
    for (const stray of gone) await users.remove(stray);
  }

  #setPolicy(bucket: string, accessKeyIds: readonly string[]): Promise<void> {
    return this.#deps.store.setBucketPolicy(bucket, bucketPolicy(bucket, accessKeyIds));
  }
}

/** @throws ApiError role_conflict for a person whose duty leaves no data */
function requireNoDuty(db: WriteHandle, { bucket, userId }: PairOf): void {
  if (rolesOf(db, userId).length === 0) return;
  const projectId = findBucket(db, bucket)?.projectId;
  if (projectId !== undefined && !maySeeData(db, { userId, projectId }))
    throw new ApiError("role_conflict", "a duty of this person leaves no key pair for data");
}

function newPair(): S3Credentials {
  return {
    accessKeyId: `RT${randomBytes(10).toString("hex").toUpperCase()}`,
    secretAccessKey: randomBytes(32).toString("base64url"),
  };
}
