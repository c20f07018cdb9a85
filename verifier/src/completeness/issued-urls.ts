/**
 * Two producers that do not trust one another speak of one presigned URL: the coordinator when it issues it, the S3 door when it is used. One that was
 * used and that nobody is on record to have issued was signed by somebody else who has the coordinator's key.
 */
import { integerIn, nameIn } from "../leaf/detail.ts";
import { DigestTable } from "./digest-table.ts";
import { instantMs } from "../leaf/instant.ts";
import type { Leaf } from "../leaf/leaf.ts";
import type { Platform } from "../platform/platform.ts";
import { secretDigest } from "./secret-digest.ts";

/** No URL lives longer; so long after a shard's beginning one may have been issued in the shard before. */
const MAX_LIFE_MS = 86_400_000;
const DEFAULT_LIFE_S = MAX_LIFE_MS / 1_000;
/** More are not remembered at once: then all are forgotten, and nothing is judged until the last of them is over. */
const MAX_ALIVE = 300_000;
/** Writes through URLs that have no outcome yet. */
const MAX_WRITES = 20_000;
/** So many are issued between one look for those that are over and the next; where many are remembered half as many. */
const SWEEP_EVERY = 10_000;
/** To a node for its job, to a person or a program for an object. */
const ISSUED: ReadonlySet<string> = new Set(["data.stage", "data.download.issue"]);
const HEX_32 = /^[0-9a-f]{64}$/;
const MAX_SECONDS = 2 ** 32 - 1;

export class IssuedUrls {
  readonly #digest: (text: string) => Uint8Array;
  /** Of the SHA-256 of a URL's signature: when it expires, in seconds after the first of them. */
  readonly #alive = new DigestTable("numbers");
  /** Operation at the door → whether the URL that it used was issued. */
  readonly #writes = new Map<string, boolean>();
  #beganMs: number | null = null;
  #judgesFromMs = Number.NEGATIVE_INFINITY;
  #noted = 0;
  /** More was under way at once than is compared. */
  isOver = false;
  /** Uses that were paired with their issue. */
  paired = 0;

  constructor(platform: Pick<Platform, "sha256">) {
    this.#digest = secretDigest(platform);
  }

  /** URLs that are remembered. */
  get count(): number {
    return this.#alive.size;
  }

  fault({ type, prod, op, phase, actor, t_log, detail = {} }: Leaf, index: number): string | null {
    const nowMs = instantMs(t_log);
    if (index === 0 && typeof detail["prev_origin"] === "string")
      this.#judgesFromMs = nowMs + MAX_LIFE_MS;
    if (type === "data.object.write" && phase !== "requested")
      return this.#written(op, phase, nowMs);
    const hash = nameIn(detail, "url_sha256");
    if (hash === null || !HEX_32.test(hash)) return null;
    if (ISSUED.has(type) && prod.startsWith("coordinator")) {
      const lifeS = Math.min(integerIn(detail, "ttl_s") ?? DEFAULT_LIFE_S, DEFAULT_LIFE_S);
      this.#alive.add(this.#digest(hash), Math.min(this.#secondsAt(nowMs) + lifeS, MAX_SECONDS));
      if (++this.#noted >= Math.max(SWEEP_EVERY, this.#alive.size / 2)) this.#sweep(nowMs);
      if (this.#alive.size > MAX_ALIVE) {
        // It is remembered for a day after its own, as below.
        this.#judgesFromMs = nowMs + 2 * MAX_LIFE_MS;
        this.#alive.clear();
        this.isOver = true;
      }
      return null;
    }
    // A request is written down before its signature is checked: whom it names is a claim then.
    if ((nameIn(detail, "claimed") ?? actor.sub) !== "coordinator") return null;
    // Whoever names the coordinator's key without its secret is refused by the store, and the entry, or the outcome, says so.
    const isAnswered = (integerIn(detail, "status") ?? 400) < 400;
    if (type === "data.object.read" && isAnswered) return this.#used(this.#isIssued(hash), nowMs);
    if (type === "data.object.write") this.#writes.set(op, this.#isIssued(hash));
    if (this.#writes.size > MAX_WRITES) {
      this.#writes.delete(op);
      this.isOver = true;
    }
    return null;
  }

  #isIssued(hash: string): boolean {
    return this.#alive.has(this.#digest(hash));
  }

  #written(op: string, phase: string, nowMs: number): string | null {
    const isIssued = this.#writes.get(op);
    this.#writes.delete(op);
    return isIssued === undefined || phase !== "completed" ? null : this.#used(isIssued, nowMs);
  }

  #used(isIssued: boolean, nowMs: number): string | null {
    if (isIssued) this.paired += 1;
    else if (nowMs >= this.#judgesFromMs)
      return "CROSS-CHECK: the S3 door saw a URL used that the coordinator is not on record to have issued";
    return null;
  }

  #secondsAt(nowMs: number): number {
    this.#beganMs ??= nowMs;
    return Math.ceil((nowMs - this.#beganMs) / 1_000);
  }

  #sweep(nowMs: number): void {
    const nowS = this.#secondsAt(nowMs);
    this.#alive.keep((expiresS) => expiresS + MAX_LIFE_MS / 1_000 >= nowS);
    this.#noted = 0;
  }
}
