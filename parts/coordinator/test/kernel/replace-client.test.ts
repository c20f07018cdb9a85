import t, { type Test } from "tap";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";
import { isServer } from "./told-role.ts";

/** A job of two clients and a quorum of one that runs over two nodes: server and site-1 on node-a, site-2 on node-b; node-c is free. */
async function running(t: Test, workersOfA = 1) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const agents = {
    a: new SimAgent(world, "node-a", workersOfA),
    b: new SimAgent(world, "node-b", 1),
    c: new SimAgent(world, "node-c", 1),
  };
  const all = Object.values(agents);
  for (const agent of all) {
    world.admit(agent.node);
    await agent.register();
  }
  const { id } = await world.parts.kernel.submit(world.task("replaced", { minClients: 1 }));
  await world.parts.scheduler.cycle();
  for (const agent of all) await agent.fetch();
  const state = () => world.one<string>("SELECT state FROM jobs WHERE id = ?", id);
  for (let step = 0; step < 30 && state() !== "RUNNING"; step++)
    for (const agent of all) {
      agent.advance(step, null);
      await agent.send();
    }
  t.equal(state(), "RUNNING");
  const members = () =>
    world.all<{ id: string; node_id: string; state: string; replaces: string | null }>(
      "SELECT id, node_id, state, replaces FROM members WHERE job_id = ? ORDER BY created_at, id",
      id,
    );
  const pass = async (seconds: number, living: SimAgent[]) => {
    for (let second = 0; second < seconds; second++) {
      world.nowMs += 1_000;
      world.parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
      if (second % 5 === 0) for (const agent of living) await agent.beat();
      await world.parts.liveness.tick();
      await world.parts.sweeper.sweep();
      if (world.parts.tables.placementSignal.isRaised) await world.parts.scheduler.cycle();
    }
  };
  return { world, id, agents, state, members, pass };
}

t.test(
  "a client that is lost with its node is replaced on another one within 45 s, and the attempt goes on",
  async (t) => {
    const { world, id, agents, state, members, pass } = await running(t);
    const { a, b, c } = agents;
    await pass(39, [a, c]);
    t.equal(members().length, 3, "not before its node must have stopped");
    await pass(3, [a, c]);
    t.equal(state(), "RUNNING");
    const added = members().find(({ replaces }) => replaces !== null);
    t.match(added, {
      id: `${id}-a1-site-2-2`,
      node_id: "node-c",
      state: "LEASED",
      replaces: `${id}-a1-site-2`,
    });
    t.equal(world.one("SELECT retries_lease_lost FROM jobs WHERE id = ?", id), 1);
    t.equal(world.one("SELECT count(*) FROM attempts"), 1);
    await c.fetch();
    const told = [...c.held.values()][0]!.desired;
    t.match(told, {
      payload: {
        network: { index: 1 },
        sites: ["site-1", "site-2"],
        outputs: { printed: "files_out/logs/site-2.log" },
      },
    });
    t.match(told.bridge, { kind: "dial", peer: { node: "node-a" } });
    await a.fetch();
    const server = [...a.held.values()].find(({ desired }) => isServer(desired))!.desired;
    t.same(
      server.bridge?.kind === "listen" ? server.bridge.peers.map(({ node }) => node) : [],
      ["node-c"],
      "the dead node has nothing more to say to the server",
    );

    await t.test(
      "the lost one comes back and lets go; nobody takes it for the new one",
      async (t) => {
        await b.register();
        await b.fetch();
        await b.send();
        t.equal(
          members().find(({ id: member }) => member === `${id}-a1-site-2`)?.state,
          "RELEASED",
        );
        await pass(5, [a, b, c]);
        t.equal(members().length, 4, "no other one is made");
        t.equal(state(), "RUNNING");
      },
    );

    await t.test("the job ends with it", async (t) => {
      for (let step = 0; step < 6; step++)
        for (const agent of [c, a]) {
          agent.advance(0, null);
          await agent.send();
        }
      t.ok(["FINALIZING", "SUCCEEDED"].includes(state()), state());
    });
  },
);

t.test("a replacement that does not start in time is replaced in its turn", async (t) => {
  const { world, agents, members, pass } = await running(t);
  const { a, b, c } = agents;
  await pass(42, [a, c]);
  const first = members().find(({ replaces }) => replaces !== null)!;
  // Its node never asks for it.
  await pass(31, [a, c]);
  t.match(world.all("SELECT state, reason FROM members WHERE id = ?", first.id), [
    { state: "RELEASED", reason: "provisioning_timeout" },
  ]);
  t.equal(
    members().at(-1)?.id,
    first.id,
    "not on the node that failed it, while another could take it later",
  );
  await b.register();
  await b.fetch();
  await b.send();
  await pass(20, [a, b, c]);
  t.match(members().at(-1), { replaces: first.id, node_id: "node-b" });
});

t.test("below the quorum the attempt ends, and no place is filled", async (t) => {
  const { world, id, agents, state, members, pass } = await running(t);
  world.parts.db.prepare("UPDATE jobs SET min_clients = 2 WHERE id = ?").run(id);
  await pass(42, [agents.a, agents.c]);
  t.equal(state(), "RECOVERING");
  t.notOk(members().some(({ replaces }) => replaces !== null));
});

t.test(
  "a job that its quorum carries runs on when the budget for replacements is spent",
  async (t) => {
    const { world, id, agents, state, members, pass } = await running(t);
    world.parts.db.prepare("UPDATE jobs SET retries_lease_lost = 10 WHERE id = ?").run(id);
    await pass(60, [agents.a, agents.c]);
    t.equal(state(), "RUNNING");
    t.notOk(members().some(({ replaces }) => replaces !== null));
  },
);

t.test(
  "a place is filled from another node although the server's own would be given no new work",
  async (t) => {
    const { world, id, agents, state, members, pass } = await running(t, 2);
    const { a } = agents;
    const lost = members().find(({ id: member }) => member.endsWith("-site-2"))!;
    t.equal(
      lost.node_id,
      "node-a",
      "all on one node, so that the attempt has no port for others yet",
    );
    world.parts.db.prepare("UPDATE nodes SET is_cordoned = 1 WHERE id = 'node-a'").run();
    world.parts.transitions.revoke(lost.id, { reason: "agent_fault" });
    world.parts.transitions.reconcile(id);
    await a.fetch();
    await a.send();
    await pass(2, Object.values(agents));
    t.equal(state(), "RUNNING");
    t.not(members().find(({ replaces }) => replaces === lost.id)?.node_id ?? "node-a", "node-a");
  },
);

t.test("a place that can't be filled as planned is not planned again and again", async (t) => {
  const { world, id, agents } = await running(t, 2);
  const lost = world.one<string>("SELECT id FROM members WHERE job_id = ? AND site = 'site-2'", id);
  world.parts.transitions.revoke(lost, { reason: "agent_fault" });
  world.parts.transitions.reconcile(id);
  await agents.a.fetch();
  await agents.a.send();
  // What the plan takes for a node, the transaction does not: it has never told what it is made of.
  world.parts.db.prepare("UPDATE nodes SET inventory = NULL WHERE id <> 'node-a'").run();
  world.parts.db.prepare("UPDATE nodes SET is_cordoned = 1 WHERE id = 'node-a'").run();
  world.parts.tables.placementSignal.take();
  await world.parts.scheduler.cycle();
  t.equal(world.one("SELECT count(*) FROM members WHERE replaces IS NOT NULL"), 0);
  t.equal(world.parts.tables.placementSignal.isRaised, false);
});
