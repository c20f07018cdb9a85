import t from "tap";
import {
  backoffMs,
  type PartState,
  type PlannedPart,
  plan,
} from "../../src/supervisor/decisions/plan.ts";

const part = (name: string, after: string[], state: PartState): PlannedPart => ({
  name,
  after,
  startTimeoutMs: 1000,
  stopGraceMs: 500,
  state,
  isHeld: false,
});
const healthy: PartState = { phase: "healthy", sinceMs: 0, restarts: 0 };
const idle: PartState = { phase: "idle" };

t.test(
  "a part that is kept goes on while all others stop, and what needs it goes before",
  async (t) => {
    const parts = [
      { ...part("door", [], healthy), isKept: true },
      part("agent", ["door"], healthy),
    ];
    t.same(plan(parts, "stop", 0), [{ do: "stop", part: "agent" }]);
    t.same(plan(parts, "run", 0), []);
  },
);

t.test("a part starts only once everything it comes after is healthy", async (t) => {
  t.same(plan([part("a", [], idle), part("b", ["a"], idle)], "run", 0), [
    { do: "start", part: "a" },
  ]);
  t.same(
    plan(
      [part("a", [], { phase: "starting", sinceMs: 0, restarts: 0 }), part("b", ["a"], idle)],
      "run",
      0,
    ),
    [],
  );
  t.same(plan([part("a", [], healthy), part("b", ["a"], idle)], "run", 0), [
    { do: "start", part: "b" },
  ]);
});

t.test("a part that crashed is started again though what it comes after is down too", async (t) => {
  const exited: PartState = { phase: "exited", atMs: 0, restarts: 0 };
  t.same(
    plan(
      [part("a", [], { phase: "starting", sinceMs: 0, restarts: 1 }), part("b", ["a"], exited)],
      "run",
      1,
    ),
    [{ do: "start", part: "b" }],
  );
});

t.test("three restarts come at once, then the wait doubles to a minute", async (t) => {
  t.same([0, 1, 2, 3, 4, 5, 20].map(backoffMs), [0, 0, 0, 1000, 2000, 4000, 60_000]);
  const exited: PartState = { phase: "exited", atMs: 100, restarts: 4 };
  t.same(plan([part("a", [], exited)], "run", 2099), []);
  t.same(plan([part("a", [], exited)], "run", 2100), [{ do: "start", part: "a" }]);
});

t.test(
  "a part that does not become healthy in time is stopped, one that ignores the stop is killed",
  async (t) => {
    t.same(plan([part("a", [], { phase: "starting", sinceMs: 0, restarts: 0 })], "run", 1001), [
      { do: "stop", part: "a" },
    ]);
    t.same(plan([part("a", [], { phase: "stopping", sinceMs: 0, restarts: 0 })], "run", 501), [
      { do: "kill", part: "a" },
    ]);
  },
);

t.test(
  "a part that does not answer is started afresh after a minute, or when it says so",
  async (t) => {
    const silent = part("a", [], { phase: "unhealthy", sinceMs: 0, restarts: 0 });
    t.same(plan([silent], "run", 60_000), []);
    t.same(plan([silent], "run", 60_001), [{ do: "stop", part: "a" }]);
    t.same(plan([{ ...silent, silenceLimitMs: 90_000 }], "run", 90_000), []);
    t.same(plan([{ ...silent, silenceLimitMs: 90_000 }], "run", 90_001), [
      { do: "stop", part: "a" },
    ]);
  },
);

t.test("parts stop in reverse order: what nobody alive depends on goes first", async (t) => {
  const parts = [part("a", [], healthy), part("b", ["a"], healthy), part("c", ["b"], healthy)];
  t.same(plan(parts, "stop", 0), [{ do: "stop", part: "c" }]);
  t.same(
    plan(
      [part("a", [], healthy), part("b", ["a"], { phase: "exited", atMs: 0, restarts: 0 })],
      "stop",
      0,
    ),
    [{ do: "stop", part: "a" }],
  );
});

t.test(
  "a part that the operator stopped goes alone, stays down, and starts again as for the first time",
  async (t) => {
    const held = (state: PartState): PlannedPart => ({ ...part("a", [], state), isHeld: true });
    t.same(plan([held(healthy), part("b", ["a"], healthy)], "run", 0), [{ do: "stop", part: "a" }]);
    t.same(plan([held({ phase: "stopping", sinceMs: 0, restarts: 0 })], "run", 501), [
      { do: "kill", part: "a" },
    ]);
    t.same(plan([held({ phase: "exited", atMs: 0, restarts: 0 })], "run", 1e6), []);
    t.same(plan([part("a", [], idle)], "run", 1e6), [{ do: "start", part: "a" }]);
  },
);
