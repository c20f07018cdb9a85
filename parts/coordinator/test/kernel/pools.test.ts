/** Pools and calendar in the kernel: who starts where, who is told, and who makes way, over a restart. */
import t, { type Test } from "tap";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function pooledWorld(t: Test) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  world.parts.db.exec(
    "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'secret', 0, 1)",
  );
  const agents = new Map<string, SimAgent>();
  for (const node of ["node-a", "node-b"]) {
    const agent = new SimAgent(world, node, 1);
    world.admit(node);
    await agent.register();
    agents.set(node, agent);
  }
  const submit = async (slug: string, projectId: string, change = {}) => {
    const task = world.task(slug, { projectId, minClients: 1, ...change }, 1);
    return (await world.parts.kernel.submit(task)).id;
  };
  const pass = (ms: number) => {
    world.nowMs += ms;
    world.parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
  };
  const cycle = () => world.parts.scheduler.cycle();
  const state = (id: string) => world.one<string>("SELECT state FROM jobs WHERE id = ?", id);
  const why = (id: string) => world.one<string>("SELECT waiting_for FROM jobs WHERE id = ?", id);
  const homeOf = (id: string) =>
    world.one<string>("SELECT node_id FROM members WHERE job_id = ? AND is_lead = 1", id);
  const told = (id: string) =>
    world.all<{ text: string; times: number }>(
      "SELECT text, times FROM job_warnings WHERE job_id = ? AND topic = 'calendar'",
      id,
    );
  const look = () => world.parts.calendarWatch.look();
  /** The agent does what it is told, and each of its members its next things. */
  const work = async (node: string, steps: number) => {
    const agent = agents.get(node)!;
    for (let step = 0; step < steps; step += 1) {
      await agent.fetch();
      for (let member = 0; member < agent.held.size; member += 1) agent.advance(member, null);
      await agent.send();
      pass(1_000);
    }
  };
  const own = (lends: boolean) =>
    world.parts.commit.run(() => {
      const rules = { lends, mostRunMs: null, classes: null };
      const { pools } = world.parts;
      pools.write({ id: "pool-b", name: "b", kind: "managed", project: "project-b", ...rules });
      pools.move("pool-b", { added: ["node-a"], removed: [] });
    });
  const closed = (from: number, project: string | null = null, id = "cal-a") =>
    world.parts.commit.run(() =>
      world.parts.calendar.write(
        {
          ...{ id, project, pool: null, nodes: ["node-a"], from, until: from + HOUR },
          ...{ reason: null, madeBy: null },
        },
        world.nowMs,
      ),
    );
  return { world, agents, submit, pass, cycle, state, why, homeOf, told, look, work, own, closed };
}

t.test("strangers stay out of a managed pool, and its project starts there first", async (t) => {
  const { submit, cycle, state, why, homeOf, own } = await pooledWorld(t);
  await own(false);
  const [first, second] = [await submit("one", "project-a"), await submit("two", "project-a")];
  const theirs = await submit("three", "project-b");
  await cycle();
  t.same([state(first), state(second), state(theirs)], ["RESERVED", "QUEUED", "RESERVED"]);
  t.same([homeOf(first), homeOf(theirs)], ["node-b", "node-a"]);
  t.match(why(second), /1 busy, 1 in a pool of another project$/);
  t.notMatch(why(second), /secret|project-b/);
});

t.test("what is lent comes back at once, and a restart in between changes nothing", async (t) => {
  const { world, submit, cycle, state, why, work, own } = await pooledWorld(t);
  await own(true);
  const [first, second] = [await submit("one", "project-a"), await submit("two", "project-a")];
  await cycle();
  t.same([state(first), state(second)], ["RESERVED", "RESERVED"], "idle nodes are lent");
  await work("node-a", 5);
  const guest = world.one<string>("SELECT job_id FROM members WHERE node_id = 'node-a'");
  t.equal(state(guest), "RUNNING");
  world.crash();
  const owner = await submit("three", "project-b");
  await cycle();
  t.match(world.all("SELECT reason, victim_job FROM preemptions"), [
    { reason: "guarantee", victim_job: guest },
  ]);
  t.equal(state(guest), "PREEMPTING");
  t.match(why(owner), /taken back for it/);
  await cycle();
  t.equal(world.all("SELECT 1 FROM preemptions").length, 1, "nobody is asked twice");
});

