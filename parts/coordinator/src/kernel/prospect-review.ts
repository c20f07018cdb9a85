import { createHash } from "node:crypto";
import type { GroupCommit } from "../db/group-commit.ts";
import { shapeOf } from "./decisions/gang-shapes.ts";
import { GateClasses } from "./decisions/gate-classes.ts";
import type { WaitingGang } from "./decisions/placement-facts.ts";
import type { Snapshot } from "./decisions/placement.ts";
import { lastingFleet, whyNeverStarting } from "./decisions/why-never-starting.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { PlacementSnapshots } from "./placement-snapshots.ts";
import { runInSlices } from "./run-in-slices.ts";
import { NEVER_STARTS, neverStarts } from "./warning-table.ts";

/** So many are told in one transaction: some milliseconds, in which nothing else is answered. */
const AT_ONCE = 200;

type Fleet = Pick<Snapshot, "nodes" | "workers">;
type Told = { job: string; why: string | null };

/** Tells jobs that wait whether they can start at all, each time that what there is to run on has changed. */
export class ProspectReview {
  readonly #commit: GroupCommit;
  readonly #tables: Pick<KernelTables, "jobs" | "warnings">;
  readonly #snapshots: Pick<PlacementSnapshots, "fleet" | "queued">;
  #reviewed: string | null = null;

  constructor(
    commit: GroupCommit,
    tables: Pick<KernelTables, "jobs" | "warnings">,
    snapshots: Pick<PlacementSnapshots, "fleet" | "queued">,
  ) {
    this.#commit = commit;
    this.#tables = tables;
    this.#snapshots = snapshots;
  }

  /** In slices: nothing else waits for all of them. */
  async look(): Promise<void> {
    const fleet = lastingFleet(this.#snapshots.fleet());
    const capacity = await runInSlices(capacityInSteps(fleet));
    if (capacity === this.#reviewed) return;
    const changed = await runInSlices(this.#judge(fleet, this.#snapshots.queued()));
    for (let at = 0; at < changed.length; at += AT_ONCE)
      await this.#commit.run(() => this.#note(changed.slice(at, at + AT_ONCE)));
    // Once all were told: a look that failed is made again.
    this.#reviewed = capacity;
  }

  /** Jobs that are to be told something else than they were. @property why null: they may start */
  *#judge(fleet: Fleet, gangs: readonly WaitingGang[]): Generator<void, Told[]> {
    const { warnings } = this.#tables;
    const gates = new GateClasses(fleet.nodes);
    const byShape = new Map<string, string | null>();
    const changed: Told[] = [];
    for (const gang of gangs) {
      const shape = gates.joined(shapeOf(gang), gang);
      let why = byShape.get(shape);
      if (why === undefined) byShape.set(shape, (why = whyNeverStarting(fleet, gang)));
      const isTold = warnings.times(gang.job, NEVER_STARTS.site, NEVER_STARTS.topic) > 0;
      if (isTold === (why === null)) changed.push({ job: gang.job, why });
      yield;
    }
    return changed;
  }

  /** Inside a transaction. One may have been placed, or have ended, meanwhile. */
  #note(told: readonly Told[]): void {
    const { jobs, warnings } = this.#tables;
    for (const { job, why } of told)
      if (jobs.get(job)?.state !== "QUEUED") continue;
      else if (why === null) warnings.forget(job, NEVER_STARTS.site, NEVER_STARTS.topic);
      else warnings.note(job, neverStarts(why));
  }
}

/** All that whether some job could start hangs on, and that does not change as jobs come and go. */
function* capacityInSteps({ nodes, workers }: Fleet): Generator<void, string> {
  const hash = createHash("sha256");
  for (const { freePorts: _free, gatewayPorts: _gateway, ...node } of nodes) {
    hash.update(JSON.stringify(node));
    yield;
  }
  for (const { isFree: _isFree, keptFor: _kept, whyHeld: _why, ...worker } of workers) {
    hash.update(JSON.stringify(worker));
    yield;
  }
  return hash.digest("hex");
}
