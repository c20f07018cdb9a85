/** That the clock of this host was set. Pure. */
import { type Finding, type FindingFacts, warning } from "@resontech/frame/finding";
import { toldSpan } from "@resontech/frame/told-quantities";

const RECENT_MS = 24 * 3_600_000;

export function clockFindings({ health }: FindingFacts): Finding[] {
  const step = health?.clockStep ?? null;
  if (step === null || step.agoMs >= RECENT_MS) return [];
  return [
    warning(
      "clock_set",
      `the clock was set by ${toldSpan(step.stepMs)}, ${toldSpan(step.agoMs)} ago; deadlines have moved along`,
      "look that time synchronization runs",
    ),
  ];
}
