/** Two projects share two workers: who borrowed gives back, and goes on from what it committed. */
import t from "tap";
import { moveTimes } from "../../src/kernel/clock-steps.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

async function sharedWorld(workers = 2) {
  const world = new KernelWorld();
  const { db } = world.parts;
  db.exec(`
    INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'q', 0, 1);
    INSERT INTO shares (id, guarantee, changed_at) VALUES ('project-a', '{"cpu":1}', 1), ('project-b', '{"cpu":1}', 1);
  `);
  const agent = new SimAgent(world, "node-a", workers);
  world.admit("node-a");
  await agent.register();
  const submit = async (slug: string, projectId: string, change = {}) => {
    const task = world.task(slug, { projectId, minClients: 1, ...change }, 1);
    return (await world.parts.kernel.submit(task)).id;
  };
  const cycle = () => world.parts.scheduler.cycle();
  const state = (id: string) => world.one<string>("SELECT state FROM jobs WHERE id = ?", id);
  /** Nothing waits for the log meanwhile. */
  const pass = (ms: number) => {
    world.nowMs += ms;
    db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
  };
  /** The agent does what it is told, and each of its members its next things. */
  const work = async (steps: number) => {
    for (let step = 0; step < steps; step += 1) {
      await agent.fetch();
      for (let member = 0; member < agent.held.size; member += 1) agent.advance(member, null);
      await agent.send();
      pass(1_000);
    }
  };
  const settle = async () => {
    await agent.fetch();
    await agent.send();
  };
  return { world, agent, submit, cycle, state, work, settle, pass };
}

/** A training that can go on from a commit runs on all workers, and another project asks for one that it is guaranteed. */
async function askedToCommit() {
  const all = await sharedWorld(1);
  const { world, agent, submit, cycle, work, state } = all;
  world.parts.db.exec("UPDATE shares SET guarantee = '{}' WHERE id = 'project-a'");
  const victim = await submit("training", "project-a", { resumable: true });
  await cycle();
  await work(5);
  agent.commits = false;
  const entitled = await submit("entitled", "project-b");
  await cycle();
  /** Time passes, and the node is heard meanwhile. */
  const wait = async (seconds: number) => {
    for (let left = seconds; left > 0; left -= 5) {
      all.pass(Math.min(5, left) * 1_000);
      await agent.beat();
      await world.parts.liveness.tick();
      await world.parts.sweeper.sweep();
    }
  };
  const orders = async () => {
    await agent.fetch();
    return [...agent.held.values()]
      .filter(({ desired: { job } }) => job === victim)
      .map(({ desired: { desired, stopReason, stopAfter, graceMs } }) => ({
        ...{ desired, stopReason, stopAfter, graceMs },
      }));
  };
  const server = () =>
    world.one<string>("SELECT id FROM members WHERE job_id = ? AND is_lead = 1", victim);
  const keptUntil = () => world.one<number>("SELECT kept_until FROM preemptions");
  return { ...all, victim, entitled, wait, orders, server, keptUntil, state };
}

t.test(
  "a borrower gives back what another project is guaranteed, and waits for its return",
  async (t) => {
    const { world, submit, cycle, state, work, settle } = await sharedWorld();
    t.teardown(() => world[Symbol.dispose]());
    const [first, second] = [await submit("one", "project-a"), await submit("two", "project-a")];
    await cycle();
    await work(5);
    t.same([state(first), state(second)], ["RUNNING", "RUNNING"], "all is lent while nobody asks");

    const entitled = await submit("three", "project-b");
    await cycle();
    const rows = world.all<{ victim_job: string; reason: string }>(
      "SELECT victim_job, reason FROM preemptions",
    );
    t.match(rows, [{ reason: "guarantee" }]);
    const victim = rows[0]!.victim_job;
    const kept = victim === first ? second : first;
    t.equal(state(victim), "PREEMPTING");
    t.match(world.one("SELECT waiting_for FROM jobs WHERE id = ?", entitled), /taken back for it/);
    await cycle();
    t.equal(world.all("SELECT 1 FROM preemptions").length, 1, "nobody is asked twice");

    await settle();
    t.equal(state(victim), "QUEUED");
    t.match(
      world.all(
        "SELECT retries_infrastructure AS a, retries_lease_lost AS b, reason FROM jobs WHERE id = ?",
        victim,
      ),
      [{ a: 0, b: 0, reason: null }],
    );
    await cycle();
    t.same([state(entitled), state(kept)], ["RESERVED", "RUNNING"]);
    t.equal(state(victim), "QUEUED");
    await cycle();
    t.equal(
      world.all("SELECT 1 FROM preemptions").length,
      1,
      "whoever made way takes nothing back",
    );

    await work(12);
    await world.parts.commit.run(() => world.parts.transitions.reconcile(entitled));
    await cycle();
    await work(3);
    t.equal(state(victim) === "QUEUED", false, "it has its turn once something is free");
  },
);

