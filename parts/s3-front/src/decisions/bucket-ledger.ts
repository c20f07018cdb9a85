/**
 * What one bucket holds, counted in memory from a listing on: all versions and markers, open uploads and their parts, each as what it costs.
 *
 * Invariant: `stored` plus what is reserved is never less than what the bucket holds and what is on its way, so a write that is granted
 * fits. Where the ledger can't know a number exactly it keeps the larger one and is in doubt; then nothing is refused before the bucket is
 * listed anew, so a write that fits is not refused either.
 *
 * A listing takes time, and what ends meanwhile may or may not be in it. No write is granted while one runs; what was on its way when it
 * began is `overlaps`. The listing itself looks at open uploads first and at versions afterwards: an upload that is completed in between is
 * seen twice. While the engine makes an object of an upload it shows neither, so what a completion under way is made of is added to each
 * listing that it overlaps; after its end the bucket is listed anew.
 */
export type Verdict =
  /** Settle it by `stored`, `gaveBack` or `unknown`. */
  | { kind: "granted"; reservation: number }
  | { kind: "refused"; quotaBytes: number; heldBytes: number }
  /** List the bucket, then ask again. */
  | { kind: "count" }
  /** Writes that the last listing may have seen already are still on their way: ask again when one has ended. */
  | { kind: "wait" }
  /** An upload of a size that nobody knows is being completed, and the last listing may have missed it: ask again when it has ended. */
  | { kind: "blind" };

export type Part = { uploadId: string; partNumber: number };

type Reservation = {
  growth: number;
  storedBytes: number;
  part: Part | null;
  overlaps: boolean;
  isContested: boolean;
};
type Upload = {
  /** Sizes that `stored` holds for certain. */
  parts: Map<number, number>;
  /** Parts that are there with a size that nobody knows for certain: another in their place counts in full. */
  vague: Set<number>;
  underWay: Map<number, number>;
};
/** Of an upload, on its way. `bytes` are null where nobody knows them. */
type Completion = { uploadId: string; bytes: number | null; overlaps: boolean };

/** More open uploads than this are not followed part by part: their ends leave the ledger in doubt. */
const MAX_UPLOADS = 4_096;

export class BucketLedger {
  #quotaBytes = 0;
  #stored = 0;
  #isCounted = false;
  #isInDoubt = false;
  /** Stored by writes that ended while the listing ran. */
  #besideListing = 0;
  /** Odd while a listing runs. */
  #epoch = 0;
  /** Of reservations and completions. */
  #nextId = 1;
  readonly #reservations = new Map<number, Reservation>();
  readonly #uploads = new Map<string, Upload>();
  readonly #completions = new Map<number, Completion>();

  /** What the bucket holds at most, writes on their way included. */
  /** Whether a listing has begun that nothing has voided since. */
  get isCounted(): boolean {
    return this.#isCounted;
  }

