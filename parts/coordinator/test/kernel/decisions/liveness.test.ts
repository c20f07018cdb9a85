import t from "tap";
import {
  evaluateFlap,
  evaluateLiveness,
  type NodeLiveness,
} from "../../../src/kernel/decisions/liveness.ts";

const node = (id: string, silentMs: number, change: Partial<NodeLiveness> = {}): NodeLiveness => ({
  ...{ node: id, state: "READY", silentMs, leaselessMs: silentMs - 30_000, goodBeats: 0 },
  ...change,
});
const calm = { ownLagMs: 0 };
const quiet = (count: number) => Array.from({ length: count }, (_, n) => node(`n${n}`, 0));

t.test("SUSPECT at 12 s, DEAD at 40 s, READY after three good beats", async (t) => {
  t.same(evaluateLiveness({ ...calm, nodes: [node("a", 11_999)] }).decisions, []);
  t.same(evaluateLiveness({ ...calm, nodes: [node("a", 12_000)] }).decisions, [
    { node: "a", to: "SUSPECT" },
  ]);
  t.same(
    evaluateLiveness({ ...calm, nodes: [node("a", 39_999, { state: "SUSPECT" })] }).decisions,
    [],
  );
  t.same(
    evaluateLiveness({ ...calm, nodes: [node("a", 40_000, { state: "SUSPECT" })] }).decisions,
    [{ node: "a", to: "DEAD" }],
  );
  for (const state of ["SUSPECT", "DEAD"] as const) {
    t.same(
      evaluateLiveness({ ...calm, nodes: [node("a", 100, { state, goodBeats: 2 })] }).decisions,
      [],
    );
    t.same(
      evaluateLiveness({ ...calm, nodes: [node("a", 100, { state, goodBeats: 3 })] }).decisions,
      [{ node: "a", to: "READY" }],
    );
  }
});

t.test("a lease that was lengthened for a planned stop is waited for", async (t) => {
  const away = (silentMs: number) =>
    node("a", silentMs, { state: "SUSPECT", leaselessMs: silentMs - 900_000 });
  t.same(evaluateLiveness({ ...calm, nodes: [away(909_999)] }), { decisions: [], brake: null });
  t.same(evaluateLiveness({ ...calm, nodes: [away(910_000)] }).decisions, [
    { node: "a", to: "DEAD" },
  ]);
});

t.test("brakes: own lag, and many at once say that the fault is not the nodes'", async (t) => {
  const dead = node("a", 60_000, { state: "SUSPECT" });
  t.match(evaluateLiveness({ nodes: [dead], ownLagMs: 1_001 }), {
    decisions: [],
    brake: "own_lag",
  });
  t.match(evaluateLiveness({ nodes: [dead], ownLagMs: 1_000 }), { brake: null });
  const silent = (count: number) =>
    Array.from({ length: count }, (_, n) => node(`s${n}`, 60_000, { state: "SUSPECT" }));
  t.equal(
    evaluateLiveness({ ...calm, nodes: silent(2) }).decisions.length,
    2,
    "two may die at once",
  );
  t.match(evaluateLiveness({ ...calm, nodes: silent(3) }), {
    decisions: [],
    brake: "many_suspect",
  });
  t.equal(
    evaluateLiveness({ ...calm, nodes: [...silent(3), ...quiet(12)] }).decisions.length,
    3,
    "20 % of many may",
  );
  t.match(evaluateLiveness({ ...calm, nodes: [...silent(4), ...quiet(12)] }), {
    brake: "many_suspect",
  });
});

t.test("a dead node is not declared dead again, and counts for no brake", async (t) => {
  const gone = Array.from({ length: 5 }, (_, n) => node(`d${n}`, 90_000, { state: "DEAD" }));
  t.same(
    evaluateLiveness({ ...calm, nodes: [...gone, node("a", 50_000, { state: "SUSPECT" })] })
      .decisions,
    [{ node: "a", to: "DEAD" }],
  );
});

t.test("three returns in ten minutes cordon", async (t) => {
  t.same(evaluateFlap([], 1_000), { flaps: [1_000], isCordoned: false });
  t.same(evaluateFlap([1_000, 2_000], 3_000), { flaps: [1_000, 2_000, 3_000], isCordoned: true });
  t.same(evaluateFlap([1_000, 2_000], 601_500), { flaps: [2_000, 601_500], isCordoned: false });
});
