import t from "tap";
import { OwnHealth, type OwnHealthParts } from "../src/own-health.ts";

const parts = {
  clock: { now: () => 1_000 },
  meta: { number: () => 0 },
  commit: { run: async () => undefined },
  fleetViews: { nodeHealth: () => [] },
  recordPump: { isHalted: false, isDraining: () => false, backlog: () => ({ waiting: 0, oldestWaitMs: 0 }) },
  isBusUp: () => true,
  isAuditConnected: () => true,
  isAuditDraining: () => false,
  pingStorage: async () => undefined,
} as unknown as OwnHealthParts;

t.test("an object store that hangs is told as unavailable, before whoever asks has given up", async (t) => {
  using health = new OwnHealth();
  t.match(await health.tell(parts), { storage: "ok", bus: "up", database: "ok" });
  const startedAt = performance.now();
  const told = await health.tell({ ...parts, pingStorage: () => new Promise(() => {}) });
  t.equal(told.storage, "unavailable");
  t.ok(performance.now() - startedAt < 2_900, "appliance status waits for three seconds");
});
