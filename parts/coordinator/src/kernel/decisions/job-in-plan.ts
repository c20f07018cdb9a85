/** What a plan says about one job, in sentences. Pure. */
import type { Plan, Snapshot } from "./placement.ts";
import { workerCount } from "./worker-count.ts";

/** Jobs that the plan knew: those that wait, run or lost a place. */
export function jobsOfPlan(snapshot: Snapshot): Set<string> {
  const { gangs, vacancies = [], sharing, backfill, sleepers = [] } = snapshot;
  const running = [...(sharing?.running ?? []), ...(backfill?.running ?? [])];
  return new Set([...gangs, ...vacancies, ...running, ...sleepers].map(({ job }) => job));
}

/** Empty where the plan says nothing about it. */
export function jobInPlan(job: string, snapshot: Snapshot, plan: Plan): string[] {
  const isOf = (one: { job: string }) => one.job === job;
  const told = [
    ...plan.placements
      .filter(isOf)
      .map(
        ({ workers, home, isFurther }) =>
          `${isFurther ? "one more of it starts" : "it starts"} on ${workers.join(", ")}; its first node is ${home}`,
      ),
    ...plan.replacements
      .filter(isOf)
      .map(({ member, workers }) => `${workers.join(", ")} for its member ${member}`),
    ...plan.preemptions
      .filter(isOf)
      .map(
        ({ workers, victims, reason }) =>
          `${victims.map((victim) => victim.job).join(", ")} make way for it, by ${reason}; it then gets ${workers.join(", ")}`,
      ),
    ...plan.preemptions.flatMap(({ job: other, victims, reason }) =>
      victims
        .filter(isOf)
        .map(
          ({ isAsleep }) =>
            `${isAsleep === true ? "it sleeps, and makes" : "it makes"} way for ${other}, by ${reason}`,
        ),
    ),
    ...plan.waiting.filter(isOf).map(({ why }) => `it waits: ${why}`),
  ];
  const { sharing, backfill, vacancies = [] } = snapshot;
  const held = (sharing ?? backfill)?.running.filter(isOf) ?? [];
  for (const { workers } of held)
    told.push(`it holds ${workerCount(workers.length)}: ${workers.join(", ")}`);
  const open = vacancies.filter(isOf).length - plan.replacements.filter(isOf).length;
  if (open > 0) told.push(`${open} of its lost members wait for a worker`);
  return told;
}
