import t from "tap";
import { longestLeaseMs, planStop } from "../../src/nodes/maintenance.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";
import { SimAgent } from "../kernel/sim-agent.ts";

async function build() {
  const world = new KernelWorld();
  const agents = ["node-a", "node-b"].map((node) => new SimAgent(world, node, 2));
  for (const agent of agents) {
    world.admit(agent.node);
    await agent.register();
  }
  const state = (node: string) => world.one<string>("SELECT state FROM nodes WHERE id = ?", node);
  /** Beats of those who live, once a second's look for so long. */
  const pass = async (seconds: number, living: SimAgent[]) => {
    for (let second = 0; second < seconds; second++) {
      world.nowMs += 1_000;
      // auditd keeps up: a backlog of a minute would stop new work.
      world.parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
      if (second % 5 === 0) for (const agent of living) await agent.beat();
      await world.parts.liveness.tick();
    }
  };
  return { world, agents: agents as [SimAgent, SimAgent], state, pass };
}

/** Announces a stop; those who hear of it beat a moment later. */
async function planned(world: KernelWorld, hearing: SimAgent[], forS: number) {
  let beats: Promise<void>[] = [];
  const reply = await planStop(world.parts, forS, () => {
    world.nowMs += 1;
    beats = hearing.map((agent) => agent.beat());
  });
  await Promise.all(beats);
  return reply;
}

t.test(
  "a silent node is SUSPECT, then DEAD; its job starts again elsewhere within 45 s",
  async (t) => {
    const { world, agents, state, pass } = await build();
    t.teardown(() => world[Symbol.dispose]());
    const [a, b] = agents;
    const { id } = await world.parts.kernel.submit(world.task("moved"));
    await world.parts.scheduler.cycle();
    await a.fetch();
    for (let step = 0; step < 15; step++) a.advance(step, null);
    await a.send();
    await pass(11, [b]);
    t.equal(state("node-a"), "READY");
    await pass(1, [b]);
    t.equal(state("node-a"), "SUSPECT");
    await pass(28, [b]);
    t.equal(state("node-a"), "DEAD");
    t.equal(world.one("SELECT state FROM jobs WHERE id = ?", id), "QUEUED");
    await world.parts.scheduler.cycle();
    t.same(world.all("SELECT DISTINCT node_id FROM members WHERE state = 'LEASED'"), [
      { node_id: "node-b" },
    ]);
    t.equal(world.one("SELECT retries_lease_lost FROM jobs WHERE id = ?", id), 1);

    await t.test(
      "what it says under its old fences is stale, and it proves release under new ones",
      async (t) => {
        await a.send();
        t.equal(
          world.one("SELECT count(*) FROM members WHERE node_id = 'node-a' AND state = 'FENCED'"),
          3,
        );
        await a.register();
        await a.fetch();
        await a.send();
        t.equal(
          world.one("SELECT count(*) FROM members WHERE node_id = 'node-a' AND state = 'RELEASED'"),
          3,
        );
        t.equal(state("node-a"), "DEAD", "it owes three good beats");
        await pass(11, [a, b]);
        t.equal(state("node-a"), "READY");
      },
    );
  },
);

t.test(
  "a job that starts no more after the loss of its node says which node that was",
  async (t) => {
    const { world, agents, state, pass } = await build();
    t.teardown(() => world[Symbol.dispose]());
    const [a, b] = agents;
    const { id } = await world.parts.kernel.submit(world.task("lost"));
    world.parts.db.prepare("UPDATE jobs SET retries_lease_lost = 10 WHERE id = ?").run(id);
    await world.parts.scheduler.cycle();
    await a.fetch();
    for (let step = 0; step < 15; step++) a.advance(step, null);
    await a.send();
    await pass(40, [b]);
    t.equal(state("node-a"), "DEAD");
    t.match(world.parts.kernel.job(id), {
      state: "FAILED",
      error: { code: "node_lost", message: "The node node-a stopped answering." },
    });
  },
);

t.test("a restart of the coordinator owes every lease a full TTL", async (t) => {
  const { world, agents, state, pass } = await build();
  t.teardown(() => world[Symbol.dispose]());
  await pass(11, [agents[1]]);
  world.nowMs += 35_000;
  world.crash();
  await pass(11, [agents[1]]);
  t.equal(state("node-a"), "READY", "silent for 57 s, of which 11 s count");
});

