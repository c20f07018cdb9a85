/** From what the gateways say to members that are placed and ended, on the real kernel. */
import { STANDING_SINCE } from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import type { Load } from "../../src/inference/decisions/deployment.ts";
import { DeploymentTable, saveDeployment } from "../../src/inference/deployment-table.ts";
import { Rollouts } from "../../src/inference/rollouts.ts";
import { Scaler } from "../../src/inference/scaler.ts";
import type { Scaling } from "../../src/workloads/predictor/scaling.ts";
import { ReplicaWorld } from "./replica-world.ts";

async function scaled(t: Test, workers: number[], scaling: Scaling, protocol?: number) {
  const made = await ReplicaWorld.open(t, workers, scaling, protocol);
  const { world } = made;
  await made.settle();
  /** As of a gateway that follows whatever it is told at once. */
  const calls: Pick<Load, "queued" | "inFlight"> = { queued: 0, inFlight: {} };
  const open = () =>
    new Scaler({
      ...{ commit: world.parts.commit, replicas: world.parts.replicas, now: () => world.nowMs },
      table: new DeploymentTable(world.read),
      rollouts: new Rollouts(world.read, new DeploymentTable(world.read)),
      load: () => ({ ...calls, generation: Number.MAX_SAFE_INTEGER, lastCompletionAt: null }),
      onChange: () => undefined,
      onError: (error) => world.errors.push(error),
    });
  let scaler = open();
  /** @param step seconds between two looks */
  const seconds = async (count: number, step = 1) => {
    for (let second = 0; second < count; second += step) {
      await made.pass(step);
      await scaler.look();
      await made.settle();
    }
    await scaler.look();
  };
  const crash = async () => {
    world.crash();
    scaler = open();
    for (const agent of made.agents) await agent.register();
  };
  const deployment = () => new DeploymentTable(world.read).state(made.id)!;
  return { made, world, calls, seconds, crash, deployment, scaler };
}

t.test("a fixed number of replicas is there, and there again after one has failed", async (t) => {
  const { made, seconds, deployment } = await scaled(t, [2, 2], {
    min: 3,
    max: 3,
    targetOngoing: 2,
  });
  await seconds(4);
  t.same(made.states(), ["RUNNING", "RUNNING", "RUNNING"]);
  t.match(deployment(), { state: "HOT", due: 0 });
  await made.fail(made.members()[0]!.id, "container_failed");
  await seconds(4);
  t.same(made.states(), ["RUNNING", "RUNNING", "RUNNING"]);
});

t.test("replicas come with calls and go without them, to none, and a call wakes one", async (t) => {
  const { made, calls, seconds, crash, deployment } = await scaled(t, [2], {
    ...{ min: 0, max: 2, targetOngoing: 2 },
  });
  await seconds(1);
  calls.queued = 3;
  await seconds(4);
  t.equal(made.members().length, 2);
  calls.queued = 0;
  await seconds(310, 10);
  t.equal(made.members().length, 1);
  await crash();
  await seconds(290, 10);
  t.equal(made.members().length, 1, "its time begins anew with the process");
  await seconds(30, 10);
  t.same(made.members(), []);
  t.match(deployment(), { state: "COLD", replicas: [] });
  t.equal(made.state, "RUNNING");

  calls.queued = 1;
  await seconds(2);
  t.same(made.states(), ["RUNNING"]);
  t.match(deployment(), { state: "HOT" });
});

t.test("the last replica sleeps, wakes for a call, and goes for a job that waits", async (t) => {
  const scaling = { min: 0, max: 1, targetOngoing: 2 };
  const { made, world, calls, seconds, deployment } = await scaled(t, [1], scaling, STANDING_SINCE);
  const [replica] = made.members();
  const standing = () =>
    new DeploymentTable(world.read).routes()[0]?.replicas.map(({ isOpen }) => isOpen);
  await seconds(320, 10);
  t.match(deployment(), { state: "SLEEPING" });
  t.same(standing(), [], "nobody is led there");
  await made.obey(replica!.id);
  await seconds(10);
  t.match(deployment(), { state: "SLEEPING" });

  calls.queued = 1;
  await seconds(2);
  t.match(deployment(), { state: "WAKING" }, "until it says that it is awake");
  await made.obey(replica!.id);
  await seconds(1);
  t.match(deployment(), { state: "HOT", tierWakesMs: { asleep: [2_000] } });
  t.same(standing(), [true]);
  t.same(made.members(), [replica], "the very same");

  await made.say(replica!.id, { kind: "standing", standing: "stalled", order: 2 });
  await seconds(1);
  t.match(deployment(), { replicas: [{ state: "SUSPECT" }] });
  await made.say(replica!.id, { kind: "standing", standing: "well", order: 2 });

  calls.queued = 0;
  await seconds(320, 10);
  await made.obey(replica!.id);
  t.match(deployment(), { state: "SLEEPING" });
  await world.parts.kernel.submit(world.task("a job", { minClients: 1 }, 1));
  await seconds(2);
  t.not(made.members()[0]?.state, "RUNNING", "it makes room");
});

