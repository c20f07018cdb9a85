import { LETS_GO_WITHIN_MS } from "./decisions/deadlines.ts";
import type { Preemption } from "./decisions/placement.ts";
import type { KernelTables } from "./kernel-tables.ts";
import { BindFailed } from "./member-maker.ts";
import type { Transitions } from "./transitions.ts";

type Tables = Pick<
  KernelTables,
  "clock" | "jobs" | "members" | "preemptions" | "records" | "workloads"
>;

/** Carries out who makes way: the decision and the order to go are one transaction. */
export class Preemptions {
  readonly #tables: Tables;
  readonly #transitions: Pick<Transitions, "moveJob">;

  constructor(tables: Tables, transitions: Pick<Transitions, "moveJob">) {
    this.#tables = tables;
    this.#transitions = transitions;
  }

  /**
   * Inside a transaction.
   * @throws BindFailed when somebody who was to go does so already, or the job waits no longer; the transaction must be rolled back
   */
  apply(preemption: Preemption): void {
    const { clock, jobs, preemptions, records } = this.#tables;
    const { job, victims } = preemption;
    if (jobs.get(job)?.state !== "QUEUED") throw new BindFailed(`job ${job} waits no longer`);
    const several = victims.filter((victim) => this.#isOneOfSeveral(victim));
    preemptions.decide(preemption, clock.now(), LETS_GO_WITHIN_MS);
    for (const victim of victims)
      if (!several.includes(victim)) this.#makeWay(victim);
      else {
        const { job: id, attempt, isAsleep = false } = victim;
        const reason = isAsleep ? "asleep" : preemption.reason;
        records.gangMakesWay(jobs.get(id)!, { attempt, reason });
      }
  }

  /** One of several gangs of a job that runs on: whoever looks after these ends it, by what stands in the table from now on. @throws BindFailed where it goes already */
  #isOneOfSeveral(victim: Preemption["victims"][number]): boolean {
    const { jobs, members, preemptions, workloads } = this.#tables;
    const job = jobs.get(victim.job);
    if (job === undefined || !workloads.has(job.kind)) return false;
    if (!workloads.of(job).hasSeveralGangs) return false;
    // A call may have woken it meanwhile.
    const isAwake =
      victim.isAsleep === true &&
      members.ofAttempt(victim.attempt).some(({ wishes_sleep }) => wishes_sleep === 0);
    const isThere = jobs.liveAttempts(job.id).some(({ id }) => id === victim.attempt);
    if (
      isAwake ||
      job.state !== "RUNNING" ||
      job.desired === "stop" ||
      !isThere ||
      preemptions.isVictim(victim)
    )
      throw new BindFailed(`a gang of job ${job.id} goes already`);
    return true;
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
