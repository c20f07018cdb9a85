/** Scores are asked after the user's models and before the best fit, and move nothing that runs. */
import fc from "fast-check";
import t from "tap";
import { modelsInOrder } from "../../../src/kernel/decisions/narrowed-gang.ts";
import type {
  PlacementNode,
  PlacementWorker,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import { plan } from "../../../src/kernel/decisions/placement.ts";

const gang = (job: string, change: Partial<WaitingGang> = {}): WaitingGang => ({
  ...{ job, project: "p", sequence: Number(job.replace(/\D/g, "")), userId: "u", size: 1 },
  ...{ isFurther: false, priority: 50, onlyMine: false, runsMs: null, images: null },
  ...{ estimatedMemoryMb: null, hubBytes: 0, avoidNodes: [], agentProtocol: 1, isReached: false },
  selection: auto(null),
  ...change,
});
const auto = (gpuModels: string[] | null): WaitingGang["selection"] => ({
  ...{ kind: "auto", gpuModels, maxPriceCents: null },
});
const node = (id: string, score?: number): PlacementNode => ({
  ...{ id, ownerId: null, isReady: true, isCordoned: false, hasDisk: true },
  ...{ freePorts: 9, gatewayPorts: 9, capacityBytes: 16e9, agentProtocol: 1 },
  ...(score === undefined ? {} : { score }),
});
const workers = (node: string, count: number, model = "cpu", isFree = true): PlacementWorker[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ id: `${node}-${at}`, node, model, memoryBytes: 8e9, device: { kind: "cpu" } },
    ...{ isHealthy: true, isFree },
  }));
const homeOf = (gangs: WaitingGang[], nodes: PlacementNode[], fleet: PlacementWorker[]) =>
  plan({ gangs, nodes, workers: fleet }).placements[0]?.home;

t.test("of equal models the better node is taken, before the one that fits best", async (t) => {
  const fleet = [...workers("a", 1), ...workers("b", 4)];
  t.equal(homeOf([gang("j1")], [node("a"), node("b")], fleet), "a", "it fits best");
  t.equal(homeOf([gang("j1")], [node("a", 0.95), node("b")], fleet), "b");
  t.equal(homeOf([gang("j1")], [node("a", 0.95), node("b", 0.95)], fleet), "a");
  const avoids = gang("j1", { avoidNodes: ["c"] });
  t.equal(homeOf([avoids], [node("a", 0.95), node("b")], fleet), "b", "also without buckets");
});

t.test("the user's order of models goes before every score", async (t) => {
  const fleet = [...workers("a", 1, "h100"), ...workers("b", 1, "l4")];
  const nodes = [node("a", 0.05), node("b")];
  t.equal(homeOf([gang("j1", { selection: auto(["h100", "l4"]) })], nodes, fleet), "a");
  t.equal(homeOf([gang("j1", { selection: auto(["l4", "h100"]) })], nodes, fleet), "b");
});

t.test("without one, price and node are weighed against each other", async (t) => {
  // rtx_4090 costs less than h100.
  const fleet = [...workers("a", 1, "h100"), ...workers("b", 1, "rtx_4090")];
  t.equal(homeOf([gang("j1")], [node("a"), node("b")], fleet), "b");
  t.equal(homeOf([gang("j1")], [node("a"), node("b", 0.95)], fleet), "b");
  t.equal(homeOf([gang("j1")], [node("a"), node("b", 0.05)], fleet), "a");
  const order = (score: number) =>
    modelsInOrder(gang("j1"), fleet, (id) => (id === "b" ? score : 1)).join();
  t.equal(order(1), "rtx_4090,h100");
  t.equal(order(0.05), "h100,rtx_4090", "what is asked first of limits is given first");
});

t.test("a lost member's place is filled beside its hub, whatever the score", async (t) => {
  const {
    size: _size,
    hubBytes: _hub,
    isReached: _reached,
    isFurther: _more,
    ...asks
  } = gang("j1");
  const vacancy = { ...asks, member: "m", home: "a", hasPort: false };
  const fill = (nodes: PlacementNode[], fleet: PlacementWorker[]) =>
    plan({ gangs: [], vacancies: [vacancy], nodes, workers: fleet }).replacements[0]?.workers;
  const [a, b, c] = [node("a", 0.05), node("b", 0.5), node("c")];
  t.same(
    fill(
      [a, b, c],
      ["a", "b", "c"].flatMap((id) => workers(id, 1)),
    ),
    ["a-0"],
  );
  t.same(
    fill(
      [a, b, c],
      ["b", "c"].flatMap((id) => workers(id, 1)),
    ),
    ["c-0"],
  );
});

t.test("a score moves nothing that runs, and the same facts give the same plan", async (t) => {
  let placed = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(1, 0.95, 0.5, 0.05), fc.array(fc.boolean())), {
        minLength: 1,
        maxLength: 5,
      }),
      fc.integer({ min: 1, max: 4 }),
      (rows, count) => {
        const nodes = rows.map(([score], at) => node(`n${at}`, score));
        const fleet = rows.flatMap(([, free], at) =>
          free.map((isFree, place) => ({ ...workers(`n${at}`, place + 1)[place]!, isFree })),
        );
        const gangs = Array.from({ length: count }, (_, at) => gang(`j${at}`));
        const found = plan({ gangs, nodes, workers: fleet });
        const shuffled = plan({
          ...{ gangs: gangs.toReversed(), nodes: nodes.toReversed() },
          workers: fleet.toReversed(),
        });
        placed += found.placements.length;
        const free = new Set(fleet.filter(({ isFree }) => isFree).map(({ id }) => id));
        return (
          JSON.stringify(found.placements) === JSON.stringify(shuffled.placements) &&
          found.preemptions.length === 0 &&
          found.replacements.length === 0 &&
          found.placements.flatMap((one) => one.workers).every((id) => free.has(id)) &&
          found.placements.length === Math.min(count, free.size)
        );
      },
    ),
    { numRuns: 500 },
  );
  t.ok(placed > 100, `${placed} were placed`);
});
