/**
 * Agents beside the coordinator: a node's agent speaks, under its own key, of no member but those that the coordinator has placed there. The
 * coordinator's records come in the order of its database, and the agent hears of a member from there: once records of half an hour have followed
 * the agent's word, the record of the placement was never made.
 */
import { latin1 } from "../input/bytes.ts";
import { type CoordinatorClock, RECORDER } from "./coordinator-clock.ts";
import { nameIn } from "../leaf/detail.ts";
import { DigestTable } from "./digest-table.ts";
import type { Horizon } from "./horizon.ts";
import type { Leaf } from "../leaf/leaf.ts";
import type { Platform } from "../platform/platform.ts";
import { secretDigest } from "./secret-digest.ts";

export type Fault = { index: number; reason: string };

/** What a node's producer is called, before the node's id. */
export const NODE = "node-";
const PATIENCE_MS = 1_800_000;
/** Members of one shard; beyond them nothing is judged any more. */
const MAX_PLACED = 1_000_000;
const MAX_WAITING = 10_000;

type Waiting = { node: string; index: number; sinceMs: number; isJudged: boolean };

export class Placements {
  readonly #horizon: Horizon;
  readonly #clock: CoordinatorClock;
  readonly #digest: (text: string) => Uint8Array;
  /** Of member, job, attempt and node. */
  readonly #placed = new DigestTable();
  /** By the same digests. */
  readonly #waiting = new Map<string, Waiting>();
  /** There was too much at once: nothing is judged any more. */
  isOver = false;

  constructor(horizon: Horizon, clock: CoordinatorClock, platform: Pick<Platform, "sha256">) {
    this.#horizon = horizon;
    this.#clock = clock;
    this.#digest = secretDigest(platform);
  }

  /** What agents said and nobody has confirmed is nothing to compare with any more. */
  forget(): void {
    this.#waiting.clear();
  }

  /** Whether the agent has spoken of this member before its placement. */
  isEarly(leaf: Leaf): boolean {
    return (
      this.#waiting.size > 0 &&
      this.#waiting.has(latin1(this.#digestOf(leaf, nameIn(leaf.detail ?? {}, "node"))))
    );
  }

  faults(leaf: Leaf, index: number): Fault[] {
    if (this.isOver || leaf.object.kind !== "member") return this.#overdue(leaf);
    if (leaf.prod.startsWith(NODE)) return this.#heard(leaf, index, leaf.prod.slice(NODE.length));
    // In a whole log its placement has told of it before.
    const isNews = leaf.detail?.["from"] === null || !this.#horizon.isWhole;
    if (leaf.prod === RECORDER && leaf.type === "job.member" && isNews) {
      const digest = this.#digestOf(leaf, nameIn(leaf.detail ?? {}, "node"));
      this.#waiting.delete(latin1(digest));
      this.#placed.add(digest);
      this.isOver = this.#placed.size > MAX_PLACED;
    }
    return this.#overdue(leaf);
  }

  #heard(leaf: Leaf, index: number, node: string): Fault[] {
    const digest = this.#digestOf(leaf, node);
    if (this.#placed.has(digest)) return [];
    const key = latin1(digest);
    const waiting = this.#waiting.get(key) ?? {
      node,
      index,
      sinceMs: this.#clock.runMs,
      isJudged: false,
    };
    const isNew = !this.#waiting.has(key);
    if (!waiting.isJudged && this.#isExpected(leaf))
      this.#waiting.set(key, { ...waiting, index, isJudged: true });
    else if (isNew) this.#waiting.set(key, waiting);
    const [oldest] = this.#waiting;
    if (this.#waiting.size <= MAX_WAITING || oldest === undefined) return [];
    this.#waiting.delete(oldest[0]);
    return oldest[1].isJudged ? [faultOf(oldest[1])] : [];
  }

  /** Of a member that may have been placed before, only its start tells that it was not: the coordinator speaks of it soon after. */
  #isExpected(leaf: Leaf): boolean {
    if (!this.#horizon.isJudged(leaf)) return false;
    return (
      this.#horizon.isWhole ||
      (leaf.type === "job.node.started" && Date.parse(leaf.t) >= this.#horizon.fromMs)
    );
  }

  /** Oldest first, so that one look is enough. */
  #overdue(leaf: Leaf): Fault[] {
    if (leaf.prod !== RECORDER) return [];
    const faults: Fault[] = [];
    for (const [key, waiting] of this.#waiting) {
      if (this.#clock.runMs - waiting.sinceMs < PATIENCE_MS) break;
      this.#waiting.delete(key);
      if (waiting.isJudged && this.#horizon.isJudged(leaf)) faults.push(faultOf(waiting));
    }
    return faults;
  }

  #digestOf({ object, detail = {} }: Leaf, node: string | null): Uint8Array {
    return this.#digest(
      [object.id, nameIn(detail, "job"), nameIn(detail, "attempt"), node].join("\n"),
    );
  }
}

function faultOf({ node, index }: Waiting): Fault {
  return {
    index,
    reason: `CROSS-CHECK: the agent of ${node} speaks of a member that the coordinator is not on record to have placed there`,
  };
}
