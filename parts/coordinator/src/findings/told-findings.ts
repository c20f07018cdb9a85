/** What is wrong with the appliance, for its page: what the coordinator knows of itself now, and what the supervisor wrote of the host. Pure. */
import type { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import { evaluateFindings, faultsFirst, fault, type Finding } from "@resontech/frame/finding";
import { toldSpan } from "@resontech/frame/told-quantities";
import { FINDINGS } from "./findings.ts";

/** Twice as old as the supervisor ever lets them be, and a margin. */
const SILENT_MS = 45_000;

/** @param facts null where no supervisor wrote any */
export function toldFindings(
  health: CoordinatorHealth,
  facts: ApplianceFacts | null,
  nowMs: number,
): Finding[] {
  const own = evaluateFindings([FINDINGS], {
    ...{ health, nowMs, isHealthy: () => true, logOf: (part) => `appliance logs ${part}` },
    ...{ frontLagMs: null, rolledBack: null, vault: null, realm: null, followed: null },
  });
  return faultsFirst([...silence(facts, nowMs), ...own, ...(facts?.findings ?? [])]);
}

function silence(facts: ApplianceFacts | null, nowMs: number): Finding[] {
  const todo = "on the host: sudo appliance status";
  if (facts === null)
    return [
      fault("host_unknown", "nothing is known of the host: its supervisor wrote nothing", todo),
    ];
  const ageMs = nowMs - facts.at;
  return ageMs < SILENT_MS
    ? []
    : [
        fault(
          "supervisor_silent",
          `the supervisor has said nothing for ${toldSpan(ageMs)}: what is told of the host is as old, and nobody restarts what fails`,
          todo,
        ),
      ];
}
