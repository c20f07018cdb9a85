/** The second workload: one member on one worker, no hub, no rounds. */
import type { MemberEvent } from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import type { CommandSpec } from "../../src/workloads/command/command.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

const spec: CommandSpec = {
  interpreter: ["python3", "-u"],
  script: "x.py",
  arguments: ["a b"],
  environment: { LEVEL: "3" },
};

async function placed(t: Test) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const agent = new SimAgent(world, "node-a", 2);
  world.admit(agent.node);
  await agent.register();
  const file = (kind: "script" | "file", key: string, target: string) =>
    ({ kind, key, target, versionId: "v", etag: "e", sizeBytes: 10 }) as const;
  const inputs = [
    file("script", "jobs/c/x.py", "scripts/x.py"),
    file("file", "jobs/c/raw/a", "payload/raw/a"),
  ];
  const task = {
    kind: "command",
    spec,
    numRounds: null,
    minClients: 0,
    inputs,
    shardUncompressedBytes: [10],
  };
  const { id } = await world.parts.kernel.submit(world.task("commanded", task));
  await world.parts.scheduler.cycle();
  await agent.fetch();
  const member = `${id}-a1-command`;
  const say = async (...events: MemberEvent[]) => {
    for (const event of events) agent.say(member, event);
    await agent.send();
  };
  return { world, agent, id, member, say, job: () => world.parts.kernel.job(id)! };
}

const STARTED: MemberEvent[] = [
  { kind: "progress", step: "inputs", done: 1 },
  { kind: "staged", bytes: 1 },
  { kind: "started", container: "c" },
];
const RELEASED: MemberEvent = {
  kind: "released",
  processesGone: true,
  diskGone: true,
  devicesAtBaseline: true,
};

t.test("the agent is told a payload, and nothing of a federation", async (t) => {
  const { agent, member } = await placed(t);
  const { payload, inputs, resources } = agent.held.get(member)!.desired;
  t.match(payload, {
    command: ["python3", "-u", "/rt/job/scripts/x.py", "a b"],
    environment: { LEVEL: "3", RESONTECH_OUT_DIR: "/app/out" },
    ...{ files: [], certificates: null, network: { shape: "closed" }, sites: [] },
    outputs: {
      printed: "files_out/logs/command.log",
      models: null,
      files: { folder: "files_out" },
    },
  });
  t.same(
    inputs.map(({ kind, target }) => [kind, target]),
    [
      ["script", "scripts/x.py"],
      ["file", "payload/raw/a"],
    ],
  );
  t.equal(resources.workers.length, 1);
});

t.test(
  "it runs once its member does, and succeeds once its outputs are stored: no model is asked for",
  async (t) => {
    const { world, say, job } = await placed(t);
    await say(...STARTED);
    t.equal(job().state, "RUNNING");
    t.same(
      job().members.map(({ role, site, workerId }) => ({ role, site, workerId })),
      [{ role: "command", site: null, workerId: "node-a-0" }],
    );
    await say({ kind: "finished" });
    t.equal(job().state, "FINALIZING");
    await say({ kind: "outputs-uploaded", keys: ["files_out/logs/command.log"] }, RELEASED);
    t.equal(job().state, "SUCCEEDED");
    t.equal(world.one("SELECT count(*) FROM leases WHERE released_at IS NULL"), 0);
    t.equal(world.one("SELECT count(*) FROM attempts WHERE bridge_port IS NOT NULL"), 0);
  },
);

t.test("a script that ends with another code than 0 is its user's failure, at once", async (t) => {
  const { say, job } = await placed(t);
  await say(...STARTED);
  await say({
    kind: "failed",
    reason: "payload_exited",
    message: "the payload ended with exit code 3",
    detail: "ValueError: x",
  });
  await say({ kind: "outputs-uploaded", keys: [] }, RELEASED);
  t.match(job(), {
    ...{ state: "FAILED", attempt: 1 },
    error: {
      code: "payload_exited",
      message: /exit code 3/,
      detail: "ValueError: x",
      member: "command",
    },
  });
  t.match(job().error?.hint, /files_out\/logs\/command\.log/);
});

t.test("a lost node costs an attempt, not the job", async (t) => {
  const { world, agent, id, say, job } = await placed(t);
  await say(...STARTED, { kind: "failed", reason: "container_failed", message: "gone" });
  await say({ kind: "outputs-uploaded", keys: [] }, RELEASED);
  for (let step = 0; step < 3; step++) {
    await agent.fetch();
    await agent.send();
    await world.parts.scheduler.cycle();
  }
  t.match(job(), { attempt: 2 });
  t.ok(agent.held.has(`${id}-a2-command`));
});

t.test(
  "a queued job of a kind that this release does not know waits, and holds up nobody",
  async (t) => {
    const world = new KernelWorld();
    t.teardown(() => world[Symbol.dispose]());
    const agent = new SimAgent(world, "node-a", 2);
    world.admit(agent.node);
    await agent.register();
    const unknown = await world.parts.kernel.submit(world.task("unknown"));
    world.parts.db
      .prepare("UPDATE jobs SET kind = 'of-a-newer-release' WHERE id = ?")
      .run(unknown.id);
    const known = await world.parts.kernel.submit(world.task("known"));
    await world.parts.scheduler.cycle();
    t.equal(world.parts.kernel.job(unknown.id)?.state, "QUEUED");
    t.equal(world.parts.kernel.job(known.id)?.state, "RESERVED");
  },
);

/** A rollback: from here on the running release does not know the kind of the job; null: it does again. */
async function knows(world: KernelWorld, id: string, kind: string | null): Promise<void> {
  world.parts.db.prepare("UPDATE jobs SET kind = ? WHERE id = ?").run(kind ?? "command", id);
  world.crash();
  await world.parts.sweeper.reconcileAll();
}

t.test("a running job of a kind that this release does not know goes on as it is", async (t) => {
  const { world, agent, id, member, say, job } = await placed(t);
  await say(...STARTED);
  const before = agent.held.get(member)!.desired;
  await knows(world, id, "of-a-newer-release");
  for (let step = 0; step < 3; step++) {
    await agent.fetch();
    await world.parts.scheduler.cycle();
    await world.parts.sweeper.sweep();
  }
  t.same(agent.held.get(member)?.desired, before, "its node is told the same of it");
  t.equal(job().state, "RUNNING");
  await say({ kind: "finished" });
  await say({ kind: "outputs-uploaded", keys: ["files_out/logs/command.log"] }, RELEASED);
  t.equal(job().state, "RUNNING", "who does not know the kind judges nothing");
  await knows(world, id, null);
  t.equal(job().state, "SUCCEEDED");
});

t.test("a job of an unknown kind is stopped like any other", async (t) => {
  const { world, agent, id, member, say, job } = await placed(t);
  await say(...STARTED);
  await knows(world, id, "of-a-newer-release");
  await world.parts.commit.run(() => {
    world.parts.transitions.moveJob(id, "stop", { reason: "user_cancelled" });
  });
  await agent.fetch();
  t.equal(agent.held.get(member)?.desired.desired, "stop");
  await say({ kind: "outputs-uploaded", keys: [] }, RELEASED);
  t.equal(job().state, "CANCELLED");
});
