import { NODE_LADDER } from "@resontech/contracts/disk-ladder";
import type { DeviceUse } from "@resontech/contracts/agent-protocol";
import type { Clock } from "./clock.ts";
import { type BeatFacts, isNews } from "./decisions/beat-news.ts";
import {
  type GrantedLease,
  longestUntil,
  withAcknowledged,
  withGrant,
} from "./decisions/granted-leases.ts";

/** A refused agent asks again every 15 s; one that asks no more is silent, whatever it was refused for. */
const REFUSAL_LASTS_MS = 60_000;

export type Heartbeat = {
  /** Wall clock, for people. */
  at: number;
  loopLagMs: number;
  diskFreeBytes: number;
};

type Heard = {
  monotonic: number;
  granted: GrantedLease[];
  goodBeats: number;
  beat: Heartbeat | null;
  /** What the feed was told last; null since it fell silent or registered. */
  told: BeatFacts | null;
  missing: Map<string, number>;
  /** Members that its last registration did not name although it had begun with them. */
  unheld: ReadonlySet<string>;
};

/**
 * When each node was last heard, in memory alone: a restart owes every lease a full TTL, so there is nothing to remember.
 * A node that was never heard counts from the start of this process, with the longest lease that the former one may have given it.
 */
export class Heartbeats {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #firstLeaseMs: number;
  readonly #nodes = new Map<string, Heard>();
  readonly #devices = new Map<string, readonly DeviceUse[]>();
  readonly #trusts = new Map<string, string>();
  readonly #refused = new Map<string, { why: string; monotonic: number }>();

  constructor(clock: Clock, firstLeaseMs: number) {
    this.#clock = clock;
    this.#firstLeaseMs = firstLeaseMs;
    this.#startedAt = clock.monotonic();
  }

  /**
   * @param leaseOf the beat whose answer gave the lease that the node counts on; null for its registration's
   * @returns what is new in it, or null
   */
  beat(node: string, leaseOf: string | null, beat: Omit<Heartbeat, "at">): BeatFacts | null {
    const heard = this.#of(node);
    heard.granted = withAcknowledged(heard.granted, leaseOf);
    heard.monotonic = this.#clock.monotonic();
    heard.goodBeats += 1;
    heard.beat = { ...beat, at: this.#clock.now() };
    const facts = { ...beat, hasDisk: this.hasDisk(node) };
    if (!isNews(heard.told, facts)) return null;
    heard.told = facts;
    return facts;
  }

  /** What a node's devices do; an agent that does not say has none to tell of. */
  noteDevices(node: string, devices: readonly DeviceUse[]): void {
    this.#devices.set(node, devices);
  }

  /** Whom it trusts at the doors; null from an agent that does not say. */
  noteTrust(node: string, sha256: string | null): void {
    if (sha256 === null) this.#trusts.delete(node);
    else this.#trusts.set(node, sha256);
  }

  trustOf(node: string): string | null {
    return this.#trusts.get(node) ?? null;
  }

  devicesOf(node: string): readonly DeviceUse[] {
    return this.#devices.get(node) ?? [];
  }

  /** Registering proves as much as a beat, but is none of the beats in a row that a silent node owes. */
  registered(node: string, unheld: readonly string[]): void {
    const heard = this.#of(node);
    heard.monotonic = this.#clock.monotonic();
    heard.goodBeats = 0;
    heard.told = null;
    heard.missing.clear();
    heard.unheld = new Set(unheld);
    this.#refused.delete(node);
  }

  /** Its agent is there and may not register; that is no sign of life for its lease. */
  refused(node: string, why: string): void {
    this.#refused.set(node, { why, monotonic: this.#clock.monotonic() });
  }

  /** Why its agent was refused within the last minute; null when it was not. */
  whyRefused(node: string): string | null {
    const refused = this.#refused.get(node);
    const isNow =
      refused !== undefined && this.#clock.monotonic() - refused.monotonic < REFUSAL_LASTS_MS;
    return isNow ? refused.why : null;
  }

  /** What the answer to the beat `nonce`, or to its registration, grants it from when it was heard. */
  granted(node: string, nonce: string | null, leaseMs: number): void {
    const heard = this.#of(node);
    heard.granted = withGrant(heard.granted, { nonce, until: heard.monotonic + leaseMs });
  }

  /** Since the longest lease ended that it may hold; negative until then. */
  leaselessMs(node: string): number {
    const granted = this.#nodes.get(node)?.granted;
    const until =
      granted === undefined ? this.#startedAt + this.#firstLeaseMs : longestUntil(granted);
    return this.#clock.monotonic() - until;
  }

  /** Whether it may hold a lease that ends later than this, or has not said which it holds. */
  mayHoldBeyond(node: string, monotonic: number): boolean {
    const granted = this.#nodes.get(node)?.granted;
    return granted === undefined || longestUntil(granted) > monotonic;
  }

  /** Whether it was heard, and so answered, after an instant of the monotonic clock. */
  isHeardSince(node: string, monotonic: number): boolean {
    return (this.#nodes.get(node)?.monotonic ?? -Infinity) > monotonic;
  }

  /** The node names a member again that its registration did not name. */
  hasBegunAnew(node: string, member: string): boolean {
    return this.#nodes.get(node)?.unheld.has(member) ?? false;
  }

  /** It fell silent: it owes its good beats anew. */
  fellSilent(node: string): void {
    const heard = this.#of(node);
    heard.goodBeats = 0;
    heard.told = null;
  }

  silentMs(node: string): number {
    return this.#clock.monotonic() - (this.#nodes.get(node)?.monotonic ?? this.#startedAt);
  }

  goodBeats(node: string): number {
    return this.#nodes.get(node)?.goodBeats ?? 0;
  }

  /** Whether its last beat told of enough for another member; one that has told nothing yet is given the benefit of the doubt. */
  hasDisk(node: string): boolean {
    return (this.#nodes.get(node)?.beat?.diskFreeBytes ?? Infinity) >= NODE_LADDER.workBytes;
  }

  last(node: string): (Heartbeat & { ageMs: number }) | null {
    const heard = this.#nodes.get(node);
    return heard?.beat == null ? null : { ...heard.beat, ageMs: Math.round(this.silentMs(node)) };
  }

  /** How many beats in a row have not named a member that the node should hold; naming it starts over. */
  countMissing(node: string, members: readonly string[]): Map<string, number> {
    const heard = this.#of(node);
    heard.missing = new Map(
      members.map((member) => [member, (heard.missing.get(member) ?? 0) + 1]),
    );
    return heard.missing;
  }

  #of(node: string): Heard {
    let heard = this.#nodes.get(node);
    if (heard === undefined) {
      heard = {
        monotonic: this.#startedAt,
        granted: [{ nonce: null, until: this.#startedAt + this.#firstLeaseMs }],
        goodBeats: 0,
        beat: null,
        told: null,
        missing: new Map(),
        unheld: new Set(),
      };
      this.#nodes.set(node, heard);
    }
    return heard;
  }
}