t.test(
  "a replica beyond the least makes way for a job that is guaranteed the worker",
  async (t) => {
    const { made, world, calls, seconds, crash, deployment } = await scaled(t, [2], {
      ...{ min: 1, max: 2, targetOngoing: 2 },
    });
    const { db } = world.parts;
    db.exec(`
    INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'q', 0, 1);
    INSERT INTO shares (id, guarantee, changed_at) VALUES ('project-a', '{"cpu":1}', 1), ('project-b', '{"cpu":1}', 1);
  `);
    calls.queued = 3;
    await seconds(4);
    const [least, beyond] = made.members();
    t.same(made.states(), ["RUNNING", "RUNNING"]);
    calls.queued = 0;
    calls.inFlight = { [least!.id]: 1, [beyond!.id]: 1 };
    const guaranteed = world.task("entitled", { projectId: "project-b", minClients: 1 }, 1);
    const { id: entitled } = await world.parts.kernel.submit(guaranteed);
    await seconds(2);
    t.match(world.all("SELECT reason, victim_attempt FROM preemptions"), [
      { reason: "guarantee", victim_attempt: `${made.id}-a2` },
    ]);
    const [event] = world.all<{ event: string }>(
      "SELECT event FROM audit_outbox WHERE event LIKE '%gang.preempting%'",
    );
    t.match(JSON.parse(event!.event), {
      ...{ type: "job.gang.preempting", object: { kind: "job", id: made.id } },
      detail: { attempt: `${made.id}-a2`, reason: "guarantee" },
    });
    const states = () => deployment().replicas.map(({ state }) => state);
    t.same(states(), ["READY", "DRAINING"], "its call goes on");
    await crash();
    await seconds(3);
    t.same(states(), ["READY", "DRAINING"], "and does so over a restart");
    t.equal(world.all("SELECT 1 FROM preemptions").length, 1, "nobody is asked twice");

    calls.inFlight = { [least!.id]: 2 };
    await seconds(1);
    t.same(states(), ["READY"], "it is gone with its last call");
    await seconds(3);
    t.match(world.parts.kernel.job(entitled), {
      state: /^(RESERVED|PROVISIONING|STAGING|RUNNING)$/,
    });
    t.equal(world.one("SELECT stop_reason FROM members WHERE id = ?", beyond!.id), "preempted");
    t.equal(made.state, "RUNNING");
    t.same(made.states(), ["RUNNING"], "the least stays, and what is due waits for a free worker");
    t.equal(world.all("SELECT 1 FROM preemptions").length, 1);
    const other = world.task(
      "other",
      { projectId: "project-a", jobClass: "interactive", minClients: 1 },
      1,
    );
    await world.parts.kernel.submit(other);
    await seconds(2);
    t.equal(world.all("SELECT 1 FROM preemptions").length, 1, "nor for a class of its own project");
    t.same(world.errors, []);
  },
);

t.test("the least of a deployment makes way where it is beyond every guarantee", async (t) => {
  const { made, world, seconds, deployment } = await scaled(t, [1], {
    ...{ min: 1, max: 1, targetOngoing: 2 },
  });
  world.parts.db.exec(`
    INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'q', 0, 1);
    INSERT INTO shares (id, guarantee, changed_at) VALUES ('project-b', '{"cpu":1}', 1);
  `);
  await seconds(1);
  const { kernel } = world.parts;
  const own = await kernel.submit(world.task("own", { minClients: 1 }, 1));
  await seconds(2);
  t.equal(world.all("SELECT 1 FROM preemptions").length, 0, "for no job of its own project");
  const task = world.task("entitled", { projectId: "project-b", minClients: 1 }, 1);
  const entitled = await kernel.submit(task);
  await seconds(2);
  t.same(deployment().replicas, [], "nobody calls: it goes at once");
  await seconds(3);
  t.match(kernel.job(entitled.id), { state: /^(RESERVED|PROVISIONING|STAGING|RUNNING)$/ });
  t.match(kernel.job(own.id), { state: "QUEUED" });
  t.match(deployment(), { due: 1 }, "another one waits for a worker");
  t.equal(made.state, "RUNNING");
});

