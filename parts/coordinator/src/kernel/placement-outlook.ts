import type { Clock } from "./clock.ts";
import { type ExpectedStart, expectedStarts } from "./decisions/expected-starts.ts";
import type { RunningGang } from "./decisions/placement-facts.ts";
import type { Snapshot } from "./decisions/placement.ts";
import type { PlacementSnapshots } from "./placement-snapshots.ts";
import type { SharingSnapshots } from "./sharing-snapshots.ts";

/** How long what was expected is told again: each look plans as often as jobs end. */
const AGE_MS = 10_000;

/** What waits, what holds workers, and when each is expected to start, as of one moment. */
export type Outlook = {
  at: number;
  snapshot: Snapshot;
  running: RunningGang[];
  /** Those that hold workers still, and were asked to go. */
  leaving: RunningGang[];
  starts: Map<string, ExpectedStart>;
};

/** The newest outlook, made anew when it is old, or does not know a job that waits. */
export class PlacementOutlook {
  readonly #clock: Clock;
  readonly #snapshots: Pick<PlacementSnapshots, "read">;
  readonly #sharing: Pick<SharingSnapshots, "running" | "leaving">;
  #last: Outlook | null = null;

  constructor(
    clock: Clock,
    snapshots: Pick<PlacementSnapshots, "read">,
    sharing: Pick<SharingSnapshots, "running" | "leaving">,
  ) {
    this.#clock = clock;
    this.#snapshots = snapshots;
    this.#sharing = sharing;
  }

  /** @param waits a job that waits */
  read(waits?: string): Outlook {
    const at = this.#clock.now();
    const last = this.#last;
    if (last !== null && Math.abs(at - last.at) <= AGE_MS)
      if (waits === undefined || last.snapshot.gangs.some(({ job }) => job === waits)) return last;
    const snapshot = this.#snapshots.read();
    const running = this.#sharing.running();
    const starts = expectedStarts(snapshot, running, at);
    this.#last = { at, snapshot, running, leaving: this.#sharing.leaving(), starts };
    return this.#last;
  }
}
