/** Jobs that are to start after others: held until these have ended, and ended with the one that failed. */
import t, { type Test } from "tap";
import type { AfterJob } from "../../src/kernel/accepted-task.ts";
import { AwaitedJobMissing, DependencyFailed } from "../../src/kernel/errors.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

type Before = { job: string; when?: AfterJob["when"] };

async function orderedWorld(t: Test, workers = 1) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const agent = new SimAgent(world, "node-a", workers);
  world.admit("node-a");
  await agent.register();
  const submit = async (slug: string, before: Before[] = [], change = {}) => {
    const after = before.map(({ job, when = "succeeded" }) => ({ job, when }));
    const task = world.task(slug, { minClients: 1, after, ...change }, 1);
    return (await world.parts.kernel.submit(task)).id;
  };
  const job = (id: string) => world.parts.kernel.job(id)!;
  const state = (id: string) => job(id).state;
  const cycle = () => world.parts.scheduler.cycle();
  const cancel = async (id: string) => {
    const audit = { op: crypto.randomUUID(), index: 1, leafHash: "0", unwitnessed: false };
    await world.parts.kernel.requestStop(id, "user_cancelled", audit);
  };
  /** As a run that ends well, without its minutes. */
  const succeed = async (id: string) => {
    await world.parts.commit.run((db) => {
      db.prepare("UPDATE jobs SET state = 'FINALIZING' WHERE id = ?").run(id);
      world.parts.transitions.moveJob(id, "store");
    });
  };
  return { world, agent, submit, job, state, cycle, cancel, succeed };
}

t.test(
  "a job waits for another one to succeed, is no candidate meanwhile, and says so",
  async (t) => {
    const { world, submit, job, cycle, succeed } = await orderedWorld(t, 4);
    const first = await submit("first");
    const second = await submit("second", [{ job: first }]);
    await cycle();
    t.match(job(second), {
      state: "HELD",
      reason: null,
      waitingFor: `waits for ${first} (first) to succeed`,
    });
    t.match(
      await world.parts.queue.of("all"),
      [{ id: second, isHeld: true, start: null, waitingFor: /^waits for job-/ }],
      "though there is room for both",
    );
    await succeed(first);
    t.match(job(second), { state: "QUEUED", waitingFor: null });
    await cycle();
    t.equal(job(second).state, "RESERVED");
  },
);

t.test("its place in line counts from the moment that nothing holds it any more", async (t) => {
  const { world, submit, cycle, state, succeed } = await orderedWorld(t);
  const first = await submit("first");
  await cycle();
  const held = await submit("held", [{ job: first }]);
  const next = await submit("next");
  await succeed(first);
  const last = await submit("last");
  t.same(
    world.parts.snapshots.read().gangs.map(({ job: id }) => id),
    [next, held, last],
  );
  t.same(
    (await world.parts.queue.of("all")).toSorted((a, b) => a.line - b.line).map(({ id }) => id),
    [next, held, last],
  );
  world.parts.db.exec("UPDATE leases SET released_at = 1");
  await cycle();
  t.same([state(next), state(held)], ["RESERVED", "QUEUED"]);
});

t.test("of several it waits for all, and names those that are left", async (t) => {
  const { submit, job, succeed, cancel } = await orderedWorld(t);
  const [one, two] = [await submit("one"), await submit("two")];
  const both = await submit("both", [{ job: one }, { job: two, when: "ended" }]);
  t.equal(job(both).waitingFor, `waits for ${one} (one) to succeed and ${two} (two) to end`);
  await succeed(one);
  t.match(job(both), { state: "HELD", waitingFor: `waits for ${two} (two) to end` });
  await cancel(two);
  t.equal(job(both).state, "QUEUED", "any end will do");
});

