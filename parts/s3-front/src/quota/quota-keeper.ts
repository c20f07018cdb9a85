/** Grants room in buckets: one ledger each, and one listing at a time where a ledger asks for it. */
import { setTimeout as sleep } from "node:timers/promises";
import { SharedRun } from "@resontech/frame/shared-run";
import { type CoordinatorLink, CoordinatorUnavailable } from "../coordinator/coordinator-link.ts";
import { BucketLedger, type Part } from "../decisions/bucket-ledger.ts";
import { S3Refusal } from "../decisions/s3-error.ts";

/** A bucket of a million versions is listed in this time. */
const LISTING_MS = 300_000;
/** Longest wait for writes that the last listing may have seen already; after it their bytes count twice for this one refusal. */
const WAIT_MS = 2_000;
const WAIT_STEP_MS = 20;
/** A quota that the operator changes holds after this time. */
const QUOTA_LIFE_MS = 5_000;
const ASK_MS = 5_000;

/** Room for one write; exactly one of the three ends it. */
export type Room = {
  stored: (copiedBytes?: number) => void;
  gaveBack: () => void;
  unknown: () => void;
};

type Kept = {
  ledger: BucketLedger;
  readonly listing: SharedRun;
  /** Writes that come while the quota is asked for wait for it: none is judged by one that is older than {@link QUOTA_LIFE_MS}. */
  readonly asking: SharedRun;
  /** When its quota was asked for last, by the monotonic clock. */
  quotaAt: number;
};

export class QuotaKeeper {
  readonly #link: CoordinatorLink;
  readonly #buckets = new Map<string, Kept>();

  constructor(link: CoordinatorLink) {
    this.#link = link;
  }

  /**
   * Reserves room before a byte is taken.
   * @param tellsNumbers whether a refusal may say how full the bucket is
   * @throws S3Refusal QuotaExceeded, NoSuchBucket, ServiceUnavailable · CoordinatorUnavailable when the bucket can't be counted
   */
  async room(
    bucket: string,
    storedBytes: number,
    part: Part | null,
    tellsNumbers: boolean,
  ): Promise<Room> {
    const giveUpAt = performance.now() + WAIT_MS;
    for (;;) {
      const kept = this.#kept(bucket);
      if (kept.listing.isUnderWay) {
        await kept.listing.idle();
        continue;
      }
      await this.#refreshQuota(bucket, kept);
      const { ledger } = kept;
      const verdict = ledger.ask(storedBytes, part);
      switch (verdict.kind) {
        case "granted": {
          const { reservation } = verdict;
          return {
            stored: (copiedBytes) => ledger.stored(reservation, copiedBytes),
            gaveBack: () => ledger.gaveBack(reservation),
            unknown: () => ledger.unknown(reservation),
          };
        }
        case "count":
          await this.#list(bucket, kept);
          break;
        case "wait":
          if (performance.now() < giveUpAt) await sleep(WAIT_STEP_MS);
          else throw quotaExceeded(storedBytes);
          break;
        case "blind":
          if (performance.now() > giveUpAt)
            throw new S3Refusal(
              "ServiceUnavailable",
              "an upload is being completed whose size is not known; try again",
            );
          await sleep(WAIT_STEP_MS);
          break;
        case "refused":
          throw quotaExceeded(storedBytes, tellsNumbers ? verdict : undefined);
      }
    }
  }

  /** Null for a bucket that nobody has written to yet: its first listing will tell. */
  ledger(bucket: string): BucketLedger | null {
    return this.#buckets.get(bucket)?.ledger ?? null;
  }

  /** The same for a bucket that is known to be there. */
  keep(bucket: string): BucketLedger {
    return this.#kept(bucket).ledger;
  }

  forget(bucket: string): void {
    this.#buckets.delete(bucket);
  }

  #kept(bucket: string): Kept {
    let kept = this.#buckets.get(bucket);
    if (kept === undefined) {
      kept = {
        ledger: new BucketLedger(),
        ...{ listing: new SharedRun(), asking: new SharedRun() },
        quotaAt: Number.NEGATIVE_INFINITY,
      };
      this.#buckets.set(bucket, kept);
    }
    return kept;
  }

  /** While the coordinator is away the quota stays that was told last: a count that is known needs nobody. */
  async #refreshQuota(bucket: string, kept: Kept): Promise<void> {
    // Before its first count nothing is known, and the count brings the quota along.
    if (!kept.ledger.isCounted || performance.now() - kept.quotaAt < QUOTA_LIFE_MS) return;
    await kept.asking.run(() => this.#askQuota(bucket, kept));
  }

  async #askQuota(bucket: string, kept: Kept): Promise<void> {
    const askedAt = performance.now();
    try {
      const { quotaBytes } = await this.#link.ask("quota", { bucket }, ASK_MS);
      if (quotaBytes !== null) kept.ledger.limitTo(quotaBytes);
      kept.quotaAt = askedAt;
    } catch (error) {
      if (!(error instanceof CoordinatorUnavailable)) throw error;
      kept.quotaAt = performance.now();
    }
  }

  async #list(bucket: string, kept: Kept): Promise<void> {
    await kept.listing.run(() => this.#listOnce(bucket, kept));
  }

  async #listOnce(bucket: string, kept: Kept): Promise<void> {
    kept.ledger.listingBegins();
    try {
      const { bucket: counted } = await this.#link.ask("bucket", { bucket }, LISTING_MS);
      if (counted === null) throw new S3Refusal("NoSuchBucket", "there is no such bucket");
      kept.ledger.listed(counted.quotaBytes, counted.usedBytes);
      kept.quotaAt = performance.now();
    } catch (error) {
      kept.ledger.listingFailed();
      // A bucket of nobody is not kept.
      if (error instanceof S3Refusal) this.#buckets.delete(bucket);
      throw error;
    }
  }
}

function quotaExceeded(
  bytes: number,
  known?: { quotaBytes: number; heldBytes: number },
): S3Refusal {
  const why =
    known === undefined
      ? ""
      : `: ${known.heldBytes} of ${known.quotaBytes} bytes are taken, ${bytes} were to come`;
  return new S3Refusal(
    "QuotaExceeded",
    `the bucket's quota is used up${why}; delete what is no longer needed, or ask the operator`,
    "bucket-quota",
  );
}
