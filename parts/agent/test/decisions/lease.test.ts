import t from "tap";
import { grantLease, evaluateLease, nextBeatMs } from "../../src/decisions/lease.ts";

t.test("a lease counts from the sending of what was answered", (t) => {
  const lease = grantLease(1_000, 30_000);
  for (const [agoMs, verdict] of [
    [0, "work"],
    [24_999, "work"],
    [25_000, "no-new-work"],
    [29_999, "no-new-work"],
    [30_000, "stop-all"],
    [3_600_000, "stop-all"],
  ] as const)
    t.equal(evaluateLease(lease, 1_000 + agoMs), verdict, `${agoMs} ms`);
  t.end();
});

t.test("a planned stop lengthens it", (t) => {
  const lease = grantLease(0, 900_000);
  t.equal(evaluateLease(lease, 800_000), "work");
  t.equal(evaluateLease(lease, 896_000), "no-new-work");
  t.equal(evaluateLease(lease, 900_000), "stop-all");
  t.end();
});

t.test("what a former process was granted counts against this one, never for it", (t) => {
  const inherited = { sentAtMs: null, endsAtMs: 30_000 };
  t.equal(evaluateLease(inherited, 1_000), "no-new-work");
  t.equal(evaluateLease(inherited, 30_000), "stop-all");
  t.equal(
    evaluateLease({ sentAtMs: null, endsAtMs: null }, 1e9),
    "no-new-work",
    "a node that never had a lease has nothing to stop",
  );
  t.end();
});

t.test("beats are spread by a fifth to either side", (t) => {
  t.equal(nextBeatMs(5_000, 0), 4_000);
  t.equal(nextBeatMs(5_000, 0.5), 5_000);
  t.equal(nextBeatMs(5_000, 1), 6_000);
  t.end();
});