t.test(
  "what fails ends all that was to follow it, each with the job that it waited for",
  async (t) => {
    const { world, submit, job, state, cancel } = await orderedWorld(t);
    const first = await submit("first");
    const second = await submit("second", [{ job: first }]);
    const third = await submit("third", [{ job: second }]);
    const anyhow = await submit("anyhow", [{ job: second, when: "ended" }]);
    await cancel(first);
    t.match(job(second), {
      state: "CANCELLED",
      reason: "dependency_failed",
      waitingFor: null,
      error: {
        code: "dependency_failed",
        message: `This job was to start after ${first} (first) had succeeded, and that one was cancelled.`,
      },
    });
    t.match(job(third).error, {
      message: `This job was to start after ${second} (second) had succeeded, and that one was cancelled.`,
    });
    t.equal(state(anyhow), "QUEUED");
    const records = world
      .all<{ event: string }>("SELECT event FROM audit_outbox")
      .map(({ event }) => JSON.parse(event))
      .filter(({ type }) => type === "job.cancelled")
      .map(({ object, detail }) => [object.id, detail.reason, detail.because]);
    t.same(records, [
      [first, "user_cancelled", undefined],
      [second, "dependency_failed", first],
      [third, "dependency_failed", second],
    ]);
  },
);

/** A chain of jobs of which each starts after the one before it. @returns the first */
async function chained(
  { submit }: Pick<Awaited<ReturnType<typeof orderedWorld>>, "submit">,
  length: number,
): Promise<string> {
  const first = await submit("job-0");
  let last = first;
  for (let at = 1; at < length; at += 1) last = await submit(`job-${at}`, [{ job: last }]);
  return first;
}

t.test("a chain of two thousand jobs ends, and others are answered meanwhile", async (t) => {
  const ordered = await orderedWorld(t);
  const { world, submit, cancel } = ordered;
  const first = await chained(ordered, 2_000);
  const ended = () => world.one<number>("SELECT count(*) FROM jobs WHERE state = 'CANCELLED'");
  const atCommits: number[] = [];
  world.parts.commit.listeners.add(() => atCommits.push(ended()));
  await cancel(first);
  await submit("between");
  t.ok(ended() < 2_000, "the chain has not come to its end");
  await world.parts.endFollower.idle();
  t.equal(ended(), 2_000);
  const inOne = atCommits.map((count, at) => count - (atCommits[at - 1] ?? 0));
  t.ok(Math.max(...inOne) <= 33, "no transaction ends more");
  t.same(world.all("SELECT count(*) AS heard FROM job_order WHERE ended_as = 'CANCELLED'"), [
    { heard: 1_999 },
  ]);
  t.same(world.errors, []);
});

t.test("a kill in the midst of a chain leaves nobody waiting for what has ended", async (t) => {
  const ordered = await orderedWorld(t);
  const { world, cancel } = ordered;
  const first = await chained(ordered, 200);
  const waiting = () => world.one("SELECT count(*) FROM jobs WHERE state = 'HELD'");
  await cancel(first);
  world.crash();
  t.not(waiting(), 0);
  await world.parts.sweeper.reconcileAll();
  await world.parts.endFollower.idle();
  t.equal(waiting(), 0);
});

t.test("a chain goes on where a write failed", async (t) => {
  const ordered = await orderedWorld(t);
  const { world, cancel } = ordered;
  const { db, endFollower } = world.parts;
  const first = await chained(ordered, 100);
  const waiting = () => world.one("SELECT count(*) FROM jobs WHERE state = 'HELD'");
  await cancel(first);
  db.exec(
    "CREATE TEMP TRIGGER refuses BEFORE UPDATE ON job_order BEGIN SELECT RAISE(ABORT, 'not now'); END",
  );
  await endFollower.idle();
  t.match(world.errors, [{ message: "not now" }]);
  t.not(waiting(), 0);
  db.exec("DROP TRIGGER refuses");
  endFollower.resume();
  await endFollower.idle();
  t.equal(waiting(), 0);
});