  get heldBytes(): number {
    let held = this.#stored + this.#besideListing;
    for (const { growth } of this.#reservations.values()) held += growth;
    return held;
  }

  /** Names the time between two listings; see {@link uploadAborted}. */
  get epoch(): number {
    return this.#epoch;
  }

  /** @param storedBytes size of the object or part that is about to be written */
  ask(storedBytes: number, part: Part | null): Verdict {
    if (!this.#isCounted || this.#isListing) return { kind: "count" };
    const growth = this.#growth(storedBytes, part);
    if (growth > 0 && this.#isBlind) return { kind: "blind" };
    const { heldBytes } = this;
    if (growth > 0 && heldBytes + growth > this.#quotaBytes) {
      if (this.#isInDoubt) return { kind: "count" };
      const isPerhapsSeen = [...this.#reservations.values(), ...this.#completions.values()].some(
        ({ overlaps }) => overlaps,
      );
      return isPerhapsSeen
        ? { kind: "wait" }
        : { kind: "refused", quotaBytes: this.#quotaBytes, heldBytes };
    }
    const reservation = this.#nextId++;
    const isContested = part !== null && (this.#contest(part) || this.#isCompleting(part.uploadId));
    this.#reservations.set(reservation, {
      growth,
      storedBytes,
      part,
      overlaps: false,
      isContested,
    });
    if (part !== null) this.#partAdded(part);
    return { kind: "granted", reservation };
  }

  listingBegins(): void {
    this.#epoch += 1;
    this.#besideListing = 0;
    this.#isInDoubt = false;
    this.#isCounted = true;
    for (const reservation of this.#reservations.values()) {
      reservation.overlaps = true;
      // What it is about to replace, another may have replaced before the listing looks.
      reservation.growth = reservation.storedBytes;
    }
    for (const completion of this.#completions.values()) completion.overlaps = true;
  }

  /** From here on the bucket may hold so much; what is there already stays. */
  limitTo(quotaBytes: number): void {
    this.#quotaBytes = quotaBytes;
  }

  listed(quotaBytes: number, usedBytes: number): void {
    this.#epoch += 1;
    this.#quotaBytes = quotaBytes;
    this.#stored = usedBytes + this.#besideListing;
    for (const { bytes, overlaps } of this.#completions.values())
      if (overlaps) this.#stored += bytes ?? 0;
    this.#besideListing = 0;
  }

  listingFailed(): void {
    this.#epoch += 1;
    this.#isCounted = false;
  }

  /**
   * The engine has stored it.
   * @param copiedBytes what a copy has become, where that was looked at: its source may have been replaced after it was measured
   */
  stored(reservation: number, copiedBytes?: number): void {
    const settled = this.#settle(reservation);
    if (settled === null) return;
    const { part, overlaps, isContested } = settled;
    const storedBytes = copiedBytes ?? settled.storedBytes;
    // What it replaced, the listing may have seen or not; and of two that wrote one part either may have been the last.
    const isVague = overlaps || isContested || this.#isListing;
    const upload = part === null ? undefined : this.#uploads.get(part.uploadId);
    const replaced = part === null ? 0 : (upload?.parts.get(part.partNumber) ?? 0);
    const isUpperBound =
      isVague || (part !== null && (upload === undefined || upload.vague.has(part.partNumber)));
    if (isUpperBound) this.#isInDoubt = true;
    if (this.#isListing) this.#besideListing += storedBytes;
    else this.#stored += isVague ? storedBytes : storedBytes - replaced;
    if (part === null || upload === undefined) return;
    if (isVague) {
      upload.parts.delete(part.partNumber);
      upload.vague.add(part.partNumber);
    } else {
      upload.parts.set(part.partNumber, storedBytes);
      upload.vague.delete(part.partNumber);
    }
  }

  /** The engine has stored nothing. */
  gaveBack(reservation: number): void {
    this.#settle(reservation);
  }

  /** Whether the engine has stored it, nobody knows. */
  unknown(reservation: number): void {
    const settled = this.#settle(reservation);
    if (settled === null) return;
    if (this.#isListing) this.#besideListing += settled.storedBytes;
    else this.#stored += settled.storedBytes;
    this.#isInDoubt = true;
    if (settled.part !== null) this.#uploads.delete(settled.part.uploadId);
  }

  uploadOpened(uploadId: string): void {
    if (this.#uploads.size < MAX_UPLOADS)
      this.#uploads.set(uploadId, { parts: new Map(), vague: new Set(), underWay: new Map() });
  }

  /** The engine is about to be asked to make an object of the upload. @returns the completion; `completed` or `notCompleted` ends it */
  completionBegins(uploadId: string): number {
    const completion = this.#nextId++;
    const upload = this.#uploads.get(uploadId);
    const isKnown = upload !== undefined && upload.vague.size + upload.underWay.size === 0;
    const bytes = isKnown ? sum(upload.parts.values()) : null;
    this.#completions.set(completion, { uploadId, bytes, overlaps: this.#isListing });
    for (const reservation of this.#reservations.values())
      if (reservation.part?.uploadId === uploadId) {
        reservation.isContested = true;
        reservation.growth = reservation.storedBytes;
      }
    return completion;
  }

  /** @param parts of how many the object was made: the others are gone */
  completed(completion: number, parts: number): void {
    const ended = this.#endCompletion(completion);
    if (ended === null) return;
    const upload = this.#uploads.get(ended.uploadId);
    this.#uploads.delete(ended.uploadId);
    if (upload?.parts.size !== parts || upload.vague.size + upload.underWay.size > 0)
      this.#isInDoubt = true;
  }

  /** The engine has made no object of it, or nobody knows. */
  notCompleted(completion: number): void {
    this.#endCompletion(completion);
  }

  /** @param epoch when the abort was asked for: a listing since then may have missed the parts already */
  uploadAborted(uploadId: string, epoch: number): void {
    const upload = this.#uploads.get(uploadId);
    this.#uploads.delete(uploadId);
    const isExact = upload !== undefined && upload.vague.size + upload.underWay.size === 0;
    if (!isExact || epoch !== this.#epoch || this.#isListing) this.#isInDoubt = true;
    else this.#stored -= sum(upload.parts.values());
  }

  /** Something was added without being asked for: a delete marker. */
  added(bytes: number): void {
    if (this.#isListing) this.#besideListing += bytes;
    else this.#stored += bytes;
  }

  /** Something became smaller, and nobody told by how much. */
  shrank(): void {
    this.#isInDoubt = true;
  }

  /** Something may have become larger than was reserved: the next write waits for a listing. */
  grew(): void {
    this.#isCounted = false;
  }

  #isCompleting(uploadId: string): boolean {
    return [...this.#completions.values()].some((completion) => completion.uploadId === uploadId);
  }

  get #isBlind(): boolean {
    return [...this.#completions.values()].some(
      ({ bytes, overlaps }) => overlaps && bytes === null,
    );
  }

  get #isListing(): boolean {
    return this.#epoch % 2 === 1;
  }

  /** By how much the bucket grows: by the difference alone where a part replaces one of a known size. */
  #growth(storedBytes: number, part: Part | null): number {
    if (part === null) return storedBytes;
    const upload = this.#uploads.get(part.uploadId);
    // Of two that write one part either may be the last, so the second counts in full.
    if (upload === undefined || upload.underWay.has(part.partNumber)) return storedBytes;
    // The engine may have hidden what it would replace.
    if (this.#isCompleting(part.uploadId)) return storedBytes;
    return Math.max(0, storedBytes - (upload.parts.get(part.partNumber) ?? 0));
  }

  /** Whether others write this part now; they are told that they are not alone. */
  #contest({ uploadId, partNumber }: Part): boolean {
    const others = [...this.#reservations.values()].filter(
      ({ part }) => part?.uploadId === uploadId && part.partNumber === partNumber,
    );
    for (const other of others) other.isContested = true;
    return others.length > 0;
  }

  #settle(reservation: number): Reservation | null {
    const settled = this.#reservations.get(reservation) ?? null;
    this.#reservations.delete(reservation);
    if (settled !== null && settled.part !== null) this.#count(settled.part, -1);
    return settled;
  }

  #endCompletion(completion: number): Completion | null {
    const ended = this.#completions.get(completion) ?? null;
    this.#completions.delete(completion);
    if (ended?.overlaps !== true) return ended;
    if (this.#isListing) this.#besideListing += ended.bytes ?? 0;
    this.grew();
    return ended;
  }

  /** It may come before the engine hides the upload, or too late. */
  #partAdded(part: Part): void {
    this.#count(part, 1);
    for (const completion of this.#completions.values())
      if (completion.uploadId === part.uploadId) completion.bytes = null;
  }

  #count({ uploadId, partNumber }: Part, change: number): void {
    const underWay = this.#uploads.get(uploadId)?.underWay;
    if (underWay === undefined) return;
    const count = (underWay.get(partNumber) ?? 0) + change;
    if (count > 0) underWay.set(partNumber, count);
    else underWay.delete(partNumber);
  }
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
