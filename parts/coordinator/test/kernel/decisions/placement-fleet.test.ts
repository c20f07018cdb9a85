/** Buckets and kinds are a short way to what the plain choice among all workers gives. */
import fc from "fast-check";
import t from "tap";
import type {
  PlacementNode,
  PlacementWorker,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import { PlacementFleet } from "../../../src/kernel/decisions/placement-fleet.ts";
import { plan } from "../../../src/kernel/decisions/placement.ts";

const MODELS = ["cpu", "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB"];
const GPU = { kind: "gpu", vendor: "nvidia", architecture: "9.0", driver: "570.1" } as const;

const nodeFacts = fc.record({
  isReady: fc.constantFrom(true, true, true, false),
  ...{ isCordoned: fc.constant(false), hasDisk: fc.constantFrom(true, true, false) },
  ownerId: fc.constantFrom(null, null, "u", "v"),
  freePorts: fc.integer({ min: 0, max: 2 }),
  gatewayPorts: fc.integer({ min: 0, max: 2 }),
  capacityBytes: fc.constantFrom(4e9, 16e9, 64e9),
  size: fc.record({
    ...{ cpuCores: fc.constantFrom(4, 16), memoryBytes: fc.constantFrom(16e9, 64e9) },
    ...{ devices: fc.constantFrom(0, 4), slots: fc.constant(2), slotsBytes: fc.constant(4e9) },
  }),
  agentProtocol: fc.constantFrom(2, 2, 2, 1),
  score: fc.constantFrom(1, 1, 0.95, 0.5, 0.05),
});
const workerFacts = fc.record({
  model: fc.constantFrom(...MODELS),
  memoryBytes: fc.constantFrom(8e9, 40e9, 80e9),
  isHealthy: fc.constantFrom(true, true, true, false),
  isFree: fc.constantFrom(true, true, false),
  keptFor: fc.constantFrom(null, null, null, "job-1"),
});
/** Nodes that only their scores, and what is free, tell apart. */
const alikeFacts = fc.record({
  ...{ isReady: fc.constant(true), isCordoned: fc.constant(false), hasDisk: fc.constant(true) },
  ...{ ownerId: fc.constant(null), freePorts: fc.constant(2), gatewayPorts: fc.constant(2) },
  ...{ capacityBytes: fc.constant(64e9), agentProtocol: fc.constant(2) },
  score: fc.constantFrom(1, 0.95, 0.5, 0.05),
});
const alikeWorkers = fc.record({
  ...{ model: fc.constantFrom(...MODELS.slice(0, 2)), memoryBytes: fc.constant(80e9) },
  ...{ isHealthy: fc.constant(true), isFree: fc.boolean(), keptFor: fc.constant(null) },
});
const fleetOf = (
  node: fc.Arbitrary<Omit<PlacementNode, "id">>,
  worker: fc.Arbitrary<Omit<PlacementWorker, "id" | "node" | "device">>,
) =>
  fc
    .array(fc.tuple(node, fc.array(worker, { minLength: 2, maxLength: 6 })), {
      minLength: 2,
      maxLength: 7,
    })
    .map((rows) => {
      const nodes: PlacementNode[] = rows.map(([facts], at) => ({
        id: `node-${at * 3}`,
        ...facts,
      }));
      const workers = rows.flatMap(([, facts], at) =>
        facts.map(
          (fact, place): PlacementWorker => ({
            ...{ id: `node-${at * 3}-${place}`, node: `node-${at * 3}`, ...fact },
            device: fact.model === "cpu" ? { kind: "cpu" } : GPU,
          }),
        ),
      );
      return { nodes, workers };
    });
const fleetFacts = fleetOf(nodeFacts, workerFacts);
const gangFacts = fc.record({
  size: fc.constantFrom(1, 1, 1, 2, 2, 3, 6),
  workersEach: fc.constantFrom(1, 1, 2, 3),
  asks: fc.constantFrom(...[undefined, undefined, { cpuMillis: 3_000, memoryBytes: null }], {
    cpuMillis: null,
    memoryBytes: 12e9,
  }),
  hubBytes: fc.constantFrom(null, null, 0, 8e9, 32e9),
  estimatedMemoryMb: fc.constantFrom(null, null, null, 10_000, 60_000),
  onlyMine: fc.constantFrom(false, false, true),
  isReached: fc.constantFrom(false, false, true),
  agentProtocol: fc.constantFrom(1, 1, 1, 2),
  avoidNodes: fc.constantFrom<string[][]>([], [], ["node-0"], ["node-3", "node-6"]),
  selection: fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant("auto" as const),
        gpuModels: fc.constantFrom<(string[] | null)[]>(
          null,
          null,
          ["cpu"],
          [MODELS[1]!, MODELS[2]!],
          [...MODELS],
        ),
        maxPriceCents: fc.constantFrom(null, null, 300),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("pinned" as const),
        workerIds: fc.constantFrom<string[][]>(["node-0-0"], ["node-3-1", "node-0-1"]),
      }),
    },
  ),
});
function withoutUndefined<T extends { asks: object | undefined }>({ asks, ...facts }: T) {
  return asks === undefined ? facts : { ...facts, asks };
}