t.test("all that follow one job hear of its end, however many they are", async (t) => {
  const { world, submit, succeed } = await orderedWorld(t);
  const first = await submit("first");
  for (let at = 1; at <= 100; at += 1) await submit(`follower-${at}`, [{ job: first }]);
  await succeed(first);
  await world.parts.endFollower.idle();
  t.same(
    world.all("SELECT state, count(*) AS jobs FROM jobs WHERE id != ? GROUP BY state", first),
    [{ state: "QUEUED", jobs: 100 }],
  );
});

t.test(
  "a job that is stopped while it waits follows nobody, and ends those behind it",
  async (t) => {
    const { submit, state, succeed, cancel } = await orderedWorld(t);
    const first = await submit("first");
    const second = await submit("second", [{ job: first }]);
    const third = await submit("third", [{ job: second }]);
    await cancel(second);
    t.same([first, second, third].map(state), ["QUEUED", "CANCELLED", "CANCELLED"]);
    await succeed(first);
    t.equal(state(second), "CANCELLED");
  },
);

t.test("a job that a person must look at stays held when the others have ended", async (t) => {
  const { world, submit, job, succeed } = await orderedWorld(t);
  const first = await submit("first");
  const second = await submit("second", [{ job: first }]);
  world.parts.db.prepare("UPDATE jobs SET reason = 'binds_failed' WHERE id = ?").run(second);
  await succeed(first);
  t.match(job(second), { state: "HELD", reason: "binds_failed" });
});

t.test("only jobs of the project that have not failed can be waited for", async (t) => {
  const { world, submit, state, cancel, succeed } = await orderedWorld(t);
  world.parts.db.exec(
    "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'q', 0, 1)",
  );
  const foreign = await submit("foreign", [], { projectId: "project-b" });
  await t.rejects(submit("x", [{ job: foreign }]), new AwaitedJobMissing());
  await t.rejects(submit("x", [{ job: "job-unknown" }]), new AwaitedJobMissing());
  const failed = await submit("failed");
  await cancel(failed);
  await t.rejects(submit("x", [{ job: failed }]), DependencyFailed);
  t.equal(world.one("SELECT count(*) FROM jobs WHERE name = 'x'"), 0);
  t.equal(state(await submit("x", [{ job: failed, when: "ended" }])), "QUEUED");
  const done = await submit("done");
  await succeed(done);
  t.equal(state(await submit("y", [{ job: done }])), "QUEUED", "nothing is left to wait for");
});

t.test(
  "what ended while a release ran that knows no order is followed up at the start",
  async (t) => {
    const { world, submit, job } = await orderedWorld(t);
    const [good, bad, gone] = [await submit("good"), await submit("bad"), await submit("gone")];
    const afterGood = await submit("after-good", [{ job: good }]);
    const afterBad = await submit("after-bad", [{ job: bad }]);
    const afterGone = await submit("after-gone", [{ job: gone }]);
    const end = world.parts.db.prepare("UPDATE jobs SET state = ?, ended_at = 1 WHERE id = ?");
    end.run("SUCCEEDED", good);
    end.run("FAILED", bad);
    world.parts.db.prepare("DELETE FROM jobs WHERE id = ?").run(gone);
    world.crash();
    await world.parts.sweeper.reconcileAll();
    t.equal(world.parts.kernel.job(afterGood)!.state, "QUEUED");
    t.match(world.parts.kernel.job(afterBad), {
      state: "CANCELLED",
      error: { message: /failed\.$/ },
    });
    t.match(job(afterGone), { state: "CANCELLED", error: { message: /is no longer there\.$/ } });
  },
);

t.test("a rolled back end releases nobody", async (t) => {
  const { world, submit, state, succeed } = await orderedWorld(t);
  const first = await submit("first");
  const second = await submit("second", [{ job: first }]);
  await t.rejects(
    world.parts.commit.run(() => {
      world.parts.transitions.moveJob(first, "stop", { reason: "user_cancelled" });
      throw new Error("the disk is full");
    }),
    { message: "the disk is full" },
  );
  t.same([first, second].map(state), ["QUEUED", "HELD"]);
  await succeed(first);
  t.equal(state(second), "QUEUED");
});
