/** Agents of other releases: which version is spoken with them, and what they are given. */
import { AGENT_PROTOCOL } from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import type { Workloads } from "../../src/kernel/workload.ts";
import { WORKLOADS } from "../../src/workloads/workloads.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";
import { SimAgent } from "../kernel/sim-agent.ts";

function begun(t: Test, workloads?: Workloads) {
  const world = new KernelWorld(workloads);
  t.teardown(() => world[Symbol.dispose]());
  const agent = new SimAgent(world, "node-a", 2);
  world.admit(agent.node);
  return { world, agent };
}

t.test("the newest common version is agreed on and kept with the node", async (t) => {
  const { world, agent } = begun(t);
  agent.protocol = { min: 1, max: 9 };
  t.equal((await agent.register()).protocol, AGENT_PROTOCOL.max);
  t.equal(world.one("SELECT agent_protocol FROM nodes"), AGENT_PROTOCOL.max);
});

t.test("an agent of version 1 is answered as that version has it", async (t) => {
  const { world, agent } = begun(t);
  agent.protocol = 1;
  t.same(Object.keys(await agent.register()), ["nodeEpoch", "leaseMs", "beatIntervalMs"]);
  t.equal(world.one("SELECT agent_protocol FROM nodes"), 1);
});

t.test("without a common version nothing changes, and the refusal says what to do", async (t) => {
  const { world, agent } = begun(t);
  await agent.register();
  const before = world.all("SELECT * FROM nodes");
  const over = AGENT_PROTOCOL.max + 1;
  agent.protocol = { min: over, max: over + 1 };
  const refused = new RegExp(
    `the agent of node-a .release 1. speaks agent protocol ${over} to ${over + 1}, the appliance 1 to 9: upgrade the appliance`,
  );
  await t.rejects(agent.register(), { code: "protocol_unsupported", message: refused });
  t.same(world.all("SELECT * FROM nodes"), before);

  const told = () => world.parts.fleetViews.nodeHealth()[0]?.refused;
  t.match(told(), refused, "the operator is told");
  world.nowMs += 61_000;
  t.equal(told(), undefined, "an agent that asks no more is silent");
  await t.rejects(agent.register());
  agent.protocol = AGENT_PROTOCOL;
  await agent.register();
  t.equal(told(), undefined);
});

t.test("members that need a newer agent wait for one, and say so", async (t) => {
  const needsNewest: Workloads = {
    has: (kind) => WORKLOADS.has(kind),
    of: (job) => ({ ...WORKLOADS.of(job), agentProtocol: () => AGENT_PROTOCOL.max }),
  };
  const { world, agent } = begun(t, needsNewest);
  const { kernel, scheduler, tables } = world.parts;
  agent.protocol = 1;
  await agent.register();
  const { id } = await kernel.submit(world.task("waits"));
  await scheduler.cycle();
  t.match(kernel.job(id)!.waitingFor, /excluded: 2 on nodes whose agent is too old/);
  agent.protocol = AGENT_PROTOCOL;
  tables.placementSignal.take();
  await agent.register();
  t.ok(tables.placementSignal.isRaised);
  await scheduler.cycle();
  t.equal(kernel.job(id)!.state, "RESERVED");
});

t.test(
  "what an older coordinator registered counts as version 1, whatever was agreed before",
  async (t) => {
    const { world, agent } = begun(t, {
      has: (kind) => WORKLOADS.has(kind),
      of: (job) => ({ ...WORKLOADS.of(job), agentProtocol: () => 2 }),
    });
    await agent.register();
    // It writes the columns that it knows.
    world.parts.db.exec(
      "UPDATE nodes SET counter = counter + 1, registered_at = registered_at + 1",
    );
    const { id } = await world.parts.kernel.submit(world.task("waits"));
    await world.parts.scheduler.cycle();
    t.match(world.parts.kernel.job(id)!.waitingFor, /agent is too old/);
  },
);
