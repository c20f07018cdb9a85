/** What is known of nodes reaches the snapshot and whoever asks why a job is where it is, from the database and from beats. */
import t, { type Test } from "tap";
import { moveTimes } from "../../src/kernel/clock-steps.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function build(t: Test, nodes = ["node-a", "node-b"]) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const agents = nodes.map((node) => new SimAgent(world, node, 2));
  for (const agent of agents) {
    world.admit(agent.node);
    await agent.register();
  }
  const move = (node: string, to: "READY" | "SUSPECT" | "DEAD" | "REVOKED") =>
    world.parts.nodes.move(world.parts.nodes.get(node)!, to, world.nowMs);
  const standing = (node: string) => world.parts.snapshots.standings().get(node);
  const scores = () =>
    Object.fromEntries(world.parts.snapshots.read().nodes.map(({ id, score }) => [id, score]));
  return { world, agents: agents as [SimAgent, SimAgent], move, standing, scores };
}

t.test("time in which a node did not answer lowers its score, also after a restart", async (t) => {
  const { world, move, standing, scores } = await build(t);
  t.same(standing("node-a"), { uptime: null, load: null }, "it has only just joined");
  t.same(scores(), { "node-a": 1, "node-b": 1 });
  world.nowMs += 9 * DAY;
  move("node-a", "SUSPECT");
  world.nowMs += DAY;
  t.equal(standing("node-a")?.uptime, 1 - 1 / 7, "the outage is under way");
  move("node-a", "DEAD");
  world.nowMs += DAY;
  move("node-a", "READY");
  world.nowMs += HOUR;
  t.equal(standing("node-a")?.uptime, 1 - 2 / 7);
  t.same(scores(), { "node-a": 0.75, "node-b": 1 });
  world.crash();
  t.same(scores(), { "node-a": 0.75, "node-b": 1 });
  world.nowMs += 6 * DAY;
  t.equal(standing("node-a")?.uptime, 1 - (DAY - HOUR) / (7 * DAY), "a week later it is forgotten");
  world.nowMs += 2 * DAY;
  t.equal(standing("node-a")?.uptime, 1);
  move("node-b", "SUSPECT");
  t.same(world.all("SELECT node_id FROM node_outages"), [{ node_id: "node-b" }], "and not kept");
});

t.test("an outage ends with the node's removal, and joining again begins anew", async (t) => {
  const { world, move, standing } = await build(t);
  world.nowMs += DAY;
  move("node-a", "SUSPECT");
  world.nowMs += DAY;
  move("node-a", "REVOKED");
  world.nowMs += DAY;
  world.admit("node-a");
  world.nowMs += DAY;
  t.same(standing("node-a"), { uptime: 1, load: null });
});

t.test("a clock that is set makes no outage longer", async (t) => {
  const { world, move, standing } = await build(t);
  world.nowMs += 8 * DAY;
  move("node-a", "SUSPECT");
  world.nowMs += HOUR;
  const before = standing("node-a");
  const { db, meta, commit } = world.parts;
  await commit.run(() => moveTimes(db, meta, 3 * DAY));
  world.nowMs += 3 * DAY;
  t.same(standing("node-a"), before);
});

t.test("what beats tell beyond what held workers explain is load, while it is fresh", async (t) => {
  const { world, agents, standing, scores } = await build(t);
  const [a] = agents;
  const told = (cpuMs: number, memoryInUseBytes: number) => ({
    node: { processors: 4, cpuMs, memoryBytes: 100, memoryInUseBytes },
  });
  world.nowMs += DAY;
  a.uses = told(1_000, 10);
  await a.beat();
  t.equal(standing("node-a")?.load, 1, "of its processors nothing is known yet");
  world.nowMs += 5_000;
  a.uses = told(1_000 + 4 * 4_000, 10);
  await a.beat();
  t.equal(standing("node-a")?.load, 0.25, "four fifths of its processors");
  t.same(scores(), { "node-a": 0.25, "node-b": 1 });
  // auditd keeps up.
  world.parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
  const { id } = await world.parts.kernel.submit(world.task("first", { minClients: 1 }, 2));
  await world.parts.scheduler.cycle();
  t.match(world.parts.queue.placed(id), {
    workers: [{ node: "node-b" }, { node: "node-b" }],
    scores: [
      {
        ...{ node: "node-b", model: "cpu", score: 1 },
        factors: [
          { factor: "uptime", value: 1 },
          { factor: "tier", value: null },
          { factor: "locality", value: null },
          { factor: "load", value: null },
          { factor: "price", value: 1 },
          { factor: "framework", value: 1 },
        ],
      },
    ],
  });
  const next = await world.parts.kernel.submit(world.task("second", { minClients: 1 }, 2));
  await world.parts.scheduler.cycle();
  t.equal(standing("node-a")?.load, 1, "both its workers are held");
  t.match(world.parts.queue.placed(next.id), { scores: [{ node: "node-a", score: 1 }] });
  a.uses = told(5, 90);
  world.nowMs += 5_000;
  await a.beat();
  t.equal(standing("node-a")?.load, 1);
  world.nowMs += 21_000;
  t.equal(standing("node-a")?.load, null, "nobody has told anything lately");
  a.uses = {};
  await a.beat();
  t.equal(standing("node-a")?.load, null, "an older agent tells nothing");
});

t.test("a job that names its workers was chosen by no score", async (t) => {
  const { world } = await build(t);
  const task = world.task(
    "pinned",
    { minClients: 1, selection: { kind: "pinned", workerIds: ["node-a-1"] } },
    1,
  );
  const { id } = await world.parts.kernel.submit(task);
  await world.parts.scheduler.cycle();
  t.match(world.parts.queue.placed(id), { workers: [{ worker: "node-a-1" }], scores: [] });
});
