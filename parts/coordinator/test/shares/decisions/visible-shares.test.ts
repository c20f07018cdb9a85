import t from "tap";
import type { ShareView } from "../../../src/kernel/share-table.ts";
import { visibleShares } from "../../../src/shares/decisions/visible-shares.ts";

const view = (
  id: string,
  kind: ShareView["kind"],
  parent: string | null,
  cpu: number,
): ShareView => ({
  ...{ id, kind, parent, name: `the name ${id}`, guarantee: { cpu: 1 }, limit: { cpu: 9 } },
  ...{
    weight: 1,
    personRunning: null,
    personQueued: null,
    interactiveIdleMinutes: null,
    held: { cpu },
    used: { cpu: 0.5 },
    guaranteeUsed: { cpu: 1 },
  },
  ...{ lent: {}, borrowed: { cpu: cpu - 1 }, queued: 1 },
});
const SHARES = [
  view("org", "organisation", null, 15),
  view("t1", "team", "org", 6),
  view("t2", "team", "org", 9),
  view("p1", "project", "t1", 1),
  view("p2", "project", "t1", 2),
  view("p3", "project", "t1", 3),
  view("p4", "project", "t2", 9),
];

t.test("of others the sums are seen, and no names", async (t) => {
  const { seen, others } = visibleShares(SHARES, (project) => project === "p1");
  t.same(
    seen.map(({ id }) => id),
    ["org", "t1", "p1"],
  );
  t.match(others, [
    { parent: "org", held: { cpu: 9 }, queued: 1 },
    { parent: "t1", held: { cpu: 5 }, borrowed: { cpu: 3 }, guarantee: { cpu: 2 }, queued: 2 },
  ]);
  t.notMatch(JSON.stringify(others), /the name|p2|p3|p4|t2/);
});

t.test("who sees no project sees nothing", async (t) => {
  t.same(
    visibleShares(SHARES, () => false),
    { seen: [], others: [] },
  );
});
