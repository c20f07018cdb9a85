import { layOutWorkers } from "@resontech/agent/workers";
import fc from "fast-check";
import t from "tap";
import type {
  PlacementNode,
  PlacementWorker,
  Vacancy,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import { plan } from "../../../src/kernel/decisions/placement.ts";
import { workerResources } from "../../../src/kernel/decisions/resources.ts";
import {
  type ServerFacts,
  serverResources,
} from "../../../src/workloads/federation/server-resources.ts";
import { predictor } from "../../../src/workloads/predictor/predictor.ts";

const FOR_PROCESSORS: WaitingGang["images"] = [{ needs: null }];

const gang = (id: string, change: Partial<WaitingGang> = {}): WaitingGang => ({
  ...{
    job: id,
    isFurther: false,
    sequence: Number(id.replace(/\D/g, "")),
    userId: "u",
    project: "p",
    priority: 50,
    runsMs: null,
    size: 2,
    onlyMine: false,
    estimatedMemoryMb: null,
    hubBytes: 0,
    avoidNodes: [],
    agentProtocol: 1,
    isReached: false,
    images: FOR_PROCESSORS,
  },
  selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
  ...change,
});
const node = (id: string, change: Partial<PlacementNode> = {}): PlacementNode => ({
  ...{
    id,
    ownerId: null,
    isReady: true,
    isCordoned: false,
    hasDisk: true,
    freePorts: 10,
    gatewayPorts: 10,
    capacityBytes: 16e9,
  },
  agentProtocol: 1,
  ...change,
});
const workers = (
  node: string,
  count: number,
  change: Partial<PlacementWorker> = {},
): PlacementWorker[] =>
  Array.from({ length: count }, (_, n) => ({
    ...{
      id: `${node}-${n}`,
      node,
      model: "cpu",
      memoryBytes: 8 * 1024 ** 3,
      device: { kind: "cpu" },
      isHealthy: true,
      isFree: true,
    },
    ...change,
  }));
const NOTHING_KNOWN: ServerFacts = {
  modelBytes: 0,
  sites: 2,
  estimatedMemoryMb: null,
  knownBytes: null,
};
const auto = (gpuModels: string[] | null, maxPriceCents: number | null = null) =>
  ({ kind: "auto", gpuModels, maxPriceCents }) as const;

t.test("a gang is placed wholly or not at all, in order of arrival", async (t) => {
  const found = plan({
    gangs: [gang("j2"), gang("j1")],
    nodes: [node("a"), node("b")],
    workers: [...workers("a", 2), ...workers("b", 1)],
  });
  t.same(found.placements, [{ job: "j1", isFurther: false, home: "a", workers: ["a-0", "a-1"] }]);
  t.same(
    found.waiting.map(({ job }) => job),
    ["j2"],
  );
  t.match(found.waiting[0]!.why, /needs 2 workers; 1 of 3 would do now; excluded: 2 busy/);
});

t.test("the same snapshot in any order gives the same plan", async (t) => {
  const all = [...workers("a", 12), ...workers("b", 12)];
  const waits = [gang("j1"), gang("j2", { size: 11 }), gang("j3")];
  const forward = plan({ gangs: waits, nodes: [node("a"), node("b")], workers: all });
  t.same(
    plan({ gangs: waits.toReversed(), nodes: [node("b"), node("a")], workers: all.toReversed() }),
    forward,
  );
  t.same(forward.placements[0]!.workers, ["a-0", "a-1"]);
  t.same(forward.placements[1]!.workers.at(-1), "b-10");
});

t.test("models are an order of preference under the price ceiling", async (t) => {
  const fleet = [...workers("a", 2, { model: "rtx_4090" }), ...workers("b", 2, { model: "h100" })];
  const nodes = [node("a"), node("b")];
  const where = (selection: WaitingGang["selection"]) =>
    plan({ gangs: [gang("j1", { selection })], nodes, workers: fleet }).placements[0]?.home;
  t.equal(where(auto(["h100", "rtx_4090"])), "b");
  t.equal(where(auto(["rtx_4090", "h100"])), "a");
  t.equal(where(auto(["h100", "rtx_4090"], 60)), "a", "h100 is above the ceiling");
  t.equal(where(auto(null)), "a", "the cheapest");
  t.equal(where(auto(["l4"])), undefined);
});

t.test("the first model is filled before the second is touched", async (t) => {
  const mixed = [
    ...workers("a", 1, { model: "h100" }),
    { ...workers("a", 2, { model: "rtx_4090" })[1]! },
  ];
  const found = plan({
    gangs: [gang("j1", { selection: auto(["rtx_4090", "h100"]) })],
    nodes: [node("a")],
    workers: mixed,
  });
  t.same(found.placements[0]!.workers, ["a-1", "a-0"]);
});

t.test("pinned workers get the shards in the order they were named", async (t) => {
  const selection = { kind: "pinned", workerIds: ["a-2", "a-0"] } as const;
  const pinned = gang("j1", { selection: { ...selection, workerIds: [...selection.workerIds] } });
  t.same(
    plan({ gangs: [pinned], nodes: [node("a")], workers: workers("a", 3) }).placements[0]!.workers,
    ["a-2", "a-0"],
  );
  const busy = workers("a", 3).map((worker) => ({ ...worker, isFree: worker.id !== "a-2" }));
  t.match(
    plan({ gangs: [pinned], nodes: [node("a")], workers: busy }).waiting[0]!.why,
    /1 busy, 1 not among the pinned workers/,
  );
});

t.test("who waits behind endpoints is told that these have no end of their own", async (t) => {
  const held = workers("a", 3).map((worker) => ({
    ...worker,
    isFree: false,
    whyHeld: worker.id === "a-1" ? null : predictor.whyHeld,
  }));
  t.match(
    plan({ gangs: [gang("behind-endpoints", { size: 3 })], nodes: [node("a")], workers: held })
      .waiting,
    [{ why: /excluded: 1 busy, 2 held by endpoints, which have no end of their own: stop one/ }],
  );
});

t.test("each filter says how many it excludes", async (t) => {
  const why = (
    change: Partial<WaitingGang>,
    at: Partial<PlacementNode> = {},
    has: Partial<PlacementWorker> = {},
  ) =>
    plan({ gangs: [gang("j1", change)], nodes: [node("a", at)], workers: workers("a", 2, has) })
      .waiting[0]?.why;
  t.match(why({ estimatedMemoryMb: 9_000 }), /2 with too little memory/);
  t.match(why({}, { isReady: false }), /2 on nodes that do not answer/);
  t.match(why({ agentProtocol: 2 }), /2 on nodes whose agent is too old/);
  t.equal(why({ agentProtocol: 2 }, { agentProtocol: 2 }), undefined);
  t.match(why({}, { isCordoned: true }), /2 on cordoned nodes/);
  t.match(why({}, { hasDisk: false }), /2 on nodes whose disk is full/);
  t.match(why({}, {}, { isHealthy: false }), /2 unhealthy or quarantined/);
  t.match(why({ onlyMine: true }, { ownerId: "other" }), /2 of other owners/);
  t.equal(why({ onlyMine: true }, { ownerId: "u" }), undefined);
  t.equal(why({ onlyMine: true }), undefined, "the appliance's own nodes are its organisation's");
  t.match(why({ selection: auto(["h100"]) }), /2 of other models/);
  t.match(why({ selection: auto(null, 1) }), /2 above the price ceiling/);
});

t.test(
  "a node that failed the job is left alone while another could take it, and used when none could",
  async (t) => {
    const avoiding = gang("j1", { avoidNodes: ["a"] });
    const both = {
      nodes: [node("a"), node("b")],
      workers: [...workers("a", 2), ...workers("b", 2)],
    };
    t.equal(plan({ gangs: [avoiding], ...both }).placements[0]!.home, "b");
    const busy = {
      ...both,
      workers: both.workers.map((worker) => ({ ...worker, isFree: worker.node === "a" })),
    };
    t.match(
      plan({ gangs: [avoiding], ...busy }).waiting[0]!.why,
      /2 on nodes where the job has failed/,
    );
    t.equal(
      plan({ gangs: [avoiding], nodes: [node("a")], workers: workers("a", 2) }).placements[0]!.home,
      "a",
    );
  },
);

t.test("one node is preferred, the one with the least to spare", async (t) => {
  const fleet = [...workers("a", 4), ...workers("b", 2), ...workers("c", 1)];
  const found = plan({
    gangs: [gang("j1")],
    nodes: [node("a"), node("b"), node("c")],
    workers: fleet,
  });
  t.same(found.placements, [{ job: "j1", isFurther: false, home: "b", workers: ["b-0", "b-1"] }]);
});

t.test(
  "a gang that no node can take lies on as few as can, its server beside most of its clients",
  async (t) => {
    const fleet = [...workers("a", 1), ...workers("b", 3), ...workers("c", 2), ...workers("d", 1)];
    const nodes = ["a", "b", "c", "d"].map((id) => node(id));
    const [placement] = plan({
      gangs: [gang("j1", { size: 4 })],
      nodes,
      workers: fleet,
    }).placements;
    t.same(placement, {
      job: "j1",
      isFurther: false,
      home: "b",
      workers: ["b-0", "b-1", "b-2", "a-0"],
    });
    const even = plan({
      gangs: [gang("j1")],
      nodes,
      workers: [...workers("d", 1), ...workers("c", 1)],
    }).placements;
    t.same(
      even,
      [{ job: "j1", isFurther: false, home: "c", workers: ["c-0", "d-0"] }],
      "of equals the lower id",
    );
  },
);

t.test(
  "the server's node is one that the others can reach, on a port that it still has",
  async (t) => {
    const fleet = [...workers("a", 2), ...workers("b", 1), ...workers("c", 3)];
    const nodes = [
      node("a", { freePorts: 0 }),
      node("b", { freePorts: 1 }),
      node("c", { freePorts: 0 }),
    ];
    const waits = [gang("j1", { size: 4 }), gang("j2", { size: 2 })];
    const found = plan({ gangs: waits, nodes, workers: fleet });
    t.same(found.placements, [
      { job: "j1", isFurther: false, home: "b", workers: ["b-0", "c-0", "c-1", "c-2"] },
      { job: "j2", isFurther: false, home: "a", workers: ["a-0", "a-1"] },
    ]);
    const unreachable = {
      nodes: [node("a", { freePorts: 0 }), node("b", { freePorts: 0 })],
      workers: [...workers("a", 1), ...workers("b", 1)],
    };
    t.match(
      plan({ gangs: [gang("j1")], ...unreachable }).waiting[0]!.why,
      /2 of 2 would do now; they are on several nodes, none of which/,
    );
  },
);

t.test("pinned workers may be of several nodes", async (t) => {
  const pinned = gang("j1", {
    size: 3,
    selection: { kind: "pinned", workerIds: ["b-1", "a-0", "b-0"] },
  });
  const found = plan({
    gangs: [pinned],
    nodes: [node("a"), node("b")],
    workers: [...workers("a", 3), ...workers("b", 3)],
  });
  t.same(found.placements, [
    { job: "j1", isFurther: false, home: "b", workers: ["b-1", "a-0", "b-0"] },
  ]);
});

const fleetOf = fc.array(
  fc.record({
    count: fc.integer({ min: 0, max: 4 }),
    freePorts: fc.integer({ min: 0, max: 2 }),
    busy: fc.nat(15),
  }),
  { minLength: 1, maxLength: 4 },
);

t.test(
  "whatever the fleet: whole gangs, each worker once, a server beside a client, on one node if one can",
  async () => {
    fc.assert(
      fc.property(
        fleetOf,
        fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 4 }),
        (fleet, sizes) => {
          const nodes = fleet.map(({ freePorts }, at) => node(`n${at}`, { freePorts }));
          const all = fleet.flatMap(({ count, busy }, at) =>
            workers(`n${at}`, count).map((worker, n) => ({
              ...worker,
              isFree: (busy & (1 << n)) === 0,
            })),
          );
          const waits = sizes.map((size, at) => gang(`j${at}`, { size }));
          const { placements, waiting } = plan({ gangs: waits, nodes, workers: all });
          const free = new Set(all.filter(({ isFree }) => isFree).map(({ id }) => id));
          const ports = new Map(nodes.map(({ id, freePorts }) => [id, freePorts]));
          const nodeOf = (id: string) => id.slice(0, id.lastIndexOf("-"));
          for (const { job: id, home, workers: mine } of placements) {
            const { size } = waits.find((one) => one.job === id)!;
            const mineOn = Map.groupBy(mine, nodeOf);
            const freeOn = Map.groupBy(free, nodeOf);
            if (mine.length !== size || new Set(mine).size !== size)
              throw new Error(`${id} is not whole`);
            if (!mine.every((worker) => free.has(worker)))
              throw new Error(`${id} has a worker that is not free`);
            if (!mineOn.has(home)) throw new Error(`${id}'s server is alone`);
            const couldBeWhole = [...freeOn.values()].some(({ length }) => length >= size);
            if (couldBeWhole && mineOn.size > 1) throw new Error(`${id} is split without need`);
            for (const worker of mine) free.delete(worker);
            if (mineOn.size === 1) continue;
            if ((ports.get(home) ?? 0) < 1) throw new Error(`${id}'s server can't be reached`);
            ports.set(home, ports.get(home)! - 1);
          }
          if (placements.length + waiting.length !== waits.length)
            throw new Error("a job is neither placed nor waits");
        },
      ),
      { numRuns: 300, seed: 20260101 },
    );
  },
);

