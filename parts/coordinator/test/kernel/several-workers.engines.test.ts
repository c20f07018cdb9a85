/** The kernel's word and a real agent's: a member with two CPU slots is one real container, and both leases end with its proof, whoever is killed in between. */
import type { DesiredMember, MemberReport } from "@resontech/contracts/agent-protocol";
import { untilFound } from "@resontech/house/until-found";
import { TestNode } from "@resontech/agent/testing/test-node";
import t from "tap";
import type { CommandSpec } from "../../src/workloads/command/command.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

const MIB = 1024 ** 2;
const RELEASED = {
  kind: "released" as const,
  ...{ processesGone: true, diskGone: true, devicesAtBaseline: true },
};
const node = await TestNode.start();
t.teardown(() => node[Symbol.asyncDispose]());
const { peer } = node;
const world = new KernelWorld();
t.teardown(() => world[Symbol.dispose]());
// Lets the node of this test be lost alone.
const other = new SimAgent(world, "node-b", 1);
for (const name of ["node-a", other.node]) world.admit(name);
await other.register();

/** Starts the agent, and the kernel hears its registration. */
async function begin(): Promise<void> {
  const before = peer.registrations.length;
  node.run();
  await untilFound("registration", () => peer.registrations.length > before);
  const request = peer.registrations.at(-1)!;
  await world.parts.commit.run(() => world.parts.registry.register("node-a", request));
}

/** What the kernel tells the node, with a payload of the test's image. */
async function tell(): Promise<DesiredMember[]> {
  const { members } = await world.parts.commit.run(() =>
    world.parts.desiredSets.claimAndTell("node-a"),
  );
  const told = members.map(({ member, job, attempt, fence, desired, stopReason, resources }) => ({
    ...node.member("sleep-60", { kind: "server" }, []),
    ...{ member, job, attempt, fence, desired, graceMs: 1_000 },
    ...(stopReason === undefined ? {} : { stopReason }),
    resources: { ...resources, diskBytes: 64 * MIB },
  }));
  peer.want(...told);
  return told;
}

let taken = 0;
/** The kernel takes what the agent has said since. @returns its verdicts */
async function take(reports: readonly MemberReport[] = peer.reports.slice(taken)) {
  taken = peer.reports.length;
  const { results } = await world.parts.commit.run(() =>
    world.parts.reports.take(reports, ({ node_id: on }) => on === "node-a"),
  );
  return results;
}

const held = () =>
  world
    .all<{ worker: string }>(
      "SELECT worker_id AS worker FROM leases WHERE released_at IS NULL ORDER BY id",
    )
    .map(({ worker }) => worker);

t.test("one container with the processors and the memory of both slots", async (t) => {
  await begin();
  const { cpuCores, workers } = peer.registrations.at(-1)!.inventory;
  t.equal(workers.length, 2);
  const spec: CommandSpec = {
    ...{ interpreter: ["python3"], script: "x.py", arguments: [], environment: {} },
    workers: 2,
  };
  const { id } = await world.parts.kernel.submit(
    world.task("wide", {
      ...{ kind: "command", spec, numRounds: null, minClients: 0, inputs: [] },
      shardUncompressedBytes: [10],
    }),
  );
  await world.parts.scheduler.cycle();
  const [told] = await tell();
  const { member } = told!;
  t.strictSame(told!.resources.workers, ["node-a-0", "node-a-1"]);
  await peer.event(member, "started");
  await take();
  t.equal(world.parts.kernel.job(id)?.state, "RUNNING");
  t.strictSame(held(), ["node-a-0", "node-a-1"]);
  const names = await node.runningContainers();
  t.equal(names.length, 1);
  const limits = await node.engine.podman(
    ...["inspect", "--format", "{{.HostConfig.NanoCpus}} {{.HostConfig.Memory}}", names[0]!],
  );
  const both = workers.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  t.equal(limits.trim(), `${cpuCores * 1e9} ${both}`);
});

t.test("the agent is killed, and the next one holds the same member with both", async (t) => {
  await node.kill("SIGKILL");
  t.equal((await node.runningContainers()).length, 1, "the container outlives it");
  t.strictSame(held(), ["node-a-0", "node-a-1"]);
  await begin();
  t.match(peer.registrations.at(-1)?.held, [{ fence: { generation: 1, counter: 1 } }]);
  t.strictSame(held(), ["node-a-0", "node-a-1"]);
});

t.test(
  "a lost node's word counts no more for either; its proof under the new fence frees both",
  async (t) => {
    const before = peer.reports.at(-1)!;
    for (let second = 0; second < 60; second++) {
      world.nowMs += 1_000;
      world.parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
      if (second % 5 === 0) await other.beat();
      await world.parts.liveness.tick();
      await world.parts.sweeper.sweep();
    }
    t.strictSame(held(), ["node-a-0", "node-a-1"], "nobody is given them before");
    const [told] = await tell();
    t.match(told, { desired: "stop", fence: { counter: 2 } });
    const late = { ...before, seq: before.seq + 1, event: RELEASED };
    t.strictSame(await take([late]), ["stale"]);
    t.strictSame(held(), ["node-a-0", "node-a-1"]);
    const proof = await peer.event(told!.member, "released");
    t.match(proof, RELEASED);
    await take();
    t.strictSame(held(), []);
    t.equal((await node.runningContainers()).length, 0);
    t.equal(
      world.one(
        "SELECT count(*) FROM holdings WHERE held_until IS NOT NULL AND member_id = ?",
        told!.member,
      ),
      2,
    );
    peer.want();
    await node.untilClean();
    t.strictSame(peer.violations, []);
  },
);
