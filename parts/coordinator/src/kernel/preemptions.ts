import { LETS_GO_WITHIN_MS } from "./decisions/deadlines.ts";
import type { Preemption } from "./decisions/placement.ts";
import type { KernelTables } from "./kernel-tables.ts";
import { BindFailed } from "./member-maker.ts";
import type { Transitions } from "./transitions.ts";

/** Carries out who makes way: the decision and the order to go are one transaction. */
export class Preemptions {
  readonly #tables: Pick<KernelTables, "clock" | "jobs" | "preemptions">;
  readonly #transitions: Pick<Transitions, "moveJob">;

  constructor(
    tables: Pick<KernelTables, "clock" | "jobs" | "preemptions">,
    transitions: Pick<Transitions, "moveJob">,
  ) {
    this.#tables = tables;
    this.#transitions = transitions;
  }

  /**
   * Inside a transaction.
   * @throws BindFailed when somebody who was to go does so already, or the job waits no longer; the transaction must be rolled back
   */
  apply(preemption: Preemption): void {
    const { clock, jobs, preemptions } = this.#tables;
    const { job, victims } = preemption;
    if (jobs.get(job)?.state !== "QUEUED") throw new BindFailed(`job ${job} waits no longer`);
    preemptions.decide(preemption, clock.now(), LETS_GO_WITHIN_MS);
    for (const victim of victims) this.#makeWay(victim);
  }

  #makeWay({ job, attempt }: Preemption["victims"][number]): void {
    const { jobs } = this.#tables;
    const isRunning = jobs.get(job)?.state === "RUNNING";
    const isThis = jobs.liveAttempt(job)?.id === attempt;
    if (!isThis || !this.#transitions.moveJob(job, "preempt", { reason: "preempted" }))
      throw new BindFailed(`job ${job} makes way already`);
    // It has nothing to commit: it waits again at once, and its workers come free when its nodes have let go of them.
    if (!isRunning) this.#transitions.moveJob(job, "vacate");
  }
}
