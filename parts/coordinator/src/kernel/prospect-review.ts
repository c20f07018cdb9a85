import { setImmediate } from "node:timers/promises";
import type { GroupCommit } from "../db/group-commit.ts";
import { shapeOf } from "./decisions/gang-shapes.ts";
import { GateClasses } from "./decisions/gate-classes.ts";
import type { Snapshot } from "./decisions/placement.ts";
import { lastingFleet, whyNeverStarting } from "./decisions/why-never-starting.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { PlacementSnapshots } from "./placement-snapshots.ts";
import { NEVER_STARTS, neverStarts } from "./warning-table.ts";

type Fleet = Pick<Snapshot, "nodes" | "workers">;

/** Tells jobs that wait whether they can start at all, each time that what there is to run on has changed. */
export class ProspectReview {
  readonly #commit: GroupCommit;
  readonly #tables: Pick<KernelTables, "jobs" | "warnings" | "workloads">;
  readonly #snapshots: Pick<PlacementSnapshots, "fleet" | "gangOf">;
  #reviewed: string | null = null;

  constructor(
    commit: GroupCommit,
    tables: Pick<KernelTables, "jobs" | "warnings" | "workloads">,
    snapshots: Pick<PlacementSnapshots, "fleet" | "gangOf">,
  ) {
    this.#commit = commit;
    this.#tables = tables;
    this.#snapshots = snapshots;
  }

  /** One shape of job at a time: nothing else waits for all of them. */
  async look(): Promise<void> {
    const fleet = lastingFleet(this.#snapshots.fleet());
    const capacity = capacityOf(fleet);
    if (capacity === this.#reviewed) return;
    this.#reviewed = capacity;
    const { jobs, warnings, workloads } = this.#tables;
    const gates = new GateClasses(fleet.nodes);
    const byShape = new Map<string, string | null>();
    const changed: { job: string; why: string | null }[] = [];
    for (const job of jobs.queued()) {
      if (!workloads.has(job.kind)) continue;
      const gang = this.#snapshots.gangOf(job, fleet);
      const shape = shapeOf(gang) + gates.classOf(gang);
      if (!byShape.has(shape)) {
        byShape.set(shape, whyNeverStarting(fleet, gang));
        await setImmediate();
      }
      const why = byShape.get(shape)!;
      const isTold = warnings.times(job.id, NEVER_STARTS.site, NEVER_STARTS.topic) > 0;
      if (isTold === (why === null)) changed.push({ job: job.id, why });
    }
    if (changed.length === 0) return;
    await this.#commit.run(() => {
      // It may have been placed, or have ended, meanwhile.
      for (const { job, why } of changed)
        if (jobs.get(job)?.state !== "QUEUED") continue;
        else if (why === null) warnings.forget(job, NEVER_STARTS.site, NEVER_STARTS.topic);
        else warnings.note(job, neverStarts(why));
    });
  }
}

/** All that whether some job could start hangs on, and that does not change as jobs come and go. */
function capacityOf({ nodes, workers }: Fleet): string {
  return JSON.stringify([
    nodes.map(({ freePorts: _free, gatewayPorts: _gateway, ...node }) => node),
    workers.map(({ isFree: _isFree, keptFor: _kept, whyHeld: _why, ...worker }) => worker),
  ]);
}
