/** What a plan of the scheduler decided, in some words. Pure. */
import type { PlanFacts } from "@resontech/contracts/operator-scheduler";

export function toldDecisions({
  placements,
  replacements,
  preemptions,
  reserved,
}: PlanFacts["decisions"]): string {
  const makeWay = preemptions.reduce((sum, { victims }) => sum + victims.length, 0);
  const told = [
    ...(placements.length === 0 ? [] : [`${placements.length} placed`]),
    ...(replacements.length === 0 ? [] : [`${replacements.length} replaced`]),
    ...(makeWay === 0 ? [] : [`${makeWay} make way`]),
    ...(reserved.length === 0 ? [] : [`reserved for ${reserved.join(", ")}`]),
  ];
  return told.length === 0 ? "nothing" : told.join(", ");
}
