/** What an agent tells of its devices, from its registration and beats to the operator. */
import {
  AGENT_PROTOCOL,
  type BeatRequest,
  type Inventory,
  type RegisterRequest,
} from "@resontech/contracts/agent-protocol";
import { versionsOf } from "@resontech/contracts/protocol-versions";
import t, { type Test } from "tap";
import { NodeViews } from "../../src/nodes/node-views.ts";
import type { ReadHandle } from "../../src/db/open-database.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";

const WORKERS: Inventory["workers"] = [
  {
    ...{ id: "node-a-0", kind: "gpu", model: "rtx_3090", memoryBytes: 25e9, vendor: "nvidia" },
    ...{ healthy: false, reason: "Xid 79: it has fallen off the bus", device: "GPU-1" },
    ...{ architecture: "8.6", driver: "580.95.05", pciAddress: "0000:3b:00.0", numaNode: 1 },
    ...{ grade: "unverified", shortOf: ["17 GB of memory, not 32"] },
  },
  {
    ...{ id: "node-a-1", kind: "gpu", model: "rtx_3090", memoryBytes: 25e9, vendor: "nvidia" },
    ...{ healthy: true, device: "GPU-2" },
  },
];

async function registered(t: Test, protocol: RegisterRequest["protocol"]) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  world.admit("node-a");
  const { commit, registry } = world.parts;
  const inventory: Inventory = {
    ...{ hostname: "a", os: "o", kernel: "k", cpuModel: "c", cpuCores: 2, memoryBytes: 17e9 },
    ...{ diskFreeBytes: 1e11, containerEngine: "podman", workers: WORKERS },
  };
  const request = { protocol, bootId: "b", agentVersion: "1", inventory, held: [] };
  const { nodeEpoch } = await commit.run(() => registry.register("node-a", request));
  const beat: BeatRequest = {
    ...{ nodeEpoch, nonce: "n", leaseOf: null, bootId: "b", held: [], loopLagMs: 0 },
    ...{ inventoryDigest: "0".repeat(64), diskFreeBytes: 1e11 },
  };
  return { world, beat };
}

t.test("the operator sees why a worker takes no work, and what each device does", async (t) => {
  const { world, beat } = await registered(t, versionsOf(AGENT_PROTOCOL));
  const { commit, registry, fleetViews } = world.parts;
  // It only reads; a test's world has one connection.
  const db = world.parts.db as unknown as ReadHandle;
  const views = new NodeViews(db, () => fleetViews.nodeHealth());
  const use = { memoryInUseBytes: 1e9, utilizationPercent: 91, powerWatts: 268, ageMs: 5 };
  await commit.run(() =>
    registry.hear("node-a", { ...beat, devices: [{ worker: "node-a-1", ...use }] }),
  );
  t.match(views.find("node-a")?.workers, [
    {
      ...{ worker: "node-a-0", model: "rtx_3090", unfit: "Xid 79: it has fallen off the bus" },
      ...{ architecture: "8.6", driver: "580.95.05", pciAddress: "0000:3b:00.0", numaNode: 1 },
      ...{ grade: "unverified", shortOf: ["17 GB of memory, not 32"], use: null },
    },
    { worker: "node-a-1", unfit: null, grade: null, shortOf: [], use },
  ]);
  t.strictSame(views.devices(), {
    models: [{ model: "rtx_3090", memoryBytes: 25e9 }],
    nodes: [
      {
        ...{ node: "node-a", state: "READY", worker: ["node-a-0", "node-a-1"], model: [0, 0] },
        ...{ held: [false, false], unfit: ["Xid 79: it has fallen off the bus", null] },
        ...{ usePercent: [null, 91], memoryPercent: [null, 4], temperatureC: [null, null] },
      },
    ],
  });
  t.strictSame(fleetViews.nodeHealth()[0]?.unhealthy, [
    { worker: "node-a-0", reason: "Xid 79: it has fallen off the bus" },
  ]);
  t.match(fleetViews.workers().workers, [{ status: "unavailable" }, { status: "free" }]);
});

t.test("an undrain is told with every beat, to agents that know of it", async (t) => {
  const { world, beat } = await registered(t, versionsOf(AGENT_PROTOCOL));
  t.equal(world.parts.registry.beatReply("node-a", beat).undrains, 0);
  world.parts.meta.next("undrains:node-a");
  t.equal(world.parts.registry.beatReply("node-a", beat).undrains, 1);
  t.equal(world.parts.meta.number("undrains:node-b"), 0, "each node has its own");
  const older = await registered(t, 1);
  t.notOk("undrains" in older.world.parts.registry.beatReply("node-a", older.beat));
});
