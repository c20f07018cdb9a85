import { setImmediate as turn } from "node:timers/promises";
import { SharedRun } from "@resontech/frame/shared-run";
import type { GroupCommit } from "../db/group-commit.ts";
import type { Placements } from "./apply-placement.ts";
import {
  type Placement,
  type Plan,
  planInSteps,
  type Preemption,
  type Replacement,
} from "./decisions/placement.ts";
import { BindFailed } from "./member-maker.ts";
import type { PlanRecorder } from "./plan-recorder.ts";
import type { PlacementSnapshots } from "./placement-snapshots.ts";
import type { Preemptions } from "./preemptions.ts";
import type { Replacements } from "./replace-member.ts";
import type { KernelTables } from "./kernel-tables.ts";
import { runInSlices } from "./run-in-slices.ts";
import type { Transitions } from "./transitions.ts";
import { WaitingNotes } from "./waiting-notes.ts";

/** Failed binds in a row that hold a job for the operator. */
const FAILED_BINDS_LIMIT = 5;
/** So many in one transaction: others are answered between two. */
const STEPS_AT_ONCE = 16;

export type SchedulerParts = {
  commit: GroupCommit;
  tables: KernelTables;
  transitions: Transitions;
  placements: Placements;
  replacements: Replacements;
  preemptions: Preemptions;
  snapshots: Pick<PlacementSnapshots, "read">;
  /** Absent: nothing is recorded. */
  planRecorder?: Pick<PlanRecorder, "note"> | undefined;
  /** True: start nothing new. */
  isDraining: () => boolean;
  onError: (error: unknown) => void;
};

/** One cycle at a time: read a snapshot, plan, apply optimistically, since others write meanwhile. Runs when something that matters changed. */
export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #rounds = new SharedRun();
  readonly #notes: WaitingNotes;
  #gateChanges = 0;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
    this.#notes = new WaitingNotes(parts);
  }

  /** Runs cycles until nothing wants one; at once when one is under way. */
  kick(): void {
    if (!this.#parts.tables.placementSignal.isRaised) return;
    void this.#rounds.run(() => this.#cycles().catch(this.#parts.onError));
  }

  /** Ends once nothing is under way. Sentences why jobs wait may be left to the next cycle. */
  async idle(): Promise<void> {
    await this.#rounds.idle();
    await this.#notes.stop();
  }

  async #cycles(): Promise<void> {
    const { tables, isDraining } = this.#parts;
    while (tables.placementSignal.isRaised && !isDraining()) {
      tables.placementSignal.take();
      await this.cycle();
    }
  }

  async cycle(): Promise<void> {
    this.#gateChanges = this.#parts.tables.placementSignal.gateChanges;
    const snapshot = this.#parts.snapshots.read();
    const readAt = this.#parts.tables.clock.now();
    // Rows were read for some milliseconds: others come before the plan, which looks at the snapshot alone.
    await turn();
    const planned = await runInSlices(planInSteps(snapshot));
    try {
      await this.#apply(planned);
    } finally {
      this.#parts.planRecorder?.note(snapshot, planned, readAt);
    }
  }

  async #apply({ placements, replacements, preemptions, waiting }: Plan): Promise<void> {
    const steps = [
      ...replacements.map((replacement) => () => this.#replace(replacement)),
      ...placements.map((placement) => () => this.#bind(placement)),
      ...preemptions.map((preemption) => () => this.#preempt(preemption)),
    ];
    for (let at = 0; at < steps.length; at += STEPS_AT_ONCE)
      await Promise.all(steps.slice(at, at + STEPS_AT_ONCE).map((step) => step()));
    await this.#notes.take(waiting);
  }

  /** Whose nodes are has changed since the plan was made: the next one, which is asked for already, knows it. */
  #isOvertaken(): boolean {
    return this.#parts.tables.placementSignal.gateChanges !== this.#gateChanges;
  }

  async #bind(placement: Placement): Promise<void> {
    const { commit, placements, tables, transitions } = this.#parts;
    try {
      await commit.run(() => this.#isOvertaken() || placements.apply(placement));
    } catch (error) {
      if (!(error instanceof BindFailed)) throw error;
      // As with a replacement: a job that runs is held by nothing.
      if (placement.isFurther) return;
      await commit.run(() => {
        const binds = tables.jobs.countFailedBind(placement.job);
        if (binds !== undefined && binds >= FAILED_BINDS_LIMIT)
          transitions.moveJob(placement.job, "hold", { reason: "binds_failed" });
        else tables.placementSignal.raise("bind-failed");
      });
    }
  }

  async #preempt(preemption: Preemption): Promise<void> {
    const { commit, preemptions } = this.#parts;
    try {
      await commit.run(() => this.#isOvertaken() || preemptions.apply(preemption));
    } catch (error) {
      // Whoever was to make way did so by itself: what it left is planned anew.
      if (!(error instanceof BindFailed)) throw error;
    }
  }

  async #replace(replacement: Replacement): Promise<void> {
    const { commit, replacements } = this.#parts;
    try {
      await commit.run(() => this.#isOvertaken() || replacements.apply(replacement));
    } catch (error) {
      // Whatever took the worker or the node away asks for a cycle itself: planning the same again at once would never end.
      if (!(error instanceof BindFailed)) throw error;
    }
  }
}
