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
  return { world, submit, cycle, state, work, settle, pass };
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
