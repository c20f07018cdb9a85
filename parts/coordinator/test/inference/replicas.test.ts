/** Jobs whose attempts are replicas: placed and ended one by one, and none of their ends is the job's. */
import t, { type Test } from "tap";
import { ReplicaWorld } from "./replica-world.ts";

const ONE = { min: 1, max: 1, targetOngoing: 2 };

async function running(t: Test, workers: number[], more = 0): Promise<ReplicaWorld> {
  const made = await ReplicaWorld.open(t, workers, ONE);
  await made.settle();
  t.equal(made.state, "RUNNING");
  const { replicas } = made.world.parts;
  await made.commit(() => replicas.setDue(made.id, more));
  await made.settle();
  return made;
}

t.test("each replica has a network, a port and a fence of its own", async (t) => {
  const made = await running(t, [3, 1], 2);
  t.same(made.states(), ["RUNNING", "RUNNING", "RUNNING"]);
  t.equal(made.world.one("SELECT replicas_due FROM jobs"), 0);
  const told = made.agents.flatMap(({ held }) => [...held.values()].map(({ desired }) => desired));
  t.equal(new Set(told.map(({ attempt }) => attempt)).size, 3);
  const ports = told.map(({ bridge }, at) => `${at} ${bridge?.kind === "listen" && bridge.port}`);
  t.equal(new Set(ports).size, 3);
  t.same(
    made
      .members()
      .map(({ node_id }) => node_id)
      .sort(),
    ["node-a", "node-a", "node-b"],
    "the first node has two ports",
  );
});

t.test("with no port left another replica waits, and takes no worker", async (t) => {
  const made = await running(t, [4], 2);
  t.equal(made.members().length, 2);
  t.equal(made.world.one("SELECT replicas_due FROM jobs"), 1);
  const why = () => made.world.parts.kernel.job(made.id)?.waitingFor;
  t.match(why(), /without a free job port/);
  await made.commit(() => made.world.parts.replicas.setDue(made.id, 0));
  t.equal(why(), null);
});

t.test(
  "one that fails ends by itself: the job runs, and nobody takes its place unasked",
  async (t) => {
    const made = await running(t, [3], 1);
    const [first] = made.members();
    await made.fail(first!.id);
    await made.place();
    t.equal(made.state, "RUNNING");
    t.same(made.states(), ["RUNNING"]);
    t.equal(made.world.one("SELECT count(*) FROM leases WHERE released_at IS NULL"), 1);
    t.match(made.world.all("SELECT end_reason FROM attempts WHERE ended_at IS NOT NULL"), [
      { end_reason: "payload_exited" },
    ]);
  },
);

t.test("the last one ends, the job runs on without any, and another one comes", async (t) => {
  const made = await running(t, [1]);
  const { replicas } = made.world.parts;
  const [only] = made.members();
  await made.commit(() => replicas.stop(only!.id));
  await made.place();
  t.same(made.members(), []);
  t.equal(made.state, "RUNNING");
  t.same(replicas.of(made.id), { due: 0, replicas: [] });
  await made.commit(() => replicas.setDue(made.id, 1));
  await made.settle();
  t.match(made.members(), [{ id: `${made.id}-a2-replica`, state: "RUNNING" }]);
});

t.test("a job ends with all its replicas, or with none", async (t) => {
  const made = await running(t, [2], 1);
  const audit = { op: crypto.randomUUID(), index: 1, leafHash: "0".repeat(64), unwitnessed: false };
  await made.world.parts.kernel.requestStop(made.id, "user_cancelled", audit);
  t.equal(made.state, "STOPPING");
  await made.place();
  t.equal(made.state, "CANCELLED");
  t.equal(made.world.one("SELECT count(*) FROM leases WHERE released_at IS NULL"), 0);

  const cold = await running(t, [1]);
  await cold.commit(() => cold.world.parts.replicas.stop(cold.members()[0]!.id));
  await cold.place();
  await cold.world.parts.kernel.requestStop(cold.id, "user_cancelled", audit);
  t.equal(cold.state, "CANCELLED");
});

t.test("a replica is lost with its node, and the others serve on", async (t) => {
  const made = await running(t, [1, 1], 1);
  await made.pass(42, [made.agents[1]!]);
  t.equal(made.state, "RUNNING");
  t.match(made.members(), [{ node_id: "node-b", state: "RUNNING" }]);
});

t.test("one whose node never asks for it, or that never gets ready, is given up", async (t) => {
  const made = await running(t, [1, 1]);
  const { replicas, scheduler } = made.world.parts;
  await made.commit(() => replicas.setDue(made.id, 1));
  await scheduler.cycle();
  t.same(made.states(), ["RUNNING", "LEASED"]);
  await made.pass(31);
  t.same(made.states(), ["RUNNING"]);

  await made.commit(() => replicas.setDue(made.id, 1));
  await made.place();
  const { id } = made.members()[1]!;
  await made.say(id, { kind: "staged", bytes: 1 }, { kind: "started", container: "c" });
  await made.pass(119);
  t.same(made.states(), ["RUNNING", "RUNNING"]);
  await made.pass(3);
  await made.place();
  t.same(made.states(), ["RUNNING"]);
  t.match(made.world.all("SELECT reason FROM members WHERE id = ?", id), [
    { reason: "provisioning_timeout" },
  ]);
});

t.test("one whose model loads for minutes, and says that it gets on, is waited for", async (t) => {
  const made = await running(t, [2]);
  await made.commit(() => made.world.parts.replicas.setDue(made.id, 1));
  await made.place();
  const { id } = made.members()[1]!;
  await made.say(id, { kind: "staged", bytes: 1 }, { kind: "started", container: "c" });
  for (let turn = 0; turn < 5; turn++) {
    await made.pass(100);
    await made.say(id, { kind: "progress", step: "loading", done: 0 });
  }
  t.same(made.states(), ["RUNNING", "RUNNING"]);
  await made.say(id, { kind: "ready" });
  await made.pass(200);
  t.same(made.states(), ["RUNNING", "RUNNING"]);
});

t.test("nothing of it is lost with the process", async (t) => {
  const made = await running(t, [3], 1);
  await made.commit(() => made.world.parts.replicas.setDue(made.id, 1));
  made.world.crash();
  for (const agent of made.agents) await agent.register();
  await made.settle();
  t.same(made.states(), ["RUNNING", "RUNNING"], "two ports");
  t.equal(made.world.one("SELECT replicas_due FROM jobs"), 1);
});

t.test("a node that only the gateway beside it reaches has replicas all the same", async (t) => {
  const made = await ReplicaWorld.open(t, [2], ONE);
  made.world.parts.db.prepare("UPDATE nodes SET bridge_address = '127.0.0.1'").run();
  await made.settle();
  t.same(made.states(), ["RUNNING"]);
});
