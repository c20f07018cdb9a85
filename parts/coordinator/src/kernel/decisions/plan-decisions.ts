/** What a plan decides, apart from why others wait: what is recorded of it, and compared when it is made again. Pure. */
import {
  type Placement,
  type Plan,
  type Preemption,
  type Replacement,
  RESERVES,
} from "./placement.ts";

export type PlanDecisions = {
  placements: readonly Placement[];
  replacements: readonly Replacement[];
  preemptions: readonly Preemption[];
  /** Jobs that the next workers which serve them are reserved for. */
  reserved: readonly string[];
};

export function planDecisionsOf({
  placements,
  replacements,
  preemptions,
  waiting,
}: Plan): PlanDecisions {
  const reserved: string[] = [];
  for (const { job, why } of waiting) if (why === RESERVES) reserved.push(job);
  return { placements, replacements, preemptions, reserved };
}

/** Two plans decided the same exactly where these are the same bytes. */
export function decisionsText({
  placements,
  replacements,
  preemptions,
  reserved,
}: PlanDecisions): string {
  return JSON.stringify({ placements, replacements, preemptions, reserved });
}

/** Whether anything comes of it. What was reserved for the same jobs before is no news. */
export function decidesAnything(
  { placements, replacements, preemptions, reserved }: PlanDecisions,
  reservedBefore: readonly string[],
): boolean {
  return (
    placements.length + replacements.length + preemptions.length > 0 ||
    reserved.some((job) => !reservedBefore.includes(job))
  );
}

/** Jobs that it decided about: those that start, get a worker, make way, or have others do so. */
export function jobsDecided(decisions: PlanDecisions): Set<string> {
  const { placements, replacements, preemptions, reserved } = decisions;
  return new Set([
    ...[...placements, ...replacements, ...preemptions].map(({ job }) => job),
    ...preemptions.flatMap(({ victims }) => victims.map(({ job }) => job)),
    ...reserved,
  ]);
}