t.test(
  "a step of the clock neither frees what is kept for a job, nor keeps it for longer",
  async (t) => {
    const { world, submit, cycle } = await sharedWorld();
    t.teardown(() => world[Symbol.dispose]());
    await submit("one", "project-a");
    await submit("two", "project-a");
    await cycle();
    await submit("three", "project-b");
    await cycle();
    const times = () =>
      world.all<{ d: number; k: number }>(
        "SELECT decided_at AS d, kept_until AS k FROM preemptions",
      );
    const [{ d, k }] = times() as [{ d: number; k: number }];
    moveTimes(world.parts.db, world.parts.meta, -3_600_000);
    t.same(times(), [{ d: d - 3_600_000, k: k - 3_600_000 }]);
  },
);

t.test("a job that does not run yet lets go at once", async (t) => {
  const { world, submit, cycle, state } = await sharedWorld();
  t.teardown(() => world[Symbol.dispose]());
  const early = [await submit("one", "project-a"), await submit("two", "project-a")];
  await cycle();
  t.same(early.map(state), ["RESERVED", "RESERVED"]);
  await submit("three", "project-b");
  await cycle();
  t.same(early.map(state).toSorted(), ["QUEUED", "RESERVED"]);
});

t.test("the stated time counts what runs alone, over all attempts", async (t) => {
  const { world, submit, cycle, state, work, settle, pass } = await sharedWorld(1);
  t.teardown(() => world[Symbol.dispose]());
  const limit = { timeLimitMs: 600_000 };
  const id = await submit("limited", "project-a", limit);
  // Its project is guaranteed nothing any more.
  world.parts.db.exec("UPDATE shares SET guarantee = '{}' WHERE id = 'project-a'");
  await cycle();
  await work(5);
  const expires = () => world.one<number | null>("SELECT expires_at FROM jobs WHERE id = ?", id);
  const since = world.one<number>("SELECT state_since FROM jobs WHERE id = ?", id);
  t.equal(expires(), since + 600_000);
  pass(since + 100_000 - world.nowMs);
  const other = await submit("other", "project-b");
  await cycle();
  await settle();
  t.equal(state(id), "QUEUED");
  t.equal(expires(), null, "no wait in the queue ends it");
  t.equal(world.one("SELECT ran_ms FROM jobs WHERE id = ?", id), 100_000);
  pass(3_600_000);
  await world.parts.commit.run(() =>
    world.parts.transitions.moveJob(other, "stop", { reason: "user_cancelled" }),
  );
  await settle();
  await cycle();
  await work(5);
  t.equal(state(id), "RUNNING");
  t.equal(expires(), world.one<number>("SELECT state_since FROM jobs WHERE id = ?", id) + 500_000);
});

t.test("who held which worker when stays on record after the job is gone", async (t) => {
  const { world, submit, cycle, work } = await sharedWorld();
  t.teardown(() => world[Symbol.dispose]());
  const id = await submit("one", "project-a");
  await cycle();
  await work(12);
  const of = () =>
    world.all(
      "SELECT project_id, user_id, model, worker_id, held_until - held_from AS ms FROM holdings",
    );
  t.match(of(), [{ project_id: "project-a", user_id: "user-a", model: "cpu" }]);
  const before = of();
  world.parts.db.prepare("DELETE FROM jobs WHERE id = ?").run(id);
  t.same(of(), before);
  t.equal(world.one("SELECT count(*) FROM leases"), 0);
});