const waits = fc.array(gangFacts, { minLength: 1, maxLength: 20 }).map((rows) =>
  rows.map(
    (facts, at): WaitingGang => ({
      ...{ job: `job-${at}`, sequence: at, isFurther: false, userId: "u", project: "p" },
      ...{ priority: 50, runsMs: null, images: null, ...withoutUndefined(facts) },
      ...(facts.selection.kind === "pinned"
        ? { size: facts.selection.workerIds.length, workersEach: 1 }
        : { size: facts.size * facts.workersEach }),
    }),
  ),
);

for (const [name, facts] of [
  ["any nodes", fleetFacts],
  ["nodes that are alike but for their scores", fleetOf(alikeFacts, alikeWorkers)],
] as const)
  t.test(`of ${name} the short way gives what the choice among all workers gives`, (t) => {
    let placed = 0;
    fc.assert(
      fc.property(facts, waits, ({ nodes, workers }, gangs) => {
        const fleet = new PlacementFleet(nodes, workers, gangs);
        for (const gang of gangs) {
          const plain = fleet.choose(gang, fleet.eligible(gang));
          const found = fleet.find(
            gang,
            workers.some(({ keptFor }) => keptFor === gang.job),
          );
          if (JSON.stringify(found) !== JSON.stringify(plain)) return false;
          if (found === null) continue;
          placed += 1;
          fleet.take(gang, found);
        }
        return true;
      }),
      { numRuns: 1_000 },
    );
    t.ok(placed > 500, `${placed} were placed`);
    t.end();
  });

t.test("whoever waits after a cycle would find nothing, had it had its turn last", (t) => {
  let waited = 0;
  fc.assert(
    fc.property(fleetFacts, waits, ({ nodes, workers }, gangs) => {
      const { placements, waiting } = plan({ nodes, workers, gangs });
      const byJob = new Map(gangs.map((gang) => [gang.job, gang]));
      const byId = new Map(workers.map((worker) => [worker.id, worker]));
      const fleet = new PlacementFleet(nodes, workers, gangs);
      for (const { job, home, workers: ids } of placements)
        fleet.take(byJob.get(job)!, { home, workers: ids.map((id) => byId.get(id)!) });
      waited += waiting.length;
      return (
        placements.length + waiting.length === gangs.length &&
        waiting.every(({ job }) => {
          const gang = byJob.get(job)!;
          // Nodes that failed a job are tried again once others have taken the last port elsewhere: in the next cycle.
          if (gang.avoidNodes.length > 0) return true;
          return fleet.choose(gang, fleet.eligible(gang)) === null;
        })
      );
    }),
    { numRuns: 1_000 },
  );
  t.ok(waited > 1_000, `${waited} waited`);
  t.end();
});