t.test("resources follow workers and node", async (t) => {
  const GIB = 1024 ** 3;
  const host = { cpuCores: 4, memoryBytes: 40 * GIB };
  const slots = { ...host, devices: 0, slots: 2, slotsBytes: 30 * GIB };
  const slot = (count: number) => ({ kind: "cpu", count, memoryBytes: count * 15 * GIB }) as const;
  t.match(workerResources(slots, slot(1), 200), {
    ...{ cpuMillis: 2000, memoryBytes: 15 * GIB, diskBytes: 10 * GIB + 200 },
  });
  t.match(workerResources(slots, slot(2), 0), { cpuMillis: 4000, memoryBytes: 30 * GIB });
  const gpus = { ...host, devices: 2, slots: 0, slotsBytes: 0 };
  const gpu = (count: number) => ({ kind: "gpu", count, memoryBytes: count * 80 * GIB }) as const;
  t.match(workerResources(gpus, gpu(1), 0), { cpuMillis: 2000, memoryBytes: 18 * GIB });
  t.match(workerResources(gpus, gpu(2), 0), { cpuMillis: 4000, memoryBytes: 36 * GIB });
  const small = { cpuCores: 1, memoryBytes: 2 * GIB };
  t.match(serverResources(host, NOTHING_KNOWN), { cpuMillis: 2000, memoryBytes: 8 * GIB });
  t.match(serverResources(small, NOTHING_KNOWN), { cpuMillis: 1000, memoryBytes: GIB });
});

