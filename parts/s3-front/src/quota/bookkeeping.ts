/** What one request did to the ledger of its bucket, told once, from the engine's answer. */
import { LEAST_COST_BYTES, storageCost } from "@resontech/contracts/storage-cost";
import type { BucketLedger } from "../decisions/bucket-ledger.ts";
import type { S3Request } from "../decisions/classify.ts";
import type { Answer } from "../decisions/records.ts";
import type { QuotaKeeper, Room } from "./quota-keeper.ts";

/** Of the engine's answer to a change. */
type Told = {
  headers: ReadonlyMap<string, string>;
  /** Its body where that is a document. */
  document: string;
  /** How many the request's list of parts, or of objects to delete, names. */
  parts: number;
  /** Bytes of what a copy has made; `reserved` where they can't be others than were reserved, null where nobody could find out. */
  copied: number | "reserved" | null;
};

export class Bookkeeping {
  readonly #quota: QuotaKeeper;
  readonly #asked: S3Request;
  readonly #room: Room | null;
  readonly #epoch: number;
  /** Of the upload that the request ends with an object. */
  readonly #completion: { ledger: BucketLedger; id: number } | null;
  #isTold = false;

  /** @param isOwned whether the bucket is known to be somebody's: no ledger is begun for the names that strangers think of */
  constructor(quota: QuotaKeeper, asked: S3Request, room: Room | null, isOwned: boolean) {
    this.#quota = quota;
    this.#asked = asked;
    this.#room = room;
    this.#epoch = this.#ledger?.epoch ?? 0;
    this.#completion = this.#completionOf(asked, isOwned);
  }

  answered({ status, code }: Answer, told: Told): void {
    if (this.#isTold) return;
    this.#isTold = true;
    if (status >= 300 || code !== null) {
      this.#room?.gaveBack();
      this.#completion?.ledger.notCompleted(this.#completion.id);
      return;
    }
    this.#room?.stored(typeof told.copied === "number" ? storageCost(told.copied) : undefined);
    this.#took(told);
  }

  /** There was no answer: whatever was forwarded may have happened. */
  broken(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#room?.unknown();
    this.#completion?.ledger.notCompleted(this.#completion.id);
    this.#ledger?.shrank();
  }

  get #ledger() {
    return this.#asked.bucket === null ? null : this.#quota.ledger(this.#asked.bucket);
  }

  #completionOf(
    { operation, bucket, uploadId }: S3Request,
    isOwned: boolean,
  ): { ledger: BucketLedger; id: number } | null {
    const { trace } = operation;
    if (
      trace.kind !== "multipart" ||
      trace.step !== "complete" ||
      bucket === null ||
      uploadId === null
    )
      return null;
    const ledger = isOwned ? this.#quota.keep(bucket) : this.#ledger;
    return ledger === null ? null : { ledger, id: ledger.completionBegins(uploadId) };
  }

  #took({ headers, document, parts, copied }: Told): void {
    const { operation, uploadId, bucket } = this.#asked;
    if (bucket === null) return;
    if (operation.trace.kind === "multipart" && operation.trace.step === "open") {
      const opened = /<UploadId>([^<]{1,128})<\/UploadId>/.exec(document)?.[1];
      if (opened !== undefined) this.#quota.keep(bucket).uploadOpened(opened);
      if (this.#room === null) this.#ledger?.added(LEAST_COST_BYTES);
    }
    const ledger = this.#ledger;
    if (ledger === null) return;
    switch (operation.trace.kind) {
      case "write":
        // Without a version the object before it is gone.
        if (!headers.has("x-amz-version-id")) ledger.shrank();
        if (copied === null || (this.#room === null && copied !== "reserved")) ledger.grew();
        return;
      case "part":
        if (copied === null) ledger.grew();
        return;
      case "multipart":
        if (uploadId === null || operation.trace.step === "open") return;
        if (operation.trace.step === "complete")
          this.#completion?.ledger.completed(this.#completion.id, parts);
        else ledger.uploadAborted(uploadId, this.#epoch);
        // The upload itself is gone, and what its parts were rounded up by.
        ledger.shrank();
        return;
      case "delete":
        if (this.#asked.versionId === null) ledger.added(LEAST_COST_BYTES);
        // Upon a marker the engine sets none, and a version takes away what nobody tells.
        ledger.shrank();
        return;
      case "delete-many":
        ledger.added(parts * LEAST_COST_BYTES);
        ledger.shrank();
        return;
      case "bucket-change":
        if (operation.trace.aspect === "bucket") this.#quota.forget(bucket);
        else ledger.grew();
        return;
      case "change":
      case "key-change":
      case "read":
      case "list":
      case "inspect":
        return;
    }
  }
}
