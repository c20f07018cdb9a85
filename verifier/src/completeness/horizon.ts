/**
 * From when on what one producer says can be expected beside what another says. What was begun before may stand elsewhere: in the shard before, in a
 * database that was put back to an older state, or in the words of another release.
 */
import { SCHEMA_SHA256 } from "../leaf/catalogue.ts";
import { integerIn, originIn } from "../leaf/detail.ts";
import { instantMs } from "../leaf/instant.ts";
import type { Leaf } from "../leaf/leaf.ts";

/** An upload, a URL or the start of a member takes less. */
const HORIZON_MS = 86_400_000;
const COORDINATOR = "coordinator-";
const S3_DOOR = "s3-front";

export class Horizon {
  readonly #schemas = new Map<string, string>();
  #generation = 0;
  #fromMs = Number.NEGATIVE_INFINITY;
  #isWhole = true;
  #awaitsCoordinator = false;

  /** @returns whether what was heard so far is nothing to compare with any more */
  note({ type, prod, t_log, schema_sha256, detail = {} }: Leaf, index: number): boolean {
    const nowMs = instantMs(t_log);
    if (type === "audit.shard.open") this.#generation = integerIn(detail, "generation") ?? 0;
    if (index === 0 && originIn(detail, "prev_origin") !== null) {
      this.#awaitsCoordinator = true;
      return this.#suspend(nowMs);
    }
    const isCoordinator = prod.startsWith(COORDINATOR);
    if (!isCoordinator && prod !== S3_DOOR) return false;
    const before = this.#schemas.get(prod);
    if (before !== schema_sha256) {
      this.#schemas.set(prod, schema_sha256);
      if (before !== undefined) return this.#suspend(nowMs);
    }
    if (!isCoordinator) return false;
    const isRestored =
      type === "admin.coordinator.start" && this.#follows(integerIn(detail, "generation") ?? 0);
    // One that was away at the turn ends later what it began before.
    const isBack = this.#awaitsCoordinator;
    this.#awaitsCoordinator = false;
    return isRestored || isBack ? this.#suspend(nowMs) : false;
  }

  /** Whether what this entry says must have its counterpart in what is known. */
  isJudged({ t_log, schema_sha256 }: Leaf): boolean {
    return schema_sha256 === SCHEMA_SHA256 && instantMs(t_log) >= this.#fromMs;
  }

  /** Milliseconds since the epoch; what began later is known whole. */
  get fromMs(): number {
    return this.#fromMs;
  }

  /** Nothing can have begun elsewhere. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** A generation after the first says that the coordinator's database is not the one that it was. */
  #follows(generation: number): boolean {
    const isNext = this.#generation > 0 && generation > this.#generation;
    this.#generation = Math.max(this.#generation, generation);
    return isNext;
  }

  #suspend(nowMs: number): true {
    this.#fromMs = nowMs + HORIZON_MS;
    this.#isWhole = false;
    return true;
  }
}
