import t from "tap";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";
import { isServer } from "./told-role.ts";

/** Two nodes of one kind that beat; a job of two clients is placed on node-a. */
async function placed(slug: string) {
  const world = new KernelWorld();
  const [a, b] = ["node-a", "node-b"].map((node) => new SimAgent(world, node, 2)) as [
    SimAgent,
    SimAgent,
  ];
  for (const agent of [a, b]) {
    world.admit(agent.node);
    await agent.register();
  }
  const { id } = await world.parts.kernel.submit(world.task(slug));
  await world.parts.scheduler.cycle();
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      world.nowMs += 1_000;
      world.parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
      if (second % 5 === 0) for (const agent of [a, b]) await agent.beat();
      await world.parts.liveness.tick();
      await world.parts.sweeper.sweep();
      if (world.parts.tables.placementSignal.isRaised) await world.parts.scheduler.cycle();
    }
  };
  const lives = () =>
    world.all(
      `SELECT number, node_id FROM members JOIN attempts ON attempts.id = attempt_id
       WHERE members.job_id = ? AND members.state NOT IN ('RELEASED', 'QUARANTINED') GROUP BY number, node_id`,
      id,
    );
  return { world, id, a, pass, lives };
}

t.test(
  "a node that beats and does not ask for its members is left alone by the next attempt",
  async (t) => {
    const { world, id, pass, lives } = await placed("not-asked-for");
    t.teardown(() => world[Symbol.dispose]());
    t.same(lives(), [{ number: 1, node_id: "node-a" }]);
    await pass(32);
    t.match(world.all("SELECT avoid_nodes, retries_infrastructure FROM jobs WHERE id = ?", id), [
      { avoid_nodes: '["node-a"]', retries_infrastructure: 1 },
    ]);
    t.same(lives(), [{ number: 2, node_id: "node-b" }]);
  },
);

t.test(
  "a node that stops in the middle of staging is left alone by the next attempt",
  async (t) => {
    const { world, id, a, pass, lives } = await placed("never-staged");
    t.teardown(() => world[Symbol.dispose]());
    await a.fetch();
    a.advance(0, null);
    await a.send();
    t.equal(world.one("SELECT state FROM jobs WHERE id = ?", id), "STAGING");
    await pass(122);
    t.match(world.all("SELECT avoid_nodes, retries_infrastructure FROM jobs WHERE id = ?", id), [
      { avoid_nodes: '["node-a"]', retries_infrastructure: 1 },
    ]);
    await a.fetch();
    await a.send();
    await pass(5);
    t.same(lives().at(-1), { number: 2, node_id: "node-b" });
  },
);

t.test(
  "a node is told of no more than one message holds; the job that does not fit goes to another node",
  async (t) => {
    const { world, id, a, pass, lives } = await placed("too-long");
    t.teardown(() => world[Symbol.dispose]());
    const insert = world.parts.db.prepare(
      `INSERT INTO job_inputs (job_id, id, kind, target, key, version_id, etag, size_bytes) VALUES (?, ?, 'script', ?, 'k', 'v', 'e', 1)`,
    );
    for (let at = 0; at < 7_000; at++)
      insert.run(id, `long-${at}`, `scripts/${String(at).padStart(1_000, "x")}`);
    await a.fetch();
    t.equal(
      world.one("SELECT count(*) FROM members WHERE state = 'LEASED' AND role = 'server'"),
      1,
      "its node has not heard of the server",
    );
    t.notOk([...a.held.values()].some(({ desired }) => isServer(desired)));
    await pass(122);
    await a.fetch();
    await a.send();
    await pass(5);
    t.same(lives().at(-1), { number: 2, node_id: "node-b" });
  },
);
