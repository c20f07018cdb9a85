import t from "tap";
import { OwnHealth, type OwnHealthParts } from "../src/compose/own-health.ts";

const parts = {
  clock: { now: () => 1_000 },
  meta: { number: () => 0 },
  commit: { run: async () => undefined },
  fleetViews: { nodeHealth: () => [] },
  recordPump: {
    isHalted: false,
    isDraining: () => false,
    backlog: () => ({ waiting: 0, oldestWaitMs: 0 }),
  },
  gate: { status: async () => ({ loopLagMs: 7 }) },
  isBusUp: () => true,
  isAuditConnected: () => true,
  isAuditDraining: () => false,
  pingStorage: async () => undefined,
  endingKeys: () => [],
  endingAccounts: () => [],
  orphanedAccounts: () => [],
  hasApprover: () => true,
  people: () => ({ requested: [], left: [] }),
  poolStanding: () => ({ unlike: [], unkept: [] }),
  planRecords: () => "ok",
} as unknown as OwnHealthParts;

t.test(
  "an object store or auditd that hangs is told of, before whoever asks has given up",
  async (t) => {
    using health = new OwnHealth();
    t.match(await health.tell(parts), {
      storage: "ok",
      bus: "up",
      database: "ok",
      audit: { loopLagMs: 7 },
    });
    // Timers of one process end in the order of their times.
    let hasGivenUp = false;
    const timer = setTimeout(() => (hasGivenUp = true), 2_900);
    const silence = (): Promise<never> => new Promise(() => {});
    const told = await health.tell({ ...parts, pingStorage: silence, gate: { status: silence } });
    t.match(told, { storage: "unavailable", audit: { loopLagMs: null } });
    clearTimeout(timer);
    t.equal(hasGivenUp, false, "appliance status waits for three seconds");
  },
);
