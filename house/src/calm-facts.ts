/** What parts say of an appliance that is well: what findings are made of. */
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import type { FindingFacts } from "@resontech/frame/finding";

export const CALM_HEALTH: CoordinatorHealth = {
  ...{ loopLagMs: 5, brake: null, plannedStopUntil: null, clockStep: null, hasApprover: true },
  ...{ bus: "up", database: "ok", storage: "ok" },
  ...{ nodes: [], endingKeys: [], people: { requested: [], left: [] } },
  audit: { state: "ok", waiting: 3, oldestWaitMs: 20, loopLagMs: 5 },
};

export function calmFacts(change: Partial<FindingFacts> = {}): FindingFacts {
  return {
    ...{ nowMs: Date.now(), health: CALM_HEALTH, frontLagMs: 5, rolledBack: null },
    vault: { connected: true, fault: null, holdsInDoubt: false, awaitsClock: false },
    ...{ realm: { differences: 0, first: [] }, followed: null },
    isHealthy: () => true,
    logOf: (part) => `/log/${part}.log`,
    ...change,
  };
}
