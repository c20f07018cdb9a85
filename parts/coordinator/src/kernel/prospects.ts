import type { Clock } from "./clock.ts";
import { shapeOf } from "./decisions/gang-shapes.ts";
import { GateClasses } from "./decisions/gate-classes.ts";
import type { WaitingGang } from "./decisions/placement-facts.ts";
import { mayBeGuaranteed } from "./decisions/may-be-guaranteed.ts";
import { pathOf } from "./decisions/shares.ts";
import type { Snapshot } from "./decisions/placement.ts";
import {
  lastingFleet,
  limitingShares,
  limitPassedAlone,
  whyNeverStarting,
} from "./decisions/why-never-starting.ts";
import { GuaranteeTooSmall, PersonLimitExceeded, ShareLimitExceeded } from "./errors.ts";
import type { PlacementSnapshots } from "./placement-snapshots.ts";
import type { JobRow } from "./rows.ts";
import type { ShareTable } from "./share-table.ts";

/** So long a job like one that could start is taken for one that can: jobs may come by the thousand. */
const AGE_MS = 10_000;

type Fleet = Pick<Snapshot, "nodes" | "workers">;
/** @property starting shapes of jobs that could start on the fleet @property within shapes with the limits that they don't pass alone */
type Known = {
  at: number;
  fleet: Fleet;
  gates: GateClasses;
  starting: Set<string>;
  within: Set<string>;
};

/** Whether a new job can start at all, as the fleet and the limits are today. */
export class Prospects {
  readonly #clock: Clock;
  readonly #snapshots: Pick<PlacementSnapshots, "fleet" | "gangOf">;
  readonly #shares: Pick<ShareTable, "isSet" | "all">;
  #last: Known | null = null;

  constructor(
    clock: Clock,
    snapshots: Pick<PlacementSnapshots, "fleet" | "gangOf">,
    shares: Pick<ShareTable, "isSet" | "all">,
  ) {
    this.#clock = clock;
    this.#snapshots = snapshots;
    this.#shares = shares;
  }

  /**
   * @returns why no wait lets it start today; null where one may
   * @throws GuaranteeTooSmall; ShareLimitExceeded, PersonLimitExceeded where it alone is more than its project, or its person there, may hold
   */
  judge(job: JobRow): string | null {
    if (this.#shares.isSet) this.#requireWithinLimits(job);
    const known = this.#known();
    const shapeIn = (one: WaitingGang) => shapeOf(one) + known.gates.classOf(one);
    if (known.starting.has(shapeIn(this.#snapshots.gangOf(job, known.fleet)))) return null;
    // What could not start may do so with a node that has joined since.
    const fleet = lastingFleet(this.#snapshots.fleet());
    const gang = this.#snapshots.gangOf(job, fleet);
    const why = whyNeverStarting(fleet, gang);
    if (why === null) known.starting.add(shapeIn(gang));
    return why;
  }

  #requireWithinLimits(job: JobRow): void {
    const shares = this.#shares.all();
    this.#requireWithinPersonLimits(job, shares);
    if (job.is_preemptible === 0) {
      const fleet = this.#snapshots.fleet();
      const gang = this.#snapshots.gangOf(job, fleet);
      if (!mayBeGuaranteed(fleet, gang, shares)) throw new GuaranteeTooSmall(gang.size);
    }
    const limiting = limitingShares(shares, job.project_id);
    if (limiting.length === 0) return;
    const known = this.#known();
    const like = this.#snapshots.gangOf(job, known.fleet);
    const shape = shapeOf(like) + known.gates.classOf(like);
    const key = JSON.stringify([shape, limiting.map(({ id, limit }) => [id, limit])]);
    if (known.within.has(key)) return;
    const fleet = this.#snapshots.fleet();
    const gang = this.#snapshots.gangOf(job, fleet);
    const passed = limitPassedAlone(fleet, gang, limiting);
    if (passed === null) {
      known.within.add(key);
      return;
    }
    const name = shares.find(({ id }) => id === passed.share)?.name ?? passed.share;
    throw new ShareLimitExceeded({ ...passed, name, needs: gang.size });
  }

  #requireWithinPersonLimits(job: JobRow, shares: ReturnType<ShareTable["all"]>): void {
    const path = pathOf(new Map(shares.map((share) => [share.id, share])), job.project_id);
    const limiting = path.filter(({ personRunning }) => personRunning != null);
    if (limiting.length === 0) return;
    const { size } = this.#snapshots.gangOf(job, this.#known().fleet);
    const passed = limiting.find(({ personRunning }) => size > personRunning!);
    if (passed === undefined) return;
    const name = shares.find(({ id }) => id === passed.id)?.name ?? passed.id;
    throw new PersonLimitExceeded({ name, limit: passed.personRunning!, needs: size });
  }

  #known(): Known {
    const at = this.#clock.now();
    if (this.#last === null || Math.abs(at - this.#last.at) > AGE_MS) {
      const fleet = this.#snapshots.fleet();
      const gates = new GateClasses(lastingFleet(fleet).nodes);
      this.#last = { at, fleet, gates, starting: new Set(), within: new Set() };
    }
    return this.#last;
  }
}