t.test(
  "a planned stop is over when its time is, or when it is ended: until then nobody who heard of it is declared dead",
  async (t) => {
    const { world, state, pass, agents } = await build();
    t.teardown(() => world[Symbol.dispose]());
    const plan = (forS: number) => planned(world, agents, forS);
    t.same(await plan(60), { until: world.nowMs - 1 + 60_000, untold: [] });
    await pass(60, [agents[1]]);
    t.equal(state("node-a"), "SUSPECT");
    world.crash();
    await pass(40, [agents[1]]);
    t.equal(state("node-a"), "DEAD", "a lease of its own and ten seconds after it");
    world.crash();
    await plan(300);
    await pass(20, agents);
    t.same(await plan(0), { until: null, untold: [] });
    await pass(1, agents);
    await pass(41, [agents[1]]);
    t.equal(state("node-a"), "DEAD");
  },
);

t.test(
  "whoever was started during a planned stop waits as long as the longest lease that may be out there",
  async (t) => {
    const { world, state, pass, agents } = await build();
    t.teardown(() => world[Symbol.dispose]());
    await planned(world, agents, 300);
    world.nowMs += 200_000;
    world.crash();
    await pass(105, [agents[1]]);
    t.equal(state("node-a"), "SUSPECT");
    await pass(10, [agents[1]]);
    t.equal(state("node-a"), "DEAD");
  },
);

t.test(
  "a stop that was ended takes no lease back from a node that heard of its begin alone, also after a kill",
  async (t) => {
    const { world, state, pass, agents } = await build();
    t.teardown(() => world[Symbol.dispose]());
    await planned(world, agents, 300);
    // From here on node-a is cut off, with a lease of 300 s.
    await planned(world, [agents[1]], 0);
    await pass(100, [agents[1]]);
    t.equal(state("node-a"), "SUSPECT");
    world.crash();
    await pass(180, [agents[1]]);
    t.equal(state("node-a"), "SUSPECT", "280 s after it was granted 300");
    await pass(35, [agents[1]]);
    t.equal(state("node-a"), "DEAD");

    await t.test("whoever heard of the end is missed as soon as ever", async (t) => {
      await pass(42, []);
      t.equal(state("node-b"), "DEAD");
    });
  },
);

t.test(
  "a node that was told of the end of a stop, and never learnt it, keeps the lease that it has",
  async (t) => {
    const { world, state, pass, agents } = await build();
    t.teardown(() => world[Symbol.dispose]());
    await planned(world, agents, 300);
    await planned(world, [agents[1]], 0);
    await agents[0].beat(true);
    // From here on node-a is cut off.
    await pass(280, [agents[1]]);
    t.equal(state("node-a"), "SUSPECT");
    await pass(35, [agents[1]]);
    t.equal(state("node-a"), "DEAD");
  },
);

t.test(
  "once every node holds a short lease again, a crash counts none of them as working for longer",
  async (t) => {
    const { world, pass, agents } = await build();
    t.teardown(() => world[Symbol.dispose]());
    const [a, b] = agents;
    const { meta, clock } = world.parts;
    await planned(world, agents, 300);
    await pass(10, agents);
    t.ok(longestLeaseMs(meta, clock) > 280_000, "while the stop is planned");
    await planned(world, [b], 0);
    await a.beat(true);
    await pass(4, [b]);
    t.ok(longestLeaseMs(meta, clock) > 280_000, "node-a never learnt that the stop is over");
    await pass(11, agents);
    t.equal(longestLeaseMs(meta, clock), 30_000);
  },
);

t.test("a living node that does not answer is named: its work would stop", async (t) => {
  const { world, agents } = await build();
  t.teardown(() => world[Symbol.dispose]());
  const beating = setInterval(() => {
    world.nowMs += 1_000;
  }, 20);
  t.teardown(() => clearInterval(beating));
  t.same((await planned(world, [agents[1]], 60)).untold, ["node-a"]);
});

t.test("a node that comes and goes three times is cordoned and gets no more work", async (t) => {
  const { world, state, pass, agents } = await build();
  t.teardown(() => world[Symbol.dispose]());
  for (let round = 0; round < 3; round++) {
    await pass(13, [agents[1]]);
    t.equal(state("node-a"), "SUSPECT");
    await pass(16, agents);
    t.equal(state("node-a"), "READY");
  }
  t.match(world.one("SELECT cordon_reason FROM nodes WHERE id = 'node-a'"), /three times/);
  await world.parts.kernel.submit(world.task("elsewhere"));
  await world.parts.scheduler.cycle();
  t.same(world.all("SELECT DISTINCT node_id FROM members"), [{ node_id: "node-b" }]);
});

t.test("a slow loop of our own stays the hand", async (t) => {
  const { world, state } = await build();
  t.teardown(() => world[Symbol.dispose]());
  await world.parts.liveness.tick();
  world.nowMs += 50_000;
  await world.parts.liveness.tick();
  t.equal(state("node-a"), "SUSPECT");
  world.nowMs += 1_000;
  await world.parts.liveness.tick();
  t.equal(state("node-a"), "DEAD", "two may die at once");
});