t.test("devices and the CPU slots beside them never have more than the node together", (t) => {
  fc.assert(
    fc.property(
      ...[fc.integer({ min: 1, max: 128 }), fc.integer({ min: 1, max: 8 })],
      fc.integer({ min: 0, max: 40 }),
      (cpuCores, devices, count) => {
        const memoryBytes = cpuCores * 32e9;
        const ids = Array.from({ length: devices }, (_, at) => `GPU-${at}`);
        const model = {
          model: "h100",
          memoryBytes: 80e9,
          vendor: "nvidia",
          healthy: true,
        } as const;
        const workers = layOutWorkers(
          "n",
          ids.map((device) => ({ ...model, device })),
          ids,
          { cpuCores, memoryBytes },
          count,
        );
        const bytesOf = (kind: "cpu" | "gpu") =>
          workers.filter((one) => one.kind === kind).map((one) => one.memoryBytes);
        const slotsBytes = bytesOf("cpu").reduce((sum, bytes) => sum + bytes, 0);
        const node = { cpuCores, memoryBytes, devices, slots: count, slotsBytes };
        const all = workers.map((one) =>
          workerResources(node, { kind: one.kind, count: 1, memoryBytes: one.memoryBytes }, 0),
        );
        const sumOf = (what: "cpuMillis" | "memoryBytes") =>
          all.reduce((sum, one) => sum + one[what], 0);
        // No member has less than a tenth of a core.
        const floor = all.every(({ cpuMillis }) => cpuMillis > 100);
        return (
          workers.length === devices + count &&
          sumOf("memoryBytes") <= memoryBytes * 0.9 &&
          (!floor || sumOf("cpuMillis") <= cpuCores * 1000)
        );
      },
    ),
  );
  t.end();
});

