import { hash } from "node:crypto";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import type { FeedTopic } from "@resontech/contracts/live-feed";
import type { Feed } from "../feed/feed.ts";

const LOOK_MS = 5_000;
const FINDINGS: FeedTopic = { kind: "findings" };

export type FindingsWatchParts = {
  feed: Pick<Feed, "publish" | "hasReaders">;
  health: () => Promise<CoordinatorHealth>;
  /** How many jobs there are in each state. */
  jobs: () => Record<string, number>;
  now: () => number;
  onError: (error: unknown) => void;
};

/** While somebody watches how the appliance does, looks every few seconds, and tells when it is otherwise than before. */
export class FindingsWatch implements Disposable {
  readonly #parts: FindingsWatchParts;
  readonly #timer: NodeJS.Timeout;
  #told: string | null = null;
  #isLooking = false;

  constructor(parts: FindingsWatchParts, lookMs = LOOK_MS) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.#look(), lookMs).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { feed, health, jobs, now, onError } = this.#parts;
    // Nobody watches: whoever comes reads once.
    if (!feed.hasReaders(FINDINGS)) this.#told = null;
    else if (!this.#isLooking) {
      this.#isLooking = true;
      try {
        const digest = digestOf(await health(), jobs());
        if (digest === this.#told) return;
        this.#told = digest;
        feed.publish({ kind: "findings", digest }, {}, now());
      } catch (error) {
        onError(error);
      } finally {
        this.#isLooking = false;
      }
    }
  }
}

/** Hashes what people would see change; what moves with each second is left out. */
function digestOf(health: CoordinatorHealth, jobs: Record<string, number>): string {
  const { bus, database, storage, brake, plannedStopUntil, hasApprover, endingKeys } = health;
  const nodes = health.nodes.map(
    ({ node, state, cordonReason, hasDisk, quarantined, unhealthy }) => [
      ...[node, state, cordonReason, hasDisk, quarantined, unhealthy],
    ],
  );
  const { audit } = health;
  const facts = [
    ...[bus, database, storage, brake, plannedStopUntil, hasApprover, endingKeys],
    ...[nodes, jobs, audit.state, audit.waiting > 0, health.pools, health.planRecords],
  ];
  return hash("sha256", JSON.stringify(facts));
}
