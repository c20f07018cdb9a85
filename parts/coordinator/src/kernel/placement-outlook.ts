import type { Clock } from "./clock.ts";
import { type ExpectedStart, expectedStarts } from "./decisions/expected-starts.ts";
import type { RunningGang } from "./decisions/placement-facts.ts";
import type { Snapshot } from "./decisions/placement.ts";
import type { PlacementSnapshots } from "./placement-snapshots.ts";
import type { SharingSnapshots } from "./sharing-snapshots.ts";

/** How long what was expected is told again: each look plans as often as jobs end. */
const AGE_MS = 10_000;
/** A list is made anew so often at most, however many jobs come. */
const NEW_MS = 1_000;

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

  /** @param waiting jobs that wait; of one alone what is told is never older than the job */
  read(waiting: readonly string[] = []): Outlook {
    const at = this.#clock.now();
    const last = this.#last;
    const age = last === null ? Infinity : Math.abs(at - last.at);
    const isNew = age <= NEW_MS && waiting.length !== 1;
    if (last !== null && (isNew || (age <= AGE_MS && knowsAll(last, waiting)))) return last;
    const snapshot = this.#snapshots.read();
    const running = this.#sharing.running();
    const starts = expectedStarts(snapshot, running, at);
    this.#last = { at, snapshot, running, leaving: this.#sharing.leaving(), starts };
    return this.#last;
  }
}

function knowsAll({ starts }: Outlook, jobs: readonly string[]): boolean {
  return jobs.every((job) => starts.has(job));
}