t.test(
  "a server's memory follows its model, else what the job states, as far as the node has it",
  async (t) => {
    const GIB = 1024 ** 3;
    const host = { cpuCores: 4, memoryBytes: 40 * GIB };
    const bytes = (change: Partial<ServerFacts>) =>
      serverResources(host, { ...NOTHING_KNOWN, ...change }).memoryBytes;
    t.equal(bytes({ modelBytes: GIB / 4 }), 8 * GIB, "the usual is enough");
    t.equal(bytes({ modelBytes: 2 * GIB }), 23 * GIB);
    t.equal(bytes({ modelBytes: 2 * GIB, sites: 4 }), 35 * GIB);
    t.equal(bytes({ modelBytes: 2 * GIB, sites: 40 }), 35 * GIB, "so many at once");
    t.equal(bytes({ modelBytes: 8 * GIB }), 36 * GIB, "all that a container may have");
    t.equal(bytes({ estimatedMemoryMb: 20_480 }), 20 * GIB);
    t.equal(bytes({ modelBytes: 2 * GIB, estimatedMemoryMb: 99_999 }), 23 * GIB);
    t.equal(bytes({ modelBytes: 2 * GIB, knownBytes: 30 * GIB }), 30 * GIB);
  },
);

t.test("a server goes where it has memory, with its gang or to one of its nodes", async (t) => {
  const nodes = [node("a", { capacityBytes: 4e9 }), node("b", { capacityBytes: 20e9 })];
  const home = (hubBytes: number, among: PlacementWorker[]) => {
    const { placements, waiting } = plan({
      gangs: [gang("j1", { hubBytes })],
      nodes,
      workers: among,
    });
    return placements[0]?.home ?? waiting[0]!.why;
  };
  t.equal(home(3e9, [...workers("a", 2), ...workers("b", 2)]), "a");
  t.equal(home(9e9, [...workers("a", 2), ...workers("b", 2)]), "b");
  t.equal(home(9e9, [...workers("a", 2), ...workers("b", 1)]), "b");
  t.match(home(9e9, workers("a", 2)), /^its server needs 9000000000 bytes of memory; no node/);
});

