/** A member with two workers: one container, a lease of each, one fence; and what becomes of all of them when it is lost, fenced or not proven free. */
import type { MemberEvent } from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import type { Workloads } from "../../src/kernel/workload.ts";
import type { CommandSpec } from "../../src/workloads/command/command.ts";
import { WORKLOADS } from "../../src/workloads/workloads.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

const spec: CommandSpec = {
  ...{ interpreter: ["python3", "-u"], script: "x.py", arguments: [], environment: {} },
  workers: 2,
};
/** As a release has them that knows one worker a member. */
const OLDER: Workloads = {
  has: (kind) => !kind.endsWith("-several") && WORKLOADS.has(kind),
  of: (job) => WORKLOADS.of(job),
};

type Wish = {
  slots?: number;
  protocol?: number;
  each?: number;
  asks?: Pick<CommandSpec, "cpus" | "hostMemoryMb">;
};

async function submitted(t: Test, { slots = 3, protocol = 8, each = 2, asks = {} }: Wish = {}) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const agent = new SimAgent(world, "node-a", slots);
  agent.protocol = { min: 1, max: protocol };
  world.admit(agent.node);
  await agent.register();
  const script = { kind: "script", key: "jobs/c/x.py", target: "scripts/x.py" } as const;
  const task = world.task("wide", {
    ...{
      kind: "command",
      spec: { ...spec, workers: each, ...asks },
      numRounds: null,
      minClients: 0,
    },
    inputs: [{ ...script, versionId: "v", etag: "e", sizeBytes: 10 }],
    shardUncompressedBytes: [10],
  });
  const { id } = await world.parts.kernel.submit(task);
  await world.parts.scheduler.cycle();
  await agent.fetch();
  const member = `${id}-a1-command`;
  const say = async (...events: MemberEvent[]) => {
    for (const event of events) agent.say(member, event);
    await agent.send();
  };
  const turn = async () => {
    await agent.fetch();
    await agent.send();
    await world.parts.scheduler.cycle();
  };
  return { world, agent, id, member, say, turn, job: () => world.parts.kernel.job(id)! };
}

const STARTED: MemberEvent[] = [
  { kind: "staged", bytes: 1 },
  { kind: "started", container: "c" },
];
const released = (devicesAtBaseline: boolean): MemberEvent => ({
  ...{ kind: "released", processesGone: true, diskGone: true, devicesAtBaseline },
});
const LEASES =
  "SELECT worker_id AS worker, member_id AS member, generation, counter, released_at IS NULL AS isHeld FROM leases ORDER BY id";

t.test(
  "one container, a lease of each worker, one fence, twice the processors and memory",
  async (t) => {
    const { world, agent, id, member, job } = await submitted(t);
    const lease = { member, generation: 1, counter: 1, isHeld: 1 };
    t.same(world.all(LEASES), [
      { worker: "node-a-0", ...lease },
      { worker: "node-a-1", ...lease },
    ]);
    t.match(agent.held.get(member)?.desired, {
      fence: { generation: 1, counter: 1 },
      resources: { workers: ["node-a-0", "node-a-1"], memoryBytes: 8e9, cpuMillis: 1333 },
    });
    t.match(job(), { kind: "command" });
    t.match(job().members, [{ workerId: "node-a-0", workerIds: ["node-a-0", "node-a-1"] }]);
    t.same(world.parts.kernel.job(id)?.warnings, []);
    const { feed } = world.parts;
    const everything = { rows: "all", shows: "everything" } as const;
    const since = { ...feed.position, sequence: 0 };
    for await (const told of feed.subscribe({ kind: "job", job: id }, { reach: everything, since }))
      if (told.kind === "change" && told.change.kind === "member-added") {
        t.match(told.change, { worker: "node-a-0", workers: ["node-a-0", "node-a-1"] });
        break;
      }
  },
);

t.test("each worker has an interval of its own, from its lease to its release", async (t) => {
  const { world, say, job } = await submitted(t);
  world.nowMs += 1_000;
  await say(...STARTED);
  world.nowMs += 5_000;
  await say({ kind: "finished" }, { kind: "outputs-uploaded", keys: [] }, released(true));
  t.equal(job().state, "SUCCEEDED");
  const found = world.all<{ worker: string; used: number; isOpen: number }>(
    "SELECT worker_id AS worker, used_until - used_from AS used, held_until IS NULL AS isOpen FROM holdings ORDER BY id",
  );
  t.same(found, [
    { worker: "node-a-0", used: 6_000, isOpen: 0 },
    { worker: "node-a-1", used: 6_000, isOpen: 0 },
  ]);
  t.equal(world.one("SELECT count(*) FROM leases WHERE released_at IS NULL"), 0);
});

