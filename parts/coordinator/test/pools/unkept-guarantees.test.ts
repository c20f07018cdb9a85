/** Guarantees that pools make impossible, and nodes that are others than their pool expects. */
import fc from "fast-check";
import { checkProperty } from "@resontech/house/check-property";
import t from "tap";
import { unkeptGuarantees } from "../../src/pools/decisions/unkept-guarantees.ts";
import { unlikeNodes } from "../../src/pools/decisions/unlike-nodes.ts";

const share = (id: string, parent: string | null, h100 = 0) => ({
  ...{ id, parent, guarantee: { h100 } },
});
const pool = (id: string, project: string | null, projectWorkers: number | null = null) => ({
  ...{ id, project, projectWorkers },
});
const workers = (node: string, count: number, model = "h100") =>
  Array.from({ length: count }, () => ({ node, model }));
const TREE = [share("org", null), share("team", "org")];
const of = (shares: readonly ReturnType<typeof share>[]) => [...TREE, ...shares];

t.test("what a stranger is guaranteed must lie outside a pool of another project", async (t) => {
  const fleet = [...workers("a", 6), ...workers("b", 2)];
  const pools = [pool("own", "cardio")];
  const poolOf = new Map([["a", "own"]]);
  const shares = of([share("cardio", "team", 4), share("neuro", "team", 3)]);
  t.same(unkeptGuarantees(shares, pools, poolOf, fleet), [
    { model: "h100", shares: ["neuro"], wanted: 3, there: 2 },
  ]);
  t.same(unkeptGuarantees(shares, [], new Map(), fleet), [], "without pools there is enough");
  const fewer = of([share("cardio", "team", 4), share("neuro", "team", 2)]);
  t.same(unkeptGuarantees(fewer, pools, poolOf, fleet), []);
});

t.test("each alone would fit, and all together do not", async (t) => {
  const fleet = [...workers("a", 4), ...workers("b", 4)];
  const shares = of([share("x", "team", 3), share("y", "team", 3), share("cardio", "team", 1)]);
  const found = unkeptGuarantees(shares, [pool("own", "cardio")], new Map([["a", "own"]]), fleet);
  t.same(found, [{ model: "h100", shares: ["x", "y"], wanted: 6, there: 4 }]);
});

t.test("a team's guarantee may be held by whoever of it owns a pool", async (t) => {
  const fleet = [...workers("a", 4), ...workers("b", 2)];
  const [pools, poolOf] = [[pool("own", "cardio")], new Map([["a", "own"]])];
  const shares = [share("org", null), share("team", "org", 6), share("cardio", "team")];
  t.same(unkeptGuarantees(shares, pools, poolOf, fleet), []);
  const other = [share("org", null), share("team", "org", 6), share("cardio", "org")];
  t.same(unkeptGuarantees(other, pools, poolOf, fleet), [
    { model: "h100", shares: ["team"], wanted: 6, there: 2 },
  ]);
});

t.test("a pool that allows a project too few is at fault as well, its own one too", async (t) => {
  const fleet = workers("a", 8);
  const poolOf = new Map([["a", "few"]]);
  const shares = of([share("x", "team", 4)]);
  for (const one of [pool("few", null, 2), pool("few", "x", 2)])
    t.same(unkeptGuarantees(shares, [one], poolOf, fleet), [
      { model: "h100", shares: ["x"], wanted: 4, there: 2 },
    ]);
});

t.test("where all workers are too few no pool is blamed", async (t) => {
  const shares = of([share("x", "team", 9)]);
  const found = unkeptGuarantees(shares, [pool("own", "y")], new Map([["a", "own"]]), [
    ...workers("a", 4),
    ...workers("b", 4),
  ]);
  t.same(found, []);
});

t.test("nothing is told exactly where guarantees of projects can be given out", async () => {
  const PROJECTS = ["p", "q", "r"];
  const count = fc.nat({ max: 4 });
  checkProperty(
    fc.property(
      fc.tuple(count, count, count),
      fc.tuple(count, count, count),
      count,
      (guarantees, owned, open) => {
        const shares = of(PROJECTS.map((id, at) => share(id, "team", guarantees[at])));
        const pools = PROJECTS.map((id) => pool(id, id));
        const poolOf = new Map(PROJECTS.map((id) => [id, id]));
        const fleet = [
          ...PROJECTS.flatMap((id, at) => workers(id, owned[at]!)),
          ...workers("open", open),
        ];
        // Each takes its own first, then of what is everybody's.
        const lacking = guarantees.reduce((sum, g, at) => sum + Math.max(0, g - owned[at]!), 0);
        const wanted = guarantees.reduce((sum, g) => sum + g, 0);
        const isTold = unkeptGuarantees(shares, pools, poolOf, fleet).length > 0;
        return isTold === (lacking > open && wanted <= fleet.length);
      },
    ),
    20_000,
  );
});

t.test("a node of a pool that shows other workers, or none, is named", async (t) => {
  const pools = [
    { id: "mig", workerModels: ["h100-mig-1g.10gb", "cpu"] },
    { id: "any", workerModels: null },
  ];
  const poolOf = new Map([
    ...([
      ["a", "mig"],
      ["b", "mig"],
      ["c", "mig"],
    ] as const),
    ["d", "any"],
  ]);
  const shown = [
    ...workers("a", 7, "h100-mig-1g.10gb"),
    ...workers("a", 1, "cpu"),
    ...workers("b", 1),
    ...workers("d", 1),
  ];
  t.same(unlikeNodes(pools, poolOf, shown), [
    { pool: "mig", node: "b", shows: ["h100"] },
    { pool: "mig", node: "c", shows: [] },
  ]);
});
