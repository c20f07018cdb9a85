/** Gangs whose members hold several workers: each member lies on one node, on workers of one model. */
import fc from "fast-check";
import t from "tap";
import { memberByMember } from "../../../src/kernel/decisions/member-bundles.ts";
import type {
  PlacementNode,
  PlacementWorker,
  Vacancy,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import type { Share } from "../../../src/kernel/decisions/shares.ts";
import { plan, type Snapshot } from "../../../src/kernel/decisions/placement.ts";
import { limitPassedAlone } from "../../../src/kernel/decisions/why-never-starting.ts";

const H100 = "NVIDIA H100 80GB HBM3";
const A100 = "NVIDIA A100-SXM4-80GB";
const GPU = { kind: "gpu", vendor: "nvidia", architecture: "9.0", driver: "570.1" } as const;

function node(id: string, change: Partial<PlacementNode> = {}): PlacementNode {
  return {
    ...{ id, ownerId: null, isReady: true, isCordoned: false, hasDisk: true },
    ...{ freePorts: 4, gatewayPorts: 4, capacityBytes: 64e9, agentProtocol: 8, ...change },
  };
}

/** @param models of its free workers; a busy one is written with a `-` */
function workersOn(id: string, ...models: string[]): PlacementWorker[] {
  return models.map((model, at) => ({
    ...{ id: `${id}-${at}`, node: id, memoryBytes: 80e9, device: GPU, isHealthy: true },
    ...{ model: model.replace(/^-/, ""), isFree: !model.startsWith("-") },
  }));
}

function gang(job: string, change: Partial<WaitingGang> = {}): WaitingGang {
  return {
    ...{ job, sequence: 1, isFurther: false, userId: "u", project: "p", priority: 50 },
    ...{ size: 2, workersEach: 2, selection: ANY, onlyMine: false, estimatedMemoryMb: null },
    ...{ hubBytes: null, avoidNodes: [], images: null, runsMs: null, agentProtocol: 8 },
    ...{ isReached: false, ...change },
  };
}
const ANY: WaitingGang["selection"] = { kind: "auto", gpuModels: null, maxPriceCents: null };

function fleet(nodes: Record<string, string[]>): Pick<Snapshot, "nodes" | "workers"> {
  return {
    nodes: Object.keys(nodes).map((id) => node(id)),
    workers: Object.entries(nodes).flatMap(([id, models]) => workersOn(id, ...models)),
  };
}

function placed(nodes: Record<string, string[]>, of: WaitingGang): string[] | string {
  const { placements, waiting } = plan({ ...fleet(nodes), gangs: [of] });
  return placements[0]?.workers ?? waiting[0]!.why;
}

t.test(
  "a member of four takes the node with exactly four free before one with eight",
  async (t) => {
    const four = gang("j", { size: 4, workersEach: 4 });
    const eight = Array.from({ length: 8 }, () => H100);
    t.same(placed({ a: eight, b: eight.slice(4) }, four), ["b-0", "b-1", "b-2", "b-3"]);
    t.same(
      placed({ a: eight, b: eight.slice(3), c: [`-${H100}`, ...eight.slice(4)] }, four),
      ["c-1", "c-2", "c-3", "c-4"],
      "five free are more than four",
    );
  },
);

t.test("what lies apart is not enough, and the sentence says so", async (t) => {
  t.equal(
    placed({ a: [H100], b: [H100] }, gang("j")),
    "needs 2 workers of one model on one node; 2 of 2 would do now; no node has as many of one model free",
  );
  t.match(placed({ a: [H100, A100] }, gang("j")), /no node has as many of one model free/);
  t.equal(
    placed({ a: [H100, H100], b: [H100, H100] }, gang("j", { size: 6, hubBytes: 0 })),
    "needs 6 workers, by 2 of one model on one node; 4 of 4 would do now",
  );
  t.match(
    placed({ a: [H100, H100, H100], b: [H100] }, gang("j", { size: 4, hubBytes: 0 })),
    /; 4 of 4 would do now; on one node each they are enough for 1 of 2$/,
  );
  t.match(
    placed({ a: [H100, H100], b: [H100, H100] }, gang("j", { size: 4 })),
    /^needs 4 workers on one node, by 2 of one model; 4 of 4 would do now; they are on several/,
  );
});

t.test("several members lie on one node where one has room, else each wholly on one", async (t) => {
  const two = gang("j", { size: 4, hubBytes: 0 });
  t.same(placed({ a: [H100, H100, H100], b: [H100, H100, H100, H100] }, two), [
    ...["b-0", "b-1", "b-2", "b-3"],
  ]);
  t.same(placed({ a: [H100, H100, H100], b: [A100, H100, H100] }, two), [
    ...["a-0", "a-1"],
    ...["b-1", "b-2"],
  ]);
});

t.test("of pinned workers each member has those that were written for it", async (t) => {
  const pinned = (...workerIds: string[]) =>
    gang("j", { size: workerIds.length, selection: { kind: "pinned", workerIds }, hubBytes: 0 });
  const nodes = { a: [H100, H100, H100], b: [H100, H100] };
  t.same(placed(nodes, pinned("b-1", "b-0", "a-2", "a-0")), ["b-1", "b-0", "a-2", "a-0"]);
  t.match(placed(nodes, pinned("b-1", "a-0")), /no node has as many of one model free/);
});

t.test("a lost member's place is given as many workers again, on one node", async (t) => {
  const vacancy: Vacancy = {
    ...{ job: "j", member: "j-a1-m2", home: "a", hasPort: true, sequence: 1, userId: "u" },
    ...{ workersEach: 2, selection: ANY, onlyMine: false, estimatedMemoryMb: null },
    ...{ avoidNodes: ["b"], images: null, agentProtocol: 8 },
  };
  const fill = (nodes: Record<string, string[]>) =>
    plan({ ...fleet(nodes), gangs: [], vacancies: [vacancy] }).replacements[0]?.workers ?? null;
  t.same(fill({ a: [H100], c: [H100, H100] }), ["c-0", "c-1"]);
  t.same(fill({ a: [H100], b: [H100, H100] }), ["b-0", "b-1"], "rather there than nowhere");
  t.equal(fill({ a: [H100], c: [H100] }), null);
});

t.test("a limit by model is passed alone where no model's is enough for one member", async (t) => {
  const nodes = fleet({ a: [H100, H100, H100, H100], b: [A100, A100, A100, A100] });
  const share = (limit: Record<string, number>) => [
    { id: "p", parent: null, guarantee: {}, limit, weight: 1 },
  ];
  const four = gang("j", { size: 4, workersEach: 4 });
  t.match(limitPassedAlone(nodes, four, share({ [H100]: 2, [A100]: 3 })), { limit: 3 });
  t.equal(limitPassedAlone(nodes, four, share({ [H100]: 2, [A100]: 4 })), null);
});

t.test("an agent that knows one worker a member is given none of several", async (t) => {
  const { workers } = fleet({ a: [H100, H100] });
  const old = plan({ nodes: [node("a", { agentProtocol: 7 })], workers, gangs: [gang("j")] });
  t.match(old.waiting[0]!.why, /excluded: 2 on nodes whose agent is too old/);
});

t.test(
  "who makes way frees all that its members hold, and a reservation has whole members",
  async (t) => {
    const busy = fleet({ a: [`-${H100}`, `-${H100}`], b: [`-${H100}`, `-${H100}`] });
    const holder = (job: string, workers: string[], endsAt: number) => ({
      ...{ job, attempt: `${job}-a1`, project: "q", priority: 50, isPreemptible: true, workers },
      ...{ startedAt: 0, committedAt: 0, preemptedAt: [], endsAt, userId: "u" },
    });
    const running = [holder("wide", ["b-0", "b-1"], 9e6), holder("small", ["a-0"], 8e6)];
    const shares: Share[] = [
      { id: "p", parent: null, guarantee: { [H100]: 2 }, limit: {}, weight: 1 },
      { id: "q", parent: null, guarantee: {}, limit: {}, weight: 1 },
    ];
    const { preemptions } = plan({
      ...{ ...busy, gangs: [gang("j")] },
      sharing: { now: 1, shares, used: new Map(), running },
    });
    t.match(preemptions, [{ job: "j", victims: [{ job: "wide" }], workers: ["b-0", "b-1"] }]);
    const since = gang("j", { waitingSince: 0 });
    const small = gang("k", { sequence: 2, size: 1, workersEach: 1 });
    const nodes = fleet({ a: [H100, `-${H100}`], b: [`-${H100}`, `-${H100}`] });
    const held = [holder("wide", ["b-0", "b-1"], 5e6), holder("small", ["a-1"], 8e6)];
    const { placements } = plan({
      ...{ ...nodes, gangs: [since, small] },
      backfill: { now: 2e6, running: held },
    });
    t.match(placements, [{ job: "k", workers: ["a-0"] }], "the pair that comes free first is on b");
  },
);

t.test(
  "a guarantee counts by the model that a member could have, not by a cheaper one of which no node has enough",
  async (t) => {
    const wide = {
      ...{ job: "wide", attempt: "wide-a1", project: "q", priority: 50, isPreemptible: true },
      ...{ workers: ["b-0", "b-1"], startedAt: 0, committedAt: 0, preemptedAt: [], endsAt: null },
      userId: "u",
    };
    const shares: Share[] = [
      { id: "p", parent: null, guarantee: { [H100]: 2 }, limit: {}, weight: 1 },
      { id: "q", parent: null, guarantee: {}, limit: {}, weight: 1 },
    ];
    const { preemptions } = plan({
      ...{ ...fleet({ a: [A100], b: [`-${H100}`, `-${H100}`] }), gangs: [gang("j")] },
      sharing: { now: 1, shares, used: new Map(), running: [wide] },
    });
    t.match(preemptions, [{ job: "j", victims: [{ job: "wide" }], workers: ["b-0", "b-1"] }]);
  },
);

t.test("what a job asks of its node is the part of its workers at least", async (t) => {
  const size = { cpuCores: 8, memoryBytes: 100e9, devices: 4, slots: 0, slotsBytes: 0 };
  const { workers } = fleet({ a: [H100, H100, H100, H100] });
  const found = (change: Partial<WaitingGang>, of = size) => {
    const { placements, waiting } = plan({
      ...{ nodes: [node("a", { size: of })], workers, gangs: [gang("j", change)] },
    });
    return placements[0]?.workers.length ?? waiting[0]!.why;
  };
  const asks = (cpus: number | null, memoryBytes: number | null = null) => ({
    asks: { cpuMillis: cpus === null ? null : cpus * 1000, memoryBytes },
  });
  t.equal(found(asks(4)), 2, "two of four devices have half of the node");
  t.match(found(asks(5)), /excluded: 4 with too few processors of their node$/);
  t.equal(found({ ...asks(5), size: 3, workersEach: 3 }), 3);
  t.equal(found(asks(null, 45e9)), 2);
  t.match(found(asks(null, 46e9)), /excluded: 4 with too little memory of their node$/);
  const { waiting } = plan({ nodes: [node("a")], workers, gangs: [gang("j", asks(1))] });
  t.match(waiting[0]!.why, /4 on nodes that have not told what they have/);
});

t.test("whatever the fleet: a gang is placed just where a plain search finds room", (t) => {
  const models = fc.array(fc.constantFrom(H100, A100, `-${H100}`), { minLength: 1, maxLength: 6 });
  const sizes = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 4 }));
  let [whole, waits] = [0, 0];
  fc.assert(
    fc.property(
      fc.array(models, { minLength: 1, maxLength: 5 }),
      sizes,
      fc.boolean(),
      (rows, [members, each], hasHub) => {
        const nodes = Object.fromEntries(rows.map((row, at) => [`n${at}`, row]));
        const of = gang("j", {
          size: members * each,
          workersEach: each,
          hubBytes: hasHub ? 0 : null,
        });
        // By counting alone: so many members of each model fit on a node.
        const rooms = rows.map((row) =>
          [H100, A100].reduce(
            (sum, model) => sum + Math.floor(row.filter((one) => one === model).length / each),
            0,
          ),
        );
        const fits = hasHub
          ? rooms.reduce((a, b) => a + b, 0) >= members
          : Math.max(...rooms) >= members;
        const found = placed(nodes, of);
        if (typeof found === "string") {
          waits += 1;
          return !fits;
        }
        whole += 1;
        const { workers } = fleet(nodes);
        const byId = new Map(workers.map((worker) => [worker.id, worker]));
        const onNodes = new Set(found.map((id) => byId.get(id)!.node));
        const canLieOnOne = Math.max(...rooms) >= members;
        return (
          fits &&
          found.length === members * each &&
          new Set(found).size === found.length &&
          found.every((id) => byId.get(id)!.isFree) &&
          (!canLieOnOne || onNodes.size === 1) &&
          memberByMember(found, each).every(
            (held) =>
              new Set(held.map((id) => `${byId.get(id)!.node} ${byId.get(id)!.model}`)).size === 1,
          )
        );
      },
    ),
    { numRuns: 2_000 },
  );
  t.ok(whole > 300 && waits > 300, `${whole} placed, ${waits} waited`);
  t.end();
});
