import type { PoolReply } from "@resontech/contracts/http-pools";
import t from "tap";
import {
  changedDraftOf,
  changedEntry,
  NEW_ENTRY,
  newEntry,
} from "../../src/pages/queue/calendar-draft.ts";
import { changedPool, newPool, poolDraftOf } from "../../src/pages/queue/pool-draft.ts";

const POOL: PoolReply = {
  ...{ id: "pool-1", name: "cardio", kind: "managed", project: { id: "p_1", name: "Cardio" } },
  ...{ lends: true, mostRunMinutes: 600, classes: null, nodes: ["a", "b"], workers: [] },
  ...{ projectWorkers: null, workerModels: null, unlike: [], warnings: [] },
  ...{ cacheBytes: 2e9, kept: [] },
};

t.test("of a pool that is there only what differs is sent", async (t) => {
  const draft = poolDraftOf(POOL);
  t.same(changedPool(POOL, draft), {});
  t.same(changedPool(POOL, { ...draft, nodes: ["b", "c"], lends: false, minutes: "" }), {
    ...{ addNodes: ["c"], removeNodes: ["a"], lends: false, mostRunMinutes: null },
  });
});

t.test("what nodes keep is written in GB, and taken back when it is empty", async (t) => {
  const draft = poolDraftOf(POOL);
  t.equal(draft.cache, "2");
  t.same(changedPool(POOL, { ...draft, cache: "0.5" }), { cacheBytes: 5e8 });
  t.same(changedPool(POOL, { ...draft, cache: "" }), { cacheBytes: null });
  const odd = { ...POOL, cacheBytes: 1024 ** 3 };
  t.same(changedPool(odd, poolDraftOf(odd)), {}, "a size that is no round one stays");
  const fresh = { ...poolDraftOf(null), name: "x", project: "p_1", cache: "200" };
  t.match(newPool(fresh), { cacheBytes: 2e11 });
  t.notHas(newPool({ ...fresh, kind: "shared" }), { cacheBytes: 2e11 });
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

t.test(
  "classes, the most of a project, and expected workers are set, changed and lifted",
  async (t) => {
    const draft = { ...poolDraftOf(null), name: "x", project: "p_1" };
    const rules = { classes: ["train"], most: "4", models: "h100,  h100-mig-1g.10gb h100" };
    t.match(newPool({ ...draft, ...rules }), {
      ...{ classes: ["train"], projectWorkers: 4, workerModels: ["h100", "h100-mig-1g.10gb"] },
    });
    const ruled = {
      ...POOL,
      classes: ["train", "inference"],
      projectWorkers: 4,
      workerModels: ["a"],
    };
    const kept = poolDraftOf(ruled);
    t.same(changedPool(ruled, { ...kept, classes: ["inference", "train"] }), {}, "in any order");
    t.same(changedPool(ruled, { ...kept, classes: [], most: "", models: " " }), {
      ...{ classes: null, projectWorkers: null, workerModels: null },
    });
  },
);

t.test("of an entry of the calendar only what was touched is sent", async (t) => {
  const entry = { from: "2026-12-05T18:00:30Z", until: "2026-12-05T22:00:00Z", reason: null };
  const draft = changedDraftOf(entry);
  t.same(changedEntry(entry, draft), {}, "seconds that the field does not show stay");
  const later = "2026-12-06T02:00";
  t.same(changedEntry(entry, { ...draft, until: later, reason: " more disks " }), {
    ...{ until: new Date(later).toISOString(), reason: "more disks" },
  });
  t.same(changedEntry({ ...entry, reason: "old" }, { ...draft, reason: "" }), {});
});
