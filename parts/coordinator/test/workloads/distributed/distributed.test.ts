import { ownPortsOf } from "@resontech/contracts/distributed-spec";
import t, { type Test } from "tap";
import { distributed } from "../../../src/workloads/distributed/distributed.ts";
import type { DistributedJobSpec } from "../../../src/workloads/distributed/distributed.ts";
import { KernelWorld } from "../../kernel/kernel-world.ts";
import { SimAgent } from "../../kernel/sim-agent.ts";

const SPEC: DistributedJobSpec = {
  ...{ script: "train.py", arguments: ["--epochs=3"], environment: { LEVEL: "3" } },
  ...{ ranks: 2, strategy: "ddp" },
};

async function started(t: Test, spec: DistributedJobSpec = SPEC) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const agents = [new SimAgent(world, "node-a", 1), new SimAgent(world, "node-b", 1)];
  for (const agent of agents) {
    world.admit(agent.node);
    await agent.register();
  }
  const task = world.task("train");
  const { id } = await world.parts.kernel.submit({
    ...{ ...task, kind: "distributed", spec, minClients: 2 },
    inputs: [{ ...task.inputs[0]!, kind: "script", target: "scripts/train.py" }],
    ...{ numRounds: null, shardUncompressedBytes: [10, 10], resumable: true },
  });
  await world.parts.scheduler.cycle();
  return { world, id, agents };
}

t.test("a member for each worker and a meeting point beside them, on two nodes", async (t) => {
  const { world, agents } = await started(t);
  const rows = world.parts.db
    .prepare("SELECT role, site, is_lead, shard_index FROM members ORDER BY id")
    .all();
  t.same(rows, [
    { role: "meeting", site: null, is_lead: 1, shard_index: null },
    { role: "worker", site: "worker-1", is_lead: 0, shard_index: 0 },
    { role: "worker", site: "worker-2", is_lead: 0, shard_index: 1 },
  ]);
  for (const agent of agents) await agent.fetch();
  const told = agents.flatMap(({ held }) => [...held.values()].map(({ desired }) => desired));
  const specs = told.map(({ payload }) => JSON.parse(payload.files[0]!.text));
  t.same(Object.fromEntries(specs.map(({ site, index, members }) => [site, [index, members]])), {
    ...{ meeting: [null, 2], "worker-1": [0, 2], "worker-2": [1, 2] },
  });
  for (const { payload, inputs } of told) {
    const { site, index } = JSON.parse(payload.files[0]!.text) as {
      site: string;
      index: number | null;
    };
    t.match(payload.network, { shape: "hub", index, port: 8003 }, site);
    t.same(
      "ports" in payload.network ? payload.network.ports : null,
      index === null ? null : ownPortsOf(index),
      "ports of its own",
    );
    t.equal(inputs.length, index === null ? 0 : 1, "the meeting point runs no code of the user");
    t.equal(payload.outputs.checkpoints, index === null);
    t.match(payload.environment, index === null ? {} : { LEVEL: "3" });
  }
});

t.test(
  "without a rank nothing goes on, and it goes on after the newest committed step",
  async (t) => {
    const { world, id } = await started(t);
    const job = world.parts.db.prepare("SELECT * FROM jobs WHERE id = ?").get(id) as Parameters<
      typeof distributed.quorum
    >[0];
    t.equal(distributed.quorum(job), 2);
    t.match(distributed.resume(job, [{ round: 5, modelUpload: "up-5" }]), {
      ...{ startRound: 6, modelUpload: "up-5" },
    });
    t.equal(distributed.canCommit(job), false);
  },
);

t.test("several ranks a member are members of as many workers", async (t) => {
  const spec = JSON.stringify({ ...SPEC, ranks: 4, workers: 2 });
  t.equal(distributed.workersEach({ spec }), 2);
  t.equal(distributed.agentProtocol({ spec }), 9, "older agents know no ports of a member's own");
});