t.test(
  "a lost client's place is filled before any waiting job is placed, beside the server where there is room",
  async (t) => {
    const vacancy = (change: Partial<Vacancy> = {}): Vacancy => {
      const { size: _size, hubBytes: _hubBytes, isFurther: _isFurther, ...wishes } = gang("j9");
      return { ...wishes, job: "j9", member: "j9-a1-site-2", home: "a", hasPort: false, ...change };
    };
    const nodes = [node("a"), node("b")];
    const both = [...workers("a", 1), ...workers("b", 1)];
    t.same(
      plan({ gangs: [gang("j1", { size: 1 })], vacancies: [vacancy()], nodes, workers: both }),
      {
        replacements: [{ job: "j9", member: "j9-a1-site-2", workers: ["a-0"] }],
        placements: [{ job: "j1", isFurther: false, home: "b", workers: ["b-0"] }],
        preemptions: [],
        waiting: [],
      },
    );
    const fill = (change: Partial<Vacancy>, of = nodes, among = both) =>
      plan({ gangs: [], vacancies: [vacancy(change)], nodes: of, workers: among }).replacements[0]
        ?.workers[0] ?? null;
    t.equal(fill({ avoidNodes: ["a"] }), "b-0");
    t.equal(fill({ avoidNodes: ["a", "b"] }), "a-0", "rather there than nowhere");
    t.equal(fill({}, nodes, workers("b", 1)), "b-0");
    const unreached = [node("a", { freePorts: 0 }), node("b")];
    t.equal(fill({}, unreached, workers("b", 1)), null, "no other node can reach the server");
    t.equal(fill({ hasPort: true }, unreached, workers("b", 1)), "b-0", "it has its port already");
    t.equal(fill({ selection: auto(["rtx_4090"]) }), null, "the job's wishes hold");
    t.equal(fill({}, [node("a", { isReady: false }), node("b")]), "b-0");
  },
);