t.test(
  "who can go on from a commit is asked for one, and its sites work on meanwhile",
  async (t) => {
    const {
      world,
      agent,
      victim,
      entitled,
      orders,
      state,
      settle,
      cycle,
      wait,
      server,
      keptUntil,
    } = await askedToCommit();
    t.teardown(() => world[Symbol.dispose]());
    t.equal(state(victim), "PREEMPTING");
    const [order, site] = await orders();
    t.same(order, {
      ...{ desired: "stop", stopReason: "preempted", stopAfter: "commit", graceMs: 120_000 },
    });
    t.match(site, { desired: "run" });
    await wait(100);
    t.match((await orders())[0], { stopAfter: "commit", graceMs: 20_000 });
    await cycle();
    t.same([state(victim), state(entitled)], ["PREEMPTING", "QUEUED"], "it is waited for");
    t.equal(world.all("SELECT 1 FROM preemptions").length, 1, "nobody else is asked");

    agent.commit(server());
    await agent.send();
    t.match((await orders()).at(-1), { desired: "stop", stopAfter: undefined });
    await settle();
    t.equal(state(victim), "QUEUED");
    t.equal(keptUntil(), world.nowMs + 120_000, "the workers are kept from when they are free");
    const spent = "SELECT retries_infrastructure + retries_lease_lost FROM jobs WHERE id = ?";
    t.equal(world.one(spent, victim), 0);
    t.ok(world.one<number>("SELECT ran_ms FROM jobs WHERE id = ?", victim) >= 100_000);
    await cycle();
    t.equal(state(entitled), "RESERVED");
  },
);

t.test(
  "who does not commit in time is told to stop, and fenced where that does not help",
  async (t) => {
    const { world, agent, victim, orders, state, wait } = await askedToCommit();
    t.teardown(() => world[Symbol.dispose]());
    await wait(125);
    t.equal(state(victim), "PREEMPTING");
    const stops = world.all("SELECT desired, stop_reason FROM members WHERE job_id = ?", victim);
    t.match(stops, [
      { desired: "stop", stop_reason: "preempted" },
      { desired: "stop", stop_reason: "preempted" },
    ]);
    // Its agent hears of nothing any more.
    await wait(65);
    t.equal(state(victim), "QUEUED");
    t.same(world.all("SELECT DISTINCT state FROM members WHERE job_id = ?", victim), [
      { state: "FENCED" },
    ]);
    t.equal((await orders()).length, 2);
    await agent.send();
    t.equal(world.one("SELECT count(*) FROM leases WHERE released_at IS NULL"), 0);
  },
);

t.test("a server that ends without a commit takes its sites along at once", async (t) => {
  const { world, agent, victim, orders, state, settle, server } = await askedToCommit();
  t.teardown(() => world[Symbol.dispose]());
  await orders();
  agent.say(server(), { kind: "failed", reason: "federation_failed", message: "lost" });
  await agent.send();
  t.equal(state(victim), "PREEMPTING");
  t.match(await orders(), [{ stopAfter: undefined }, { desired: "stop" }]);
  await settle();
  t.equal(state(victim), "QUEUED");
  t.match(
    world.all("SELECT retries_infrastructure AS spent, reason FROM jobs WHERE id = ?", victim),
    [{ spent: 0, reason: null }],
  );
});

t.test("a round that fails of the user's own fails the job, preempted or not", async (t) => {
  const { world, agent, victim, orders, state, server } = await askedToCommit();
  t.teardown(() => world[Symbol.dispose]());
  await orders();
  agent.say(server(), { kind: "failed", reason: "user_exception", message: "ValueError" });
  await agent.send();
  t.equal(state(victim), "STOPPING");
  await orders();
  await agent.send();
  t.equal(state(victim), "FAILED");
});

t.test("a job whose last round ends while it is to commit has succeeded", async (t) => {
  const { world, agent, victim, orders, state, server } = await askedToCommit();
  t.teardown(() => world[Symbol.dispose]());
  await orders();
  agent.say(server(), { kind: "finished" });
  await agent.send();
  t.equal(state(victim), "FINALIZING");
});

