/** Orders to bring the appliance's release, as nodes are told of them by beats and end them by registering. */
import {
  AGENT_PROTOCOL,
  type BeatReply,
  type Inventory,
  type UpgradeFailure,
} from "@resontech/contracts/agent-protocol";
import { versionsOf } from "@resontech/contracts/protocol-versions";
import t, { type Test } from "tap";
import { KernelWorld } from "../kernel/kernel-world.ts";

const OLD = `0.1.0-${"a".repeat(12)}`;
const NEW = `0.2.0-${"b".repeat(12)}`;

type Told = { release?: string; failed?: UpgradeFailure; well?: number };

/** An appliance that gives out the new release, and nodes that register and beat. */
function fleet(t: Test, nodes: readonly string[]) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  world.release = NEW;
  world.crash();
  for (const node of nodes) world.admit(node);
  const epochs = new Map<string, { generation: number; counter: number }>();
  const inventoryOf = (node: string, well: number): Inventory => ({
    ...{ hostname: node, os: "o", kernel: "k", cpuModel: "c", cpuCores: 2, memoryBytes: 17e9 },
    ...{ diskFreeBytes: 1e11, containerEngine: "podman" },
    workers: [0, 1].map((n) => ({
      ...{ id: `${node}-${n}`, kind: "cpu" as const, model: "cpu", memoryBytes: 1 },
      healthy: n < well,
    })),
  });
  const register = async (node: string, { release = OLD, failed, well = 2 }: Told = {}) => {
    const request = {
      ...{ bootId: "b", agentVersion: "1", inventory: inventoryOf(node, well), held: [] },
      ...{ protocol: versionsOf(AGENT_PROTOCOL) },
      ...(release === "" ? {} : { release }),
      ...(failed === undefined ? {} : { upgradeFailed: failed }),
    };
    const { nodeEpoch } = await world.parts.commit.run(() =>
      world.parts.registry.register(node, request),
    );
    epochs.set(node, nodeEpoch);
  };
  const beat = async (node: string): Promise<BeatReply["upgrade"]> => {
    const request = {
      ...{ nodeEpoch: epochs.get(node)!, nonce: "n", leaseOf: null, bootId: "b", held: [] },
      ...{ loopLagMs: 0, inventoryDigest: "0".repeat(64), diskFreeBytes: 1e11 },
    };
    const { registry, commit } = world.parts;
    if (registry.isEventful(node, request)) await commit.run(() => registry.hear(node, request));
    else registry.hear(node, request);
    return registry.beatReply(node, request).upgrade;
  };
  const order = async (named: string[] | null = null, except: string[] = []) => {
    const { upgrades, commit } = world.parts;
    const plan = upgrades.plan(named, except);
    await commit.run(() => {
      upgrades.replaceOrders(plan);
      for (const wanted of plan.requests) upgrades.note(plan, wanted);
    });
    return plan;
  };
  const told = async (): Promise<string[]> => {
    const begun: string[] = [];
    for (const node of nodes) if ((await beat(node)) !== undefined) begun.push(node);
    return begun;
  };
  const upgradeOf = (node: string) =>
    world.parts.upgrades.facts().find((one) => one.node === node)?.upgrade ?? null;
  return { world, register, beat, order, told, upgradeOf };
}

t.test("nodes are told wave by wave, each until it has registered with the release", async (t) => {
  const nodes = ["a", "b", "c"];
  const { world, register, beat, order, told, upgradeOf } = fleet(t, nodes);
  for (const node of nodes) await register(node);
  t.same(await told(), [], "nobody ordered anything");
  const plan = await order();
  t.same(await told(), ["a"]);
  t.same(await beat("a"), { order: plan.order, release: NEW }, "again and again");
  world.crash();
  t.same(await told(), ["a"], "the order lives in the database");

  await register("a", { release: NEW });
  t.same(upgradeOf("a"), {
    ...{ order: plan.order, release: NEW, state: "done", wave: 0, failed: null, waitsFor: null },
  });
  t.same(await told(), ["b"]);
  await register("b", { release: NEW });
  t.same(await told(), ["c"]);
  await register("c", { release: NEW });
  t.same(await told(), []);
  t.same(
    world.parts.upgrades.facts().map(({ release }) => release),
    [NEW, NEW, NEW],
  );
  t.same((await order()).current, nodes, "a second order finds nothing to do");
});

t.test("a node whose workers are not as well as before is waited for", async (t) => {
  const { register, order, told, upgradeOf, world } = fleet(t, ["a", "b"]);
  await register("a", { well: 1 });
  await register("b");
  await order();
  t.same(await told(), ["a"]);
  await register("a", { release: NEW, well: 0 });
  t.equal(upgradeOf("a")?.state, "begun");
  t.same(await told(), ["a"]);
  await register("a", { release: NEW, well: 1 });
  t.same(await told(), ["b"], "the one that was not well before is asked of nobody");
  world.nowMs += 1_800_001;
  t.match(upgradeOf("b"), { state: "failed", failed: { code: "node_overdue" } });
  await register("b", { release: NEW });
  t.match(upgradeOf("b"), { state: "done" }, "late, and there");
});