t.test("a worker is given a job only where one of its images runs", async (t) => {
  const cuda = (leastDriver: string, architectures: string[]) => ({
    needs: { vendor: "nvidia" as const, leastDriver, architectures },
  });
  const images = [
    { needs: null },
    cuda("580", ["7.5", "8.9"]),
    cuda("525.60.13", ["6.0", "7.5", "8.0"]),
  ];
  const gpu = (driver: string, architecture: string): Partial<PlacementWorker> => ({
    model: "rtx_4090",
    device: { kind: "gpu", vendor: "nvidia", driver, architecture },
  });
  const plan1 = (fleet: PlacementWorker[], change: Partial<WaitingGang> = {}) =>
    plan({
      gangs: [gang("j1", { size: 1, images, ...change })],
      nodes: [node("a")],
      workers: fleet,
    });
  t.same(plan1(workers("a", 1, gpu("580.95.05", "8.9"))).placements[0]?.workers, ["a-0"]);
  t.same(plan1(workers("a", 1, gpu("535.1", "6.1"))).placements[0]?.workers, ["a-0"], "CUDA 12");
  t.match(
    plan1(workers("a", 2, gpu("470.1", "6.1"))).waiting[0]?.why,
    /excluded: 2 whose driver 470\.1 is older than 525\.60\.13/,
    "the driver that would do is named",
  );
  t.match(
    plan1(workers("a", 1, gpu("535.1", "8.9")), { images: [cuda("580", ["8.9"])] }).waiting[0]?.why,
    /1 whose driver 535\.1 is older than 580$/,
  );
  t.match(
    plan1(workers("a", 1, gpu("580.95", "12.0"))).waiting[0]?.why,
    /1 of architecture 12\.0, which the image has no code for/,
  );
  t.match(
    plan1(workers("a", 1, gpu("580.95", "8.9")), { images: FOR_PROCESSORS }).waiting[0]?.why,
    /1 of a vendor \(nvidia\) that no image is for/,
  );
  t.match(
    plan1(workers("a", 1), { images: images.slice(1) }).waiting[0]?.why,
    /1 without an accelerator/,
  );
  t.same(
    plan1(workers("a", 1, gpu("470.1", "6.1")), { images: null }).placements[0]?.workers,
    ["a-0"],
    "a job that an older program accepted has one image for all",
  );
});

t.test("a job that has no gang gets its first before another gets its second", async (t) => {
  const waits = (id: string, before: number) => gang(id, { size: 1, isReached: true, before });
  const more = (id: string, before: number) => ({ ...waits(id, before), isFurther: true });
  const placed = (count: number, gangs: WaitingGang[]) =>
    plan({ gangs, nodes: [node("n-1")], workers: workers("n-1", count) }).placements.map(
      ({ job, isFurther }) => `${job}${isFurther ? " more" : ""}`,
    );
  const growing = [more("job-1", 1), more("job-1", 2)];
  const down = more("job-9", 0);
  t.same(placed(1, [...growing, down]), ["job-9 more"]);
  t.same(placed(2, [...growing, down]), ["job-9 more", "job-1 more"]);
  t.same(
    placed(2, [more("job-1", 2), more("job-2", 1)]),
    ["job-2 more", "job-1 more"],
    "of those that grow, whoever has the fewest",
  );
  // The first gang of one that may have several, while it waits still.
  const jobs = [gang("job-3", { size: 1 }), waits("job-8", 0)];
  t.same(placed(1, [...jobs, ...growing]), ["job-8"]);
  t.same(placed(1, [...jobs, down]), ["job-9 more"]);
  t.same(placed(2, [...jobs, down]), ["job-9 more", "job-3"], "else in order");
  t.same(placed(9, [...jobs, ...growing, down]), [
    ...["job-9 more", "job-8", "job-1 more", "job-1 more", "job-3"],
  ]);
});

t.test("what runs grows before what waits, each on a node that has a port for it", async (t) => {
  const nodes = ["a", "b"].map((id) => node(id, { freePorts: 0, gatewayPorts: 1 }));
  const further = gang("j9", { size: 1, hubBytes: null, isReached: true, isFurther: true });
  const found = plan({
    gangs: [gang("j1", { size: 1 }), further, { ...further }, { ...further }],
    ...{ nodes, workers: [...workers("a", 3), ...workers("b", 1)] },
  });
  t.same(
    found.placements.map(({ job: id, home }) => `${id} ${home}`),
    ["j9 b", "j9 a", "j1 a"],
  );
  t.match(found.waiting, [{ job: "j9", why: /4 on nodes without a free job port/ }]);
});