t.test("a cancel overtakes a commit", async (t) => {
  const { world, agent, victim, orders, state } = await askedToCommit();
  t.teardown(() => world[Symbol.dispose]());
  await orders();
  const gate = { op: crypto.randomUUID(), index: 1, leafHash: "0".repeat(64), unwitnessed: false };
  await world.parts.kernel.requestStop(victim, "user_cancelled", gate);
  t.equal(state(victim), "STOPPING");
  for (const { stopAfter, desired } of await orders())
    t.same({ stopAfter, desired }, { stopAfter: undefined, desired: "stop" });
  await agent.send();
  t.equal(state(victim), "CANCELLED");
});

t.test("its own time limit ends a job that commits", async (t) => {
  const { world, victim, state, wait } = await askedToCommit();
  t.teardown(() => world[Symbol.dispose]());
  world.parts.db
    .prepare(
      "UPDATE jobs SET time_limit_ms = 60000, expires_at = @at, deadline_at = @at WHERE id = @victim",
    )
    .run({ at: world.nowMs + 10_000, victim });
  await wait(15);
  t.equal(state(victim), "STOPPING");
  t.equal(world.one("SELECT reason FROM jobs WHERE id = ?", victim), "expired");
});

t.test(
  "whoever is killed meanwhile gives the same order, with the time that is left",
  async (t) => {
    const { world, victim, orders, state, wait, agent } = await askedToCommit();
    t.teardown(() => world[Symbol.dispose]());
    await orders();
    await wait(30);
    world.crash();
    await agent.register();
    const [order] = await orders();
    t.match(order, { stopAfter: "commit", graceMs: 90_000 });
    t.equal(state(victim), "PREEMPTING");
  },
);

t.test("an agent that does not know the order stops as ever", async (t) => {
  const { world, agent, submit, cycle, work, state, settle } = await sharedWorld(1);
  t.teardown(() => world[Symbol.dispose]());
  world.parts.db.exec("UPDATE shares SET guarantee = '{}' WHERE id = 'project-a'");
  agent.protocol = { min: 1, max: 6 };
  await agent.register();
  const victim = await submit("training", "project-a", { resumable: true });
  await cycle();
  await work(5);
  await submit("entitled", "project-b");
  await cycle();
  t.same(world.all("SELECT DISTINCT desired, stop_reason FROM members WHERE job_id = ?", victim), [
    { desired: "stop", stop_reason: "preempted" },
  ]);
  await agent.fetch();
  for (const { desired } of agent.held.values())
    t.same([desired.desired, desired.stopAfter, desired.graceMs], ["stop", undefined, 30_000]);
  await settle();
  t.equal(state(victim), "QUEUED");
});

t.test("so does one that was put back to an older release meanwhile", async (t) => {
  const { world, agent, orders } = await askedToCommit();
  t.teardown(() => world[Symbol.dispose]());
  agent.protocol = { min: 1, max: 6 };
  await agent.register();
  t.match((await orders())[0], { desired: "stop", stopAfter: undefined, graceMs: 30_000 });
});

t.test(
  "a preemptor that is cancelled while its victim commits leaves the workers to all",
  async (t) => {
    const { world, agent, victim, entitled, orders, state, settle, cycle, server } =
      await askedToCommit();
    t.teardown(() => world[Symbol.dispose]());
    await orders();
    const gate = {
      op: crypto.randomUUID(),
      index: 1,
      leafHash: "0".repeat(64),
      unwitnessed: false,
    };
    await world.parts.kernel.requestStop(entitled, "user_cancelled", gate);
    t.same([state(victim), state(entitled)], ["PREEMPTING", "CANCELLED"]);
    agent.commit(server());
    await agent.send();
    await settle();
    t.equal(state(victim), "QUEUED");
    await cycle();
    t.equal(state(victim), "RESERVED", "it has its place again");
  },
);

