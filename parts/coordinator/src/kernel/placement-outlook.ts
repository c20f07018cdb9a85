import { SharedRun } from "@resontech/frame/shared-run";
import type { Clock } from "./clock.ts";
import { type ExpectedStart, expectedStarts } from "./decisions/expected-starts.ts";
import type { RunningGang } from "./decisions/placement-facts.ts";
import { type Snapshot, turnsInSteps } from "./decisions/placement.ts";
import type { PlacementSnapshots } from "./placement-snapshots.ts";
import type { RecentJobs } from "./recent-jobs.ts";
import { runInSlices } from "./run-in-slices.ts";
import type { StartErrors } from "./decisions/start-errors.ts";
import type { SharingSnapshots } from "./sharing-snapshots.ts";
import type { ToldStarts } from "./told-starts.ts";

/** How long what was expected is told again: each look plans as often as jobs end. A look that took long is told longer. */
const AGE_MS = 10_000;
const AGE_PER_LOOK = 20;
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
  /** How wrong such starts were before. */
  errors: StartErrors | null;
  /** Jobs that wait, in the order of their turns. */
  turns: string[];
};

/** The newest outlook, made anew when it is old, or does not know a job that waits. */
export class PlacementOutlook {
  readonly #clock: Clock;
  readonly #snapshots: Pick<PlacementSnapshots, "read">;
  readonly #sharing: Pick<SharingSnapshots, "running" | "leaving">;
  readonly #told: Pick<ToldStarts, "take" | "errors">;
  readonly #recent: Pick<RecentJobs, "read">;
  readonly #looks = new SharedRun<Outlook>();
  #last: Outlook | null = null;
  /** What the last look took. */
  #tookMs = 0;

  constructor(
    clock: Clock,
    snapshots: Pick<PlacementSnapshots, "read">,
    sharing: Pick<SharingSnapshots, "running" | "leaving">,
    told: Pick<ToldStarts, "take" | "errors">,
    recent: Pick<RecentJobs, "read">,
  ) {
    this.#recent = recent;
    this.#told = told;
    this.#clock = clock;
    this.#snapshots = snapshots;
    this.#sharing = sharing;
  }

  /** @param waiting jobs that wait; of one alone what is told is never older than the job */
  async read(waiting: readonly string[] = []): Promise<Outlook> {
    const last = this.#last;
    const age = last === null ? Infinity : Math.abs(this.#clock.now() - last.at);
    const spent = this.#tookMs * AGE_PER_LOOK;
    const isNew = age <= NEW_MS + spent && waiting.length !== 1;
    if (last !== null && (isNew || (age <= AGE_MS + spent && knowsAll(last, waiting)))) return last;
    // One that began before this job came does not know it.
    await this.#looks.idle();
    return await this.#looks.run(() => this.#look());
  }

  async #look(): Promise<Outlook> {
    const from = this.#clock.monotonic();
    const at = this.#clock.now();
    const snapshot = this.#snapshots.read();
    const [running, leaving] = [this.#sharing.running(), this.#sharing.leaving()];
    const lately = this.#recent.read(at, snapshot);
    const starts = await runInSlices(expectedStarts(snapshot, running, at, { lately }));
    const turns = await runInSlices(turnsInSteps(snapshot));
    this.#told.take(starts);
    this.#tookMs = this.#clock.monotonic() - from;
    const { errors } = this.#told;
    return (this.#last = { at, snapshot, running, leaving, starts, errors, turns });
  }
}

function knowsAll({ starts }: Outlook, jobs: readonly string[]): boolean {
  return jobs.every((job) => starts.has(job));
}
