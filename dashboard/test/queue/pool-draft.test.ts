import type { PoolReply } from "@resontech/contracts/http-pools";
import t from "tap";
import { NEW_ENTRY, newEntry } from "../../src/pages/queue/calendar-draft.ts";
import { changedPool, newPool, poolDraftOf } from "../../src/pages/queue/pool-draft.ts";

const POOL: PoolReply = {
  ...{ id: "pool-1", name: "cardio", kind: "managed", project: { id: "p_1", name: "Cardio" } },
  ...{ lends: true, mostRunMinutes: 600, classes: null, nodes: ["a", "b"], workers: [] },
};

t.test("of a pool that is there only what differs is sent", async (t) => {
  const draft = poolDraftOf(POOL);
  t.same(changedPool(POOL, draft), {});
  t.same(changedPool(POOL, { ...draft, nodes: ["b", "c"], lends: false, minutes: "" }), {
    ...{ addNodes: ["c"], removeNodes: ["a"], lends: false, mostRunMinutes: null },
  });
});

t.test("a new pool says what is of its kind alone", async (t) => {
  const draft = { ...poolDraftOf(null), name: "x", project: "p_1", lends: true, nodes: ["a"] };
  t.same(newPool(draft), {
    ...{ name: "x", kind: "managed", project: "p_1", lends: true, nodes: ["a"] },
  });
  t.same(newPool({ ...draft, kind: "private", minutes: "5", nodes: [] }), {
    ...{ name: "x", kind: "private", project: "p_1", mostRunMinutes: 5 },
  });
  t.same(newPool({ ...draft, kind: "shared" }), { name: "x", kind: "shared", nodes: ["a"] });
});

t.test("an entry is of a pool or of nodes, and its times are instants", async (t) => {
  const times = { from: "2026-12-05T18:00", until: "2026-12-05T22:00" };
  const instants = {
    from: new Date(times.from).toISOString(),
    until: new Date(times.until).toISOString(),
  };
  const draft = { ...NEW_ENTRY, ...times, nodes: ["a"], project: "p_1", reason: "  " };
  t.same(newEntry(draft), { nodes: ["a"], ...instants });
  t.same(newEntry({ ...draft, kind: "reservation", pool: "pool-1", reason: " a deadline " }), {
    ...{ pool: "pool-1", project: "p_1", ...instants, reason: "a deadline" },
  });
});
