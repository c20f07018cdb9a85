/**
 * What the coordinator says of a multipart upload, and what the S3 door saw of it: each completion with the coordinator's key was announced on record
 * before, and each upload that the coordinator calls stored passed the door. The completion of one that nobody announced was signed by somebody
 * else who has the coordinator's key; one that never passed is no object of this store.
 */
import { nameIn } from "../leaf/detail.ts";
import type { Horizon } from "./horizon.ts";
import type { Leaf } from "../leaf/leaf.ts";

const S3_DOOR = "s3-front";
const COORDINATOR = "coordinator";
/** More than any appliance has under way at once; beyond it nothing is judged any more. */
const MAX_UNDER_WAY = 20_000;

const NOT_ANNOUNCED =
  "CROSS-CHECK: an upload was completed at the S3 door that the coordinator is not on record to have opened";
const NOT_PASSED =
  "CROSS-CHECK: the coordinator calls an upload stored whose completion the S3 door did not see";

type AtDoor = { upload: string; step: "complete" | "abort"; isAnnounced: boolean };

export class MultipartUploads {
  readonly #horizon: Horizon;
  /** SHA-256 of ids: on record as opened, or as to be completed. */
  readonly #announced = new Set<string>();
  /** The door was asked to complete them. */
  readonly #passed = new Set<string>();
  /** Operations under way, by their id. */
  readonly #atDoor = new Map<string, AtDoor>();
  readonly #asked = new Map<string, string>();
  #hasDoor = false;
  /** There was too much at once: nothing is judged any more. */
  isOver = false;
  /** Uploads that both speak of. */
  paired = 0;

  constructor(horizon: Horizon) {
    this.#horizon = horizon;
  }

  /** What was heard so far is nothing to compare with any more. */
  forget(): void {
    for (const known of [this.#announced, this.#passed, this.#atDoor, this.#asked]) known.clear();
  }

  fault(leaf: Leaf): string | null {
    const { type, prod, object } = leaf;
    // Without a door of ours nobody but the store itself sees what passes.
    if (type === "audit.producer.start" && object.id === S3_DOOR) this.#hasDoor = true;
    if (this.isOver) return null;
    if (prod === S3_DOOR) return type === "data.object.multipart" ? this.#atTheDoor(leaf) : null;
    return prod.startsWith(`${COORDINATOR}-`) ? this.#byCoordinator(leaf) : null;
  }

  #atTheDoor(leaf: Leaf): string | null {
    const { op, phase, actor, detail = {} } = leaf;
    if (phase === "requested") {
      const upload = nameIn(detail, "upload_sha256");
      const step = nameIn(detail, "step");
      if (
        (nameIn(detail, "claimed") ?? actor.sub) !== COORDINATOR ||
        upload === null ||
        (step !== "complete" && step !== "abort")
      )
        return null;
      this.#atDoor.set(op, { upload, step, isAnnounced: this.#announced.has(upload) });
      if (step === "complete") this.#passed.add(upload);
      this.#bound();
      return null;
    }
    const asked = this.#atDoor.get(op);
    this.#atDoor.delete(op);
    // Whoever names the coordinator's key without its secret is refused by the store, and the outcome says so.
    if (asked === undefined || phase !== "completed") return null;
    if (asked.step === "abort") {
      this.#announced.delete(asked.upload);
      this.#passed.delete(asked.upload);
      return null;
    }
    return asked.isAnnounced || !this.#horizon.isJudged(leaf) ? null : NOT_ANNOUNCED;
  }

  #byCoordinator(leaf: Leaf): string | null {
    const { type, op, phase, detail = {} } = leaf;
    const upload = nameIn(detail, "upload_sha256");
    if (type === "model.output.open" && upload !== null) this.#announce(upload);
    if (type === "model.output" && upload !== null) return this.#stored(upload, leaf);
    if (type !== "data.upload.complete") return null;
    if (phase === "requested") {
      if (upload === null) return null;
      this.#asked.set(op, upload);
      this.#announce(upload);
      return null;
    }
    const asked = this.#asked.get(op);
    this.#asked.delete(op);
    if (asked === undefined) return null;
    if (phase === "completed") return this.#stored(asked, leaf);
    this.#announced.delete(asked);
    this.#passed.delete(asked);
    return null;
  }

  #announce(upload: string): void {
    this.#announced.add(upload);
    this.#bound();
  }

  #stored(upload: string, leaf: Leaf): string | null {
    this.#announced.delete(upload);
    if (this.#passed.delete(upload)) this.paired += 1;
    else if (this.#hasDoor && this.#horizon.isJudged(leaf)) return NOT_PASSED;
    return null;
  }

  #bound(): void {
    const { size } = this.#announced;
    if (Math.max(size, this.#passed.size, this.#atDoor.size, this.#asked.size) <= MAX_UNDER_WAY)
      return;
    this.isOver = true;
    this.forget();
  }
}
