/** A thousand made histories of a fleet: the proof `scheduler-histories` has a million, and shows that ten planted bugs are found. */
import t from "tap";
import { plan } from "../../../src/kernel/decisions/placement.ts";
import { runFleetHistory } from "./fleet-history.ts";

t.test("in no history a plan gives out twice, loses, tears or starves a job", async (t) => {
  const counts = { placed: 0, replaced: 0, preempted: 0, reserved: 0 };
  const from = Date.now() % 1_000_000_007;
  const seeds = Array.from({ length: 1_000 }, (_, n) => (n < 500 ? n : from + n));
  for (const seed of seeds) {
    const { placed, replaced, preempted, reserved } = runFleetHistory(seed, 12, plan);
    counts.placed += placed;
    counts.replaced += replaced;
    counts.preempted += preempted;
    counts.reserved += reserved;
  }
  t.ok(
    Object.values(counts).every((count) => count > 0),
    JSON.stringify(counts),
  );
});