t.test(
  "nothing starts that would run into maintenance, and what runs is told once, and at its start",
  async (t) => {
    const { world, submit, pass, cycle, state, why, told, look, work, closed } =
      await pooledWorld(t);
    const endless = await submit("endless", "project-a", { timeLimitMs: null });
    const brief = await submit("brief", "project-a", { timeLimitMs: 30 * MINUTE });
    await cycle();
    await work("node-a", 5);
    await work("node-b", 5);
    const onA = world.one<string>("SELECT job_id FROM members WHERE node_id = 'node-a'");
    t.equal(onA, endless);
    await closed(world.nowMs + 2 * HOUR);
    await look();
    t.match(told(endless), [
      { text: /^node-a goes into maintenance from .* UTC until .* UTC: /, times: 1 },
    ]);
    t.same(told(brief), []);
    await look();
    world.crash();
    await look();
    t.match(told(endless), [{ times: 1 }], "once");
    t.match(world.all("SELECT job_id FROM calendar_news"), [{ job_id: endless }], "and by mail");
    const long = await submit("long", "project-a", { timeLimitMs: 3 * HOUR });
    await world.parts.commit.run((db) => db.exec("UPDATE leases SET released_at = 1"));
    await cycle();
    t.equal(world.one("SELECT node_id FROM members WHERE job_id = ?", long), "node-b");
    const second = await submit("second", "project-a", { timeLimitMs: 3 * HOUR });
    await cycle();
    t.match(why(second), /1 needed for maintenance from /);
    pass(2 * HOUR);
    world.parts.tables.placementSignal.take();
    await look();
    t.ok(
      world.parts.tables.placementSignal.isRaised,
      "placement looks again where something begins",
    );
    t.match(told(endless), [{ text: /^node-a is in maintenance until /, times: 2 }]);
    await cycle();
    t.match(why(second), /1 in maintenance until /);
    await world.parts.commit.run(() => world.parts.calendar.remove("cal-a"));
    await look();
    t.same(told(endless), [], "it was called off");
    await cycle();
    t.equal(state(second), "RESERVED");
  },
);

t.test(
  "placement looks again at once where maintenance ends by itself, and no more after that",
  async (t) => {
    const { world, submit, pass, cycle, state, look, closed } = await pooledWorld(t);
    const { placementSignal } = world.parts.tables;
    await closed(world.nowMs);
    const [first, second] = [await submit("one", "project-a"), await submit("two", "project-a")];
    await look();
    await cycle();
    t.same([state(first), state(second)], ["RESERVED", "QUEUED"]);
    placementSignal.take();
    pass(HOUR);
    await look();
    t.ok(placementSignal.isRaised, "its end is a turn too");
    await cycle();
    t.equal(state(second), "RESERVED");
    placementSignal.take();
    pass(MINUTE);
    await look();
    t.notOk(placementSignal.isRaised);
  },
);

t.test("what is announced while a plan is made holds for that plan", async (t) => {
  const { world, submit, cycle, state, homeOf, closed } = await pooledWorld(t);
  await submit("one", "project-a");
  const second = await submit("two", "project-a");
  const { snapshots, calendar, db } = world.parts;
  const read = snapshots.read.bind(snapshots);
  snapshots.read = () => {
    snapshots.read = read;
    const before = read();
    const entry = { id: "cal-now", project: null, pool: null, nodes: ["node-a"] };
    const times = { from: world.nowMs, until: world.nowMs + HOUR, reason: null, madeBy: null };
    db.transaction(() => calendar.write({ ...entry, ...times }, world.nowMs))();
    return before;
  };
  world.parts.tables.placementSignal.take();
  await cycle();
  t.equal(state(second), "QUEUED", "the plan knew nothing of it");
  t.ok(world.parts.tables.placementSignal.isRaised);
  world.parts.tables.placementSignal.take();
  await cycle();
  const started = world.all<{ id: string }>("SELECT id FROM jobs WHERE state = 'RESERVED'");
  t.same(
    started.map(({ id }) => homeOf(id)),
    ["node-b"],
  );
  await closed(world.nowMs + 4 * HOUR, null, "cal-later");
});

