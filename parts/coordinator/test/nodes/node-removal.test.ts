import t from "tap";
import { KernelWorld } from "../kernel/kernel-world.ts";
import { SimAgent } from "../kernel/sim-agent.ts";

async function build() {
  const world = new KernelWorld();
  const agents = ["node-a", "node-b"].map((node) => new SimAgent(world, node, 2));
  for (const agent of agents) {
    world.admit(agent.node);
    await agent.register();
  }
  const { commit, removal, nodes } = world.parts;
  const pass = async (seconds: number, living: SimAgent[]) => {
    for (let second = 0; second < seconds; second++) {
      world.nowMs += 1_000;
      // auditd keeps up: a backlog of a minute would stop new work.
      world.parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
      if (second % 5 === 0) for (const agent of living) await agent.beat();
      await world.parts.liveness.tick();
    }
  };
  return {
    ...{ world, agents: agents as [SimAgent, SimAgent], pass },
    state: (node: string) => world.one<string>("SELECT state FROM nodes WHERE id = ?", node),
    job: (id: string) => world.one<string>("SELECT state FROM jobs WHERE id = ?", id),
    remove: (node: string) => commit.run(() => removal.remove(node)),
    evict: (node: string) =>
      commit.run(() => {
        nodes.setCordon(node, "drained by the operator");
        removal.evict(node);
      }),
  };
}

t.test(
  "a node that holds nothing leaves: its certificate is void, its tokens too, and nothing is placed there",
  async (t) => {
    const { world, agents, state, remove } = await build();
    t.teardown(() => world[Symbol.dispose]());
    const certificate = world.one<string>(
      "SELECT certificate_sha256 FROM nodes WHERE id = 'node-a'",
    );
    world.parts.db
      .prepare(
        "INSERT INTO join_tokens (token_sha256, node_id, created_at, expires_at) VALUES ('x', 'node-a', 1, 9e15), ('y', 'node-b', 1, 9e15)",
      )
      .run();
    t.equal(world.parts.nodes.ofCertificate(certificate), "node-a");
    await remove("node-a");
    t.equal(state("node-a"), "REVOKED");
    t.equal(world.parts.nodes.ofCertificate(certificate), null);
    t.same(world.all("SELECT token_sha256 FROM join_tokens WHERE used_at IS NULL"), [
      { token_sha256: "y" },
    ]);
    t.same(
      world.parts.fleetViews.workers().workers.map(({ node }) => node),
      ["node-b", "node-b"],
    );
    await t.rejects(agents[0].beat(), { code: "unknown_node" });
    await world.parts.kernel.submit(world.task("elsewhere"));
    await world.parts.scheduler.cycle();
    t.same(world.all("SELECT DISTINCT node_id FROM members"), [{ node_id: "node-b" }]);
    await t.rejects(remove("node-a"), { code: "not_found" });

    world.admit("node-a");
    await agents[0].register();
    t.equal(state("node-a"), "READY", "it may join again");
  },
);

t.test(
  "a living node with members stays; told to hand them over, it goes once it has proven their release",
  async (t) => {
    const { world, agents, state, job, remove, evict } = await build();
    t.teardown(() => world[Symbol.dispose]());
    const [a] = agents;
    const { id } = await world.parts.kernel.submit(world.task("moved"));
    await world.parts.scheduler.cycle();
    await a.fetch();
    for (let step = 0; step < 15; step++) a.advance(step, null);
    await a.send();
    t.same(world.all("SELECT DISTINCT node_id FROM members"), [{ node_id: "node-a" }]);
    await t.rejects(remove("node-a"), { code: "node_busy" });

    const spent = () =>
      world.all(
        "SELECT retries_infrastructure + retries_lease_lost + retries_out_of_memory AS spent, avoid_nodes FROM jobs",
      );
    await evict("node-a");
    await t.rejects(
      remove("node-a"),
      { code: "node_busy" },
      "it may still run what it was told to stop",
    );
    t.not(job(id), "FAILED");
    await a.fetch();
    await a.send();
    t.same(world.all("SELECT DISTINCT state FROM members"), [{ state: "RELEASED" }]);
    await remove("node-a");
    t.equal(state("node-a"), "REVOKED");
    await world.parts.scheduler.cycle();
    t.same(world.all("SELECT DISTINCT node_id FROM members WHERE state = 'LEASED'"), [
      { node_id: "node-b" },
    ]);
    t.same(world.all("SELECT DISTINCT reason FROM members WHERE node_id = 'node-a'"), [
      { reason: "node_removed" },
    ]);
    t.same(spent(), [{ spent: 0, avoid_nodes: "[]" }], "what the operator does costs no retry");
  },
);

t.test(
  "a dead node leaves with what it held: nothing of it is waited for, and its job runs elsewhere",
  async (t) => {
    const { world, agents, state, job, pass, remove } = await build();
    t.teardown(() => world[Symbol.dispose]());
    const [a, b] = agents;
    const { id } = await world.parts.kernel.submit(world.task("left"));
    await world.parts.scheduler.cycle();
    await a.fetch();
    for (let step = 0; step < 15; step++) a.advance(step, null);
    await a.send();
    await pass(15, [b]);
    t.equal(state("node-a"), "SUSPECT");
    await t.rejects(remove("node-a"), { code: "node_busy" }, "its lease may still hold");
    await pass(30, [b]);
    t.equal(state("node-a"), "DEAD");
    await remove("node-a");
    t.equal(state("node-a"), "REVOKED");
    t.same(world.all("SELECT DISTINCT state FROM members WHERE node_id = 'node-a'"), [
      { state: "QUARANTINED" },
    ]);
    t.same(
      world.parts.fleetViews.nodeHealth().map(({ node }) => node),
      ["node-b"],
    );
    await world.parts.scheduler.cycle();
    t.not(job(id), "FAILED");
    t.same(world.all("SELECT DISTINCT node_id FROM members WHERE state = 'LEASED'"), [
      { node_id: "node-b" },
    ]);
  },
);