t.test("of two that sleep the one goes whose worker a job takes, without shares too", async (t) => {
  const scaling = { min: 0, max: 1, targetOngoing: 2 };
  const { made, world, seconds, deployment } = await scaled(t, [1], scaling, STANDING_SINCE);
  const [replica] = made.members();
  await seconds(320, 10);
  await made.obey(replica!.id);
  t.match(deployment(), { state: "SLEEPING" });
  const needs = { minClients: 1, estimatedMemoryMb: 1_000_000_000 };
  await world.parts.kernel.submit(world.task("too large", needs, 1));
  await seconds(30, 10);
  t.match(deployment(), { state: "SLEEPING" }, "whom it would not help ends nobody's sleep");
  t.same(world.all("SELECT 1 FROM preemptions"), []);

  const { id } = await world.parts.kernel.submit(world.task("fits", { minClients: 1 }, 1));
  await seconds(3);
  t.match(world.all("SELECT job_id, victim_job FROM preemptions"), [
    { job_id: id, victim_job: made.id },
  ]);
  t.match(world.parts.kernel.job(id), { state: /^(RESERVED|PROVISIONING|STAGING|RUNNING)$/ });
  t.match(deployment(), { state: "COLD", replicas: [] });
  t.equal(made.state, "RUNNING");
  t.same(world.errors, []);
});

t.test("who asks for another delay sleeps after it, and not while a replica is new", async (t) => {
  const scaling = { min: 0, max: 1, targetOngoing: 2, downAfterMs: 10_000 };
  const { seconds, deployment } = await scaled(t, [1], scaling, STANDING_SINCE);
  await seconds(50, 5);
  t.match(deployment(), { state: "HOT" });
  await seconds(60, 5);
  t.match(deployment(), { state: "SLEEPING" });
});

t.test("a deployment that can't be loaded any more says so, and keeps no worker", async (t) => {
  const { made, seconds, deployment, world } = await scaled(t, [1], {
    min: 1,
    max: 1,
    targetOngoing: 2,
  });
  for (let times = 0; times < 3; times++) {
    await seconds(1);
    await made.fail(made.members()[0]!.id);
    await made.pass(1);
  }
  await seconds(1);
  t.match(deployment(), { state: "FAILED", due: 0 });
  t.same(made.members(), []);
  t.match(new DeploymentTable(world.read).failure(made.id), /payload_exited: it failed/);
  await seconds(310, 10);
  t.match(deployment(), { state: "HOT" });
});

t.test("a node that is drained is left, and serves until another one does", async (t) => {
  const { made, world, seconds } = await scaled(t, [1, 1], { min: 1, max: 1, targetOngoing: 2 });
  await seconds(2);
  const [first] = made.members();
  await made.commit(() => world.parts.nodes.setCordon(first!.node_id, "drained"));
  await made.pass(1);
  t.same(made.states(), ["RUNNING"], "it serves on");
  await seconds(3);
  const [next, ...others] = made.members();
  t.same(others, []);
  t.not(next!.node_id, first!.node_id);
  t.equal(next!.state, "RUNNING");
});

t.test("one that somebody ended is stopped for good", async (t) => {
  const { made, world, seconds, deployment } = await scaled(t, [2], {
    ...{ min: 2, max: 2, targetOngoing: 2 },
  });
  await seconds(4);
  const audit = { op: crypto.randomUUID(), index: 1, leafHash: "0".repeat(64), unwitnessed: false };
  await world.parts.kernel.requestStop(made.id, "user_cancelled", audit);
  await seconds(4);
  t.equal(made.state, "CANCELLED");
  t.match(deployment(), { state: "STOPPED", due: 0 });
  t.same(made.members(), []);
  t.same(new DeploymentTable(world.read).routes(), []);
  await seconds(2);
  t.same(made.members(), []);
});

t.test("whoever is woken by a generation of its own never goes back to an older one", async (t) => {
  const { seconds, crash, deployment } = await scaled(t, [1], { min: 1, max: 1, targetOngoing: 2 });
  await seconds(2);
  const { generation } = deployment();
  await crash();
  await seconds(2);
  t.ok(deployment().generation >= generation);
});

t.test("a step of somebody who is behind changes nothing", async (t) => {
  const { made, world, seconds, deployment } = await scaled(t, [2], {
    ...{ min: 1, max: 1, targetOngoing: 2 },
  });
  await seconds(2);
  const now = deployment();
  const behind = { ...now, generation: now.generation - 1, state: "COLD" as const };
  await t.rejects(
    world.parts.commit.run((db) => saveDeployment(db, made.id, behind)),
    /is past generation/,
  );
  t.same(deployment(), now);
});

t.test("the gateway is told who is open, and of deployments that sleep too", async (t) => {
  const { made, world, seconds } = await scaled(t, [1], { min: 0, max: 1, targetOngoing: 2 });
  await seconds(1);
  const table = new DeploymentTable(world.read);
  t.match(table.routes(), [
    {
      deployment: made.id,
      state: "HOT",
      replicas: [{ node: "node-a", port: 29_000, isOpen: true }],
    },
  ]);
  await seconds(320, 10);
  t.match(table.routes(), [{ deployment: made.id, state: "COLD", replicas: [] }]);
});