t.test("within its time a reservation takes back what others hold there", async (t) => {
  const { world, submit, pass, cycle, state, told, look, work, closed } = await pooledWorld(t);
  const [first, second] = [await submit("one", "project-a"), await submit("two", "project-a")];
  await cycle();
  await work("node-a", 5);
  await work("node-b", 5);
  const onA = world.one<string>("SELECT job_id FROM members WHERE node_id = 'node-a'");
  await closed(world.nowMs + HOUR, "project-b");
  await look();
  t.match(told(onA), [{ text: /reserved for another project from .* may have to make way/ }]);
  t.notMatch(told(onA)[0]!.text, /secret|project-b/);
  t.same(told(onA === first ? second : first), []);
  const owner = await submit("three", "project-b");
  await cycle();
  t.equal(state(onA), "RUNNING", "not before");
  pass(HOUR);
  await cycle();
  t.equal(state(onA), "PREEMPTING");
  t.match(world.all("SELECT job_id FROM preemptions"), [{ job_id: owner }]);
});

t.test("a job names a pool of its own, or of everybody's, and no other", async (t) => {
  const { world, submit, cycle, homeOf, own } = await pooledWorld(t);
  await own(true);
  await world.parts.commit.run(() => {
    const rules = { lends: false, mostRunMs: HOUR, classes: null };
    world.parts.pools.write({ id: "pool-s", name: "s", kind: "shared", project: null, ...rules });
    world.parts.pools.move("pool-s", { added: ["node-b"], removed: [] });
  });
  await t.rejects(submit("one", "project-a", { pool: "b" }), { code: "pool_unknown" });
  await t.rejects(submit("two", "project-a", { pool: "nowhere" }), { code: "pool_unknown" });
  const theirs = await submit("three", "project-b", { pool: "b" });
  const brief = await submit("four", "project-a", { pool: "pool-s", timeLimitMs: HOUR });
  await cycle();
  t.same([homeOf(theirs), homeOf(brief)], ["node-a", "node-b"]);
  const never = await submit("five", "project-a", { pool: "s" });
  t.match(
    world.one<string>("SELECT text FROM job_warnings WHERE job_id = ?", never),
    /can never start: .* 1 in a pool for jobs with a time limit/,
  );
  const soon = world.one<string>("SELECT text FROM job_warnings WHERE job_id = ?", brief);
  t.equal(soon, undefined);
  t.equal(world.parts.pools.named("pool-s"), 2);
});

t.test(
  "over what a pool allows one project jobs wait, over a restart too, and one that alone is more is refused",
  async (t) => {
    const { world, submit, cycle, state, why } = await pooledWorld(t);
    const allow = (projectWorkers: number | null) =>
      world.parts.commit.run(() => {
        const rules = { lends: false, mostRunMs: null, classes: null, projectWorkers };
        const { pools } = world.parts;
        pools.write({ id: "pool-s", name: "s", kind: "shared", project: null, ...rules });
        return pools;
      });
    const pools = await allow(1);
    await world.parts.commit.run(() =>
      pools.move("pool-s", { added: ["node-a", "node-b"], removed: [] }),
    );
    const [first, second] = [await submit("one", "project-a"), await submit("two", "project-a")];
    const theirs = await submit("three", "project-b", { pool: "s" });
    await cycle();
    t.same([state(first), state(second), state(theirs)], ["RESERVED", "QUEUED", "RESERVED"]);
    t.match(why(second), /2 in a pool where a project has at most 1 worker$/);
    world.crash();
    await cycle();
    t.equal(state(second), "QUEUED", "what is held is read anew");
    const task = world.task("four", { projectId: "project-a", minClients: 1, pool: "s" }, 2);
    await t.rejects(world.parts.kernel.submit(task), {
      code: "pool_limit_exceeded",
      message: "the job needs 2 workers; in the pool s a project has at most 1 worker",
    });
    t.equal(world.one("SELECT count(*) FROM jobs WHERE slug = 'four'"), 0, "nothing of it stays");
    await allow(null);
    await world.parts.commit.run((db) => db.exec("UPDATE leases SET released_at = 1"));
    await cycle();
    t.equal(state(second), "RESERVED");
  },
);
