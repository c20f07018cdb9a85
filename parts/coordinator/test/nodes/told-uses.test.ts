/** What agents tell of members and nodes, from their beats to `GET /metrics`. */
import t, { type Test } from "tap";
import { DeviceHolders } from "../../src/metrics/device-holders.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";
import { SimAgent } from "../kernel/sim-agent.ts";

/** A job of two sites runs: its server and site-1 on node-a, site-2 on node-b. */
async function running(t: Test) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const [a, b] = [new SimAgent(world, "node-a", 1), new SimAgent(world, "node-b", 1)];
  for (const agent of [a, b]) {
    world.admit(agent.node);
    await agent.register();
  }
  const { id } = await world.parts.kernel.submit(world.task("used"));
  await world.parts.scheduler.cycle();
  for (const agent of [a, b]) await agent.fetch();
  const state = () => world.one<string>("SELECT state FROM jobs WHERE id = ?", id);
  for (let step = 0; step < 30 && state() !== "RUNNING"; step++)
    for (const agent of [a, b]) {
      agent.advance(step, null);
      await agent.send();
    }
  t.equal(state(), "RUNNING");
  return { world, id, a, b, uses: world.parts.toldUses };
}

const placeOf = (agent: SimAgent, member: string): number => [...agent.held.keys()].indexOf(member);

t.test("a member is known by its job, attempt, site and node", async (t) => {
  const { id, b, uses } = await running(t);
  const member = `${id}-a1-site-2`;
  b.uses = {
    members: { held: [placeOf(b, member)], cpuMs: [1_500], memoryKib: [null] },
    node: { processors: 2, cpuMs: 9_000 },
  };
  await b.beat();
  t.strictSame(uses.members(), [
    { job: id, attempt: "1", member, site: "site-2", node: "node-b", use: { cpuMs: 1_500 } },
  ]);
  t.strictSame(uses.nodes(), [{ node: "node-b", use: { processors: 2, cpuMs: 9_000 } }]);
});

t.test(
  "a node tells of its own members alone, and of those under their present fence",
  async (t) => {
    const { id, a, b, uses } = await running(t);
    const theirs = b.held.get(`${id}-a1-site-2`)!.desired;
    const mine = a.held.get(`${id}-a1-site-1`)!.desired;
    const older = { ...mine.fence, counter: mine.fence.counter + 1 };
    const held = [
      { member: theirs.member, fence: theirs.fence },
      { member: mine.member, fence: older },
      { member: "no-such-member", fence: mine.fence },
    ];
    uses.take("node-a", { held, members: { held: [0, 1, 2, 3], cpuMs: [1, 2, 3, 4] } });
    t.strictSame(uses.members(), []);
    uses.take("node-b", { held, members: { held: [0], cpuMs: [7] } });
    uses.take("node-a", { held, members: { held: [0], cpuMs: [1] } });
    t.match(uses.members(), [{ node: "node-b", use: { cpuMs: 7 } }], "nor changes another's");
  },
);

t.test("what is not told again vanishes, a while after the last word", async (t) => {
  const { world, id, b, uses } = await running(t);
  b.uses = {
    members: { held: [placeOf(b, `${id}-a1-site-2`)], cpuMs: [1] },
    node: { processors: 2 },
  };
  await b.beat();
  b.uses = {};
  world.nowMs += 16_000;
  t.equal(uses.members().length, 1, "Prometheus looks each 15 s, and sees how it was last");
  t.equal(uses.nodes().length, 1);
  world.nowMs += 5_000;
  t.equal(uses.members().length, 0);
  t.equal(uses.nodes().length, 0, "a silent node says nothing");
});

t.test("who holds a device is told while it runs, and a slot of processors is none", async (t) => {
  const { world, id } = await running(t);
  t.strictSame(new DeviceHolders(world.read).all(), []);
  world.parts.db.exec("UPDATE workers SET kind = 'gpu'");
  t.strictSame(
    new DeviceHolders(world.read).all().toSorted((x, y) => (x.worker < y.worker ? -1 : 1)),
    ["a", "b"].map((node, index) => ({
      ...{ job: id, attempt: "1", member: `${id}-a1-site-${index + 1}` },
      ...{ site: `site-${index + 1}`, node: `node-${node}`, worker: `node-${node}-0` },
    })),
  );
});