t.test(
  "a job that does not run yet waits again at once, though its nodes have to let go",
  async (t) => {
    const { world, agent, submit, cycle, state, settle } = await sharedWorld(1);
    t.teardown(() => world[Symbol.dispose]());
    world.parts.db.exec("UPDATE shares SET guarantee = '{}' WHERE id = 'project-a'");
    const victim = await submit("early", "project-a", { resumable: true });
    await cycle();
    await agent.fetch();
    agent.advance(0, null);
    await agent.send();
    t.equal(state(victim), "STAGING");
    const entitled = await submit("entitled", "project-b");
    await cycle();
    t.equal(state(victim), "QUEUED");
    t.equal(world.one("SELECT count(*) FROM leases WHERE released_at IS NULL"), 1);
    t.same(
      world.all(
        "SELECT from_state AS a, to_state AS b FROM job_events WHERE job_id = ? AND event IN ('preempt', 'vacate')",
        victim,
      ),
      [
        { a: "STAGING", b: "PREEMPTING" },
        { a: "PREEMPTING", b: "QUEUED" },
      ],
    );
    await cycle();
    t.equal(world.all("SELECT 1 FROM preemptions").length, 1);
    await settle();
    await cycle();
    t.equal(state(entitled), "RESERVED");
  },
);

t.test(
  "of two who make way the quicker one's worker is kept until the other's is free",
  async (t) => {
    const { world, agent, submit, cycle, work, state, settle, pass } = await sharedWorld(2);
    t.teardown(() => world[Symbol.dispose]());
    world.parts.db.exec(`
    UPDATE shares SET guarantee = '{}' WHERE id = 'project-a';
    UPDATE shares SET guarantee = '{"cpu":2}' WHERE id = 'project-b';
  `);
    const training = { resumable: true };
    const victims = [
      await submit("one", "project-a", training),
      await submit("two", "project-a", training),
    ];
    await cycle();
    await work(5);
    agent.commits = false;
    const task = world.task("both", { projectId: "project-b" }, 2);
    const { id: entitled } = await world.parts.kernel.submit(task);
    await cycle();
    t.same(victims.map(state), ["PREEMPTING", "PREEMPTING"]);
    await agent.fetch();
    const [quick, slow] = world
      .all<{ id: string }>("SELECT id FROM members WHERE is_lead = 1 ORDER BY id")
      .map(({ id }) => id);
    agent.commit(quick!);
    await agent.send();
    await settle();
    t.same(victims.map(state).toSorted(), ["PREEMPTING", "QUEUED"]);
    // Longer than what is free by itself is kept.
    pass(130_000);
    await agent.beat();
    await cycle();
    t.same(victims.map(state).toSorted(), ["PREEMPTING", "QUEUED"], "it takes nothing back");
    agent.commit(slow!);
    await agent.send();
    await settle();
    await cycle();
    t.equal(state(entitled), "RESERVED");
    t.same(victims.map(state), ["QUEUED", "QUEUED"]);
  },
);

t.test(
  "the workers of one who makes way are kept from when the last of them is free",
  async (t) => {
    const { world, agent, cycle, work, state, settle, pass } = await sharedWorld(2);
    t.teardown(() => world[Symbol.dispose]());
    world.parts.db.exec(`
    UPDATE shares SET guarantee = '{}' WHERE id = 'project-a';
    UPDATE shares SET guarantee = '{"cpu":2}' WHERE id = 'project-b';
  `);
    const submit = async (slug: string, change: Parameters<KernelWorld["task"]>[1]) =>
      (await world.parts.kernel.submit(world.task(slug, change, 2))).id;
    const victim = await submit("gang", { minClients: 1, resumable: true });
    await cycle();
    await work(5);
    agent.commits = false;
    const entitled = await submit("both", { projectId: "project-b" });
    await cycle();
    await agent.fetch();
    const [server, site] = world
      .all<{ id: string }>(
        "SELECT id FROM members WHERE job_id = ? ORDER BY is_lead DESC, id",
        victim,
      )
      .map(({ id }) => id);
    const clean = { processesGone: true, diskGone: true, devicesAtBaseline: true };
    agent.say(site!, { kind: "released", ...clean });
    await agent.send();
    t.equal(world.one("SELECT count(*) FROM leases WHERE released_at IS NULL"), 1);
    t.equal(state(victim), "PREEMPTING", "the other is enough for the round");
    pass(60_000);
    await agent.beat();
    agent.commit(server!);
    await agent.send();
    await settle();
    t.equal(state(victim), "QUEUED");
    t.equal(world.one("SELECT kept_until FROM preemptions"), world.nowMs + 120_000);
    await cycle();
    t.equal(state(entitled), "RESERVED");
  },
);