t.test("one that returned stops the waves and says why; another order begins anew", async (t) => {
  const { register, order, told, upgradeOf } = fleet(t, ["a", "b"]);
  for (const node of ["a", "b"]) await register(node);
  const first = await order();
  t.same(await told(), ["a"]);
  const failed = { order: first.order, code: "node_not_ready", message: "no answer" };
  await register("a", { failed });
  t.match(upgradeOf("a"), {
    state: "failed",
    failed: { code: "node_not_ready", message: "no answer" },
  });
  t.same(await told(), []);
  t.equal(upgradeOf("b")?.waitsFor, "nothing, for another failed");

  t.not((await order()).order, first.order);
  await register("a", { failed });
  t.same(await told(), ["a"], "what an earlier order came to is no failure of this one");
});

t.test("a node that is away catches up, and one that is excepted stays as it is", async (t) => {
  const { world, register, order, told, upgradeOf } = fleet(t, ["a", "b", "c"]);
  for (const node of ["a", "b", "c"]) await register(node);
  world.parts.db.exec("UPDATE nodes SET state = 'DEAD' WHERE id = 'a'");
  const plan = await order(null, ["c"]);
  t.same(
    plan.requests.map(({ node }) => node),
    ["b", "a"],
    "the first is one that answers",
  );
  t.equal(upgradeOf("a")?.waitsFor, "itself");
  t.same(await told(), ["b"]);
  await register("b", { release: NEW });
  t.same(await told(), []);
  world.parts.db.exec("UPDATE nodes SET state = 'READY' WHERE id = 'a'");
  t.same(await told(), ["a"]);
  t.equal(upgradeOf("c"), null);
});

t.test("who is silent on a long lease is away after a minute, though not dead", async (t) => {
  const { world, register, order, told, upgradeOf } = fleet(t, ["a", "b"]);
  for (const node of ["a", "b"]) await register(node);
  world.parts.db.exec("UPDATE nodes SET state = 'SUSPECT' WHERE id = 'a'");
  world.crash();
  const plan = await order();
  t.same(
    plan.requests.map(({ node }) => node),
    ["b", "a"],
    "the first is one that answers",
  );
  t.equal(upgradeOf("a")?.waitsFor, "its turn", "it may only not have come back yet");
  world.nowMs += 60_000;
  t.equal(upgradeOf("a")?.waitsFor, "itself");
  await register("a");
  t.equal(upgradeOf("a")?.waitsFor, "its turn");
  t.same(await told(), ["b"]);
});

t.test("another order takes the place of one, and leaves alone what is under way", async (t) => {
  const { register, order, told, upgradeOf } = fleet(t, ["a", "b", "c"]);
  for (const node of ["a", "b", "c"]) await register(node);
  const first = await order();
  await told();
  const second = await order(["c"]);
  t.same([second.underWay, second.requests.map(({ node }) => node)], [["a"], ["c"]]);
  t.match(upgradeOf("a"), { order: first.order, state: "begun" });
  t.equal(upgradeOf("b"), null);
});

t.test("who does not say its release is left out by name", async (t) => {
  const { world, register, order } = fleet(t, ["a", "b"]);
  await register("a");
  await register("b", { release: "" });
  const plan = await order();
  t.same(
    plan.leftOut.map(({ node }) => node),
    ["b"],
  );
  t.throws(() => world.parts.upgrades.plan(["z"], []), { code: "not_found" });
  t.throws(() => world.parts.upgrades.plan(null, ["z"]), { code: "not_found" });
  world.admit("c");
  t.throws(
    () => world.parts.upgrades.plan(["c"], []),
    { code: "not_found" },
    "it never registered",
  );
  t.same((await order(null, ["c"])).requests.length, 1, "and may be excepted");
});

t.test("what an older coordinator registered since counts for nothing", async (t) => {
  const { world, register } = fleet(t, ["a"]);
  await register("a");
  world.parts.db.exec("UPDATE nodes SET registered_at = registered_at + 1");
  t.same(world.parts.upgrades.facts()[0]?.release, null);
});

t.test("an order is for the release that the appliance had then", async (t) => {
  const { world, register, order, told, upgradeOf } = fleet(t, ["a"]);
  await register("a");
  await order();
  world.release = `0.3.0-${"c".repeat(12)}`;
  world.crash();
  t.same(await told(), []);
  t.equal(upgradeOf("a"), null);
  world.release = null;
  world.crash();
  t.throws(() => world.parts.upgrades.plan(null, []), { code: "not_found" });
});