t.test("its container has what the job asks of the node, and no more", async (t) => {
  const { agent, member } = await submitted(t, { asks: { cpus: 1, hostMemoryMb: 512 } });
  const { resources } = agent.held.get(member)!.desired;
  t.match(resources, { cpuMillis: 1_000, memoryBytes: 512 * 1024 ** 2 });
  const more = await submitted(t, { asks: { cpus: 2 } });
  t.match(more.job(), {
    state: "QUEUED",
    waitingFor: /excluded: 3 with too few processors of their node$/,
  });
});

t.test("with one free worker it waits for two, and says so", async (t) => {
  const { job } = await submitted(t, { slots: 1 });
  t.match(job(), {
    state: "QUEUED",
    waitingFor: "needs 2 workers of one model on one node; 1 of 1 would do now",
    warnings: [/would never start|never start/],
  });
});

t.test("an agent of an older release is given no member of several workers", async (t) => {
  const { job } = await submitted(t, { protocol: 7 });
  t.match(job(), { state: "QUEUED", waitingFor: /excluded: 3 on nodes whose agent is too old/ });
  const one = await submitted(t, { protocol: 7, each: 1 });
  t.equal(one.job().state, "PROVISIONING", "and one of one worker as ever");
});

t.test("what is not proven free is quarantined, each worker of it", async (t) => {
  const { world, agent, say, turn } = await submitted(t);
  await say(...STARTED, { kind: "finished" }, { kind: "outputs-uploaded", keys: [] });
  await say(released(false));
  await turn();
  t.same(
    world.all(
      "SELECT id, quarantine_reason AS why FROM workers WHERE is_quarantined = 1 ORDER BY id",
    ),
    [
      { id: "node-a-0", why: "release_timeout" },
      { id: "node-a-1", why: "release_timeout" },
    ],
  );
  t.equal(world.one("SELECT count(*) FROM leases WHERE released_at IS NULL"), 0);
  t.equal(agent.held.size, 0);
});

t.test(
  "a lost node's member holds all its workers until it has let go, and its old fence counts no more",
  async (t) => {
    const { world, agent, id, member, say } = await submitted(t);
    const other = new SimAgent(world, "node-b", 4);
    world.admit(other.node);
    await other.register();
    await say(...STARTED);
    const old = agent.sent.at(-1);
    const held = () =>
      world
        .all<{ worker: string }>(
          "SELECT worker_id AS worker FROM leases WHERE released_at IS NULL ORDER BY id",
        )
        .map(({ worker }) => worker);
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        world.nowMs += 1_000;
        world.parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
        if (second % 5 === 0) await other.beat();
        await world.parts.liveness.tick();
        await world.parts.sweeper.sweep();
        if (world.parts.tables.placementSignal.isRaised) await world.parts.scheduler.cycle();
      }
    };
    await pass(60);
    t.same(
      held(),
      ["node-a-0", "node-a-1", "node-b-0", "node-b-1"],
      "the next attempt has two elsewhere, nobody has the lost ones",
    );
    world.crash();
    await world.parts.sweeper.reconcileAll();
    await agent.register();
    await agent.fetch();
    t.equal(agent.held.get(member)?.desired.desired, "stop");
    t.equal(agent.held.get(member)?.desired.fence.counter, 2);
    await agent.replay(old);
    t.same(
      held(),
      ["node-a-0", "node-a-1", "node-b-0", "node-b-1"],
      "a word under the old fence frees neither",
    );
    await agent.send();
    t.same(held(), ["node-b-0", "node-b-1"], "the proof under the new one frees both");
    t.match(world.parts.kernel.job(id), { attempt: 2 });
  },
);

t.test("after a rollback such a job waits for the newer release, and others go on", async (t) => {
  const world = new KernelWorld(OLDER);
  t.teardown(() => world[Symbol.dispose]());
  const agent = new SimAgent(world, "node-a", 2);
  world.admit(agent.node);
  await agent.register();
  const { id } = await world.parts.kernel.submit(world.task("wide"));
  world.parts.db
    .prepare("UPDATE jobs SET kind = 'command-several', spec = ? WHERE id = ?")
    .run(JSON.stringify(spec), id);
  await world.parts.scheduler.cycle();
  t.equal(world.parts.kernel.job(id)?.state, "QUEUED");
  const next = await world.parts.kernel.submit(world.task("other"));
  await world.parts.scheduler.cycle();
  t.equal(world.parts.kernel.job(next.id)?.state, "RESERVED");
});

t.test("a release that knows the first worker alone quarantines the others with it", async (t) => {
  const { world, member, say } = await submitted(t);
  await say(...STARTED);
  // What such a release does with a member that has not proven that it is gone.
  world.parts.db.exec(`
    UPDATE workers SET is_quarantined = 1, quarantine_reason = 'release_timeout' WHERE id = 'node-a-0';
    UPDATE leases SET released_at = 1 WHERE member_id = '${member}' AND released_at IS NULL;
  `);
  t.same(world.all("SELECT id FROM workers WHERE is_quarantined = 1 ORDER BY id"), [
    { id: "node-a-0" },
    { id: "node-a-1" },
  ]);
});
