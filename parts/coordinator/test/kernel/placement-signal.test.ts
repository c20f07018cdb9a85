import t from "tap";
import { PlacementSignal } from "../../src/kernel/placement-signal.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

t.test("what was raised is taken once, each cause in the order in which it came", async (t) => {
  const signal = new PlacementSignal();
  t.same(signal.take(), ["start"], "rows of an earlier life may wait");
  t.notOk(signal.isRaised);
  signal.raise("worker-free");
  signal.raise("job-waits");
  signal.raise("worker-free");
  t.ok(signal.isRaised);
  t.same(signal.take(), ["worker-free", "job-waits"]);
  t.same(signal.take(), []);
});

t.test("whatever placement reads raises it when it changes", async (t) => {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const { kernel, scheduler, heartbeats, liveness, removal, commit, tables } = world.parts;
  const { placementSignal: signal } = tables;
  const agent = new SimAgent(world, "node-a", 2);
  world.admit(agent.node);
  signal.take();

  await agent.register();
  t.same(signal.take(), ["node-registered"]);
  await agent.beat();
  t.same(signal.take(), [], "a beat that tells nothing new");
  heartbeats.beat(agent.node, null, { loopLagMs: 0, diskFreeBytes: 0 });
  await agent.beat();
  t.same(signal.take(), ["disk-free"]);

  const { id } = await kernel.submit(world.task("placed"));
  t.same(signal.take(), ["job-waits"]);
  await scheduler.cycle();
  t.same(signal.take(), [], "what is placed changes nothing for others");

  await commit.run(() => removal.evict(agent.node));
  const raised = signal.take();
  t.ok(raised.includes("node-evicted"));
  t.ok(raised.includes("worker-free"), "nobody had been told of its members yet");
  t.equal(kernel.job(id)?.state, "QUEUED");

  world.nowMs += 15_000;
  await liveness.tick();
  t.same(signal.take(), ["node-moved"], "it is silent");
});

t.test("a job that is stopped while it waits asks for no look", async (t) => {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const { kernel, tables, transitions } = world.parts;
  const { id } = await kernel.submit(world.task("stopped"));
  tables.placementSignal.take();
  transitions.moveJob(id, "stop", { reason: "user_cancelled" });
  t.equal(kernel.job(id)?.state, "CANCELLED");
  t.notOk(tables.placementSignal.isRaised);
});

t.test("the scheduler runs cycles until nothing is raised any more", async (t) => {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const { kernel, scheduler, tables } = world.parts;
  const agent = new SimAgent(world, "node-a", 2);
  world.admit(agent.node);
  await agent.register();
  await agent.beat();
  const { id } = await kernel.submit(world.task("kicked"));
  scheduler.kick();
  await scheduler.idle();
  t.equal(kernel.job(id)?.state, "RESERVED");
  t.notOk(tables.placementSignal.isRaised);
  scheduler.kick();
  await scheduler.idle();
  t.equal(kernel.job(id)?.attempt, 1);
});
