/** Classes that jobs ask for, and limits of each person, on the real kernel. */
import t, { type Test } from "tap";
import { StoredTasks } from "../../src/kernel/stored-tasks.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

async function sharedWorld(t: Test, workers: number) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  world.parts.db.exec(`
    INSERT INTO users (id, username, is_admin, created_at, kind) VALUES ('user-b', 'b', 0, 1, 'person'), ('program', 'program', 0, 1, 'service-account');
    INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'q', 0, 1);
    INSERT INTO service_accounts (id, project_id, name, client_id, scopes, thumbprint, created_by, created_at, expires_at, answerable_id)
      VALUES ('program', 'project-a', 'program', 'c', '[]', 'x', 'user-b', 1, 9, 'user-a');
  `);
  const agent = new SimAgent(world, "node-a", workers);
  world.admit("node-a");
  await agent.register();
  const submit = async (slug: string, change = {}) =>
    (await world.parts.kernel.submit(world.task(slug, { minClients: 1, ...change }, 1))).id;
  const cycle = () => world.parts.scheduler.cycle();
  const state = (id: string) => world.one<string>("SELECT state FROM jobs WHERE id = ?", id);
  const why = (id: string) => world.one<string>("SELECT waiting_for FROM jobs WHERE id = ?", id);
  const set = (id: string, change: Parameters<typeof world.parts.shares.set>[1]) =>
    world.parts.commit.run(() => void world.parts.shares.set(id, change));
  return { world, submit, cycle, state, why, set };
}

t.test("a job keeps the class that it asked for, and one like it has it too", async (t) => {
  const { world, submit, cycle, state } = await sharedWorld(t, 1);
  const last = await submit("last", { jobClass: "scavenger" });
  const plain = await submit("plain");
  const asks = { jobClass: "interactive", isPreemptible: false } as const;
  const first = await submit("first", asks);
  await cycle();
  t.same([state(last), state(plain), state(first)], ["QUEUED", "RESERVED", "QUEUED"]);
  world.crash();
  const { kernel, queue } = world.parts;
  t.match(kernel.job(last), { jobClass: "scavenger", isPreemptible: true });
  t.match(kernel.job(plain), { jobClass: "train", isPreemptible: true });
  t.match(kernel.job(first), { jobClass: "interactive", isPreemptible: false });
  t.match(new StoredTasks(world.read).of(first), asks);
  t.match(new StoredTasks(world.read).of(plain), { jobClass: null, isPreemptible: null });
  t.match(
    new Map((await queue.of("all")).map(({ id, jobClass }) => [id, jobClass])),
    new Map([
      [last, "scavenger"],
      [first, "interactive"],
    ]),
  );
  world.parts.db.exec("UPDATE jobs SET job_class = 'of-tomorrow' WHERE slug = 'last'");
  t.match(kernel.job(last), { jobClass: "train" }, "one of a newer release has that of its kind");
});

t.test("a higher class of a project takes a lower one's worker, once shares are set", async (t) => {
  const { submit, cycle, state, set, world } = await sharedWorld(t, 1);
  await set("project-a", { weight: 2 });
  const low = await submit("low", { jobClass: "scavenger" });
  await cycle();
  const high = await submit("high", { jobClass: "interactive" });
  await cycle();
  t.same([state(low), state(high)], ["QUEUED", "QUEUED"], "it had not begun, and waits again");
  t.match(world.all("SELECT reason, victim_job FROM preemptions"), [
    { reason: "class", victim_job: low },
  ]);
});

t.test(
  "what makes way for nobody is refused where nothing is guaranteed, and else waits",
  async (t) => {
    const { submit, cycle, state, why, set, world } = await sharedWorld(t, 2);
    const stays = { isPreemptible: false };
    await set("project-b", { guarantee: { cpu: 1 } });
    await t.rejects(submit("beyond", stays), { code: "guarantee_too_small" });
    t.equal(world.one("SELECT count(*) FROM jobs"), 0, "nothing of it is left");
    const of = { ...stays, projectId: "project-b" };
    const [first, second] = [await submit("one", of), await submit("two", of)];
    await cycle();
    t.same([state(first), state(second)], ["RESERVED", "QUEUED"]);
    t.equal(why(second), "makes way for nobody, so it waits for what its project is guaranteed");
    await set("project-a", { guarantee: { cpu: 2 } });
    const entitled = await submit("entitled");
    const other = await submit("other");
    await cycle();
    t.same([state(first), state(entitled), state(other)], ["RESERVED", "RESERVED", "QUEUED"]);
  },
);

t.test("over the workers of a person a job waits, and says so", async (t) => {
  const { submit, cycle, state, why, set } = await sharedWorld(t, 3);
  await set("project-a", { personRunning: 1 });
  const mine = await submit("mine");
  const program = await submit("program", { userId: "program" });
  const others = await submit("others", { userId: "user-b" });
  await cycle();
  t.same([state(mine), state(program), state(others)], ["RESERVED", "QUEUED", "RESERVED"]);
  t.equal(why(program), "its person may have at most 1 worker in the project");
  await set("project-a", { personRunning: null });
  await cycle();
  t.equal(state(program), "RESERVED");
});

t.test("so many jobs of a person wait, and no more: also of two at once", async (t) => {
  const { submit, world, set } = await sharedWorld(t, 0);
  const [{ id: organisation } = { id: "" }] = world.all<{ id: string }>(
    "SELECT id FROM organisations",
  );
  await set(organisation, { personQueued: 3 });
  await submit("one");
  await submit("two", { projectId: "project-b" });
  const last = await Promise.allSettled([
    submit("three"),
    submit("four", { userId: "program", projectId: "project-b" }),
  ]);
  t.same(last.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  t.match(
    last.find(({ status }) => status === "rejected"),
    {
      reason: { code: "person_queue_full", message: /^3 jobs of this person wait already in / },
    },
  );
  t.equal(world.one("SELECT count(*) FROM jobs"), 3, "nothing of it is left");
  t.equal(world.one("SELECT count(*) FROM job_events WHERE event = 'accept'"), 3);
  await submit("of another person", { userId: "user-b" });
  t.throws(
    () => world.parts.kernel.requireQueueRoom({ userId: "user-a", projectId: "project-b" }),
    {
      code: "person_queue_full",
    },
  );
  const idempotency = { key: "k", bodySha256: "b" };
  await set(organisation, { personQueued: 4 });
  const made = await submit("four", { idempotency });
  t.equal(await submit("four", { idempotency }), made, "the same request is no further job");
  await set(organisation, { personQueued: null });
  t.equal(world.parts.shares.isSet, false, "a share that says nothing is none");
});

t.test("a job that alone is more than a person may have is refused", async (t) => {
  const { world, set } = await sharedWorld(t, 3);
  await set("project-a", { personRunning: 1 });
  await t.rejects(world.parts.kernel.submit(world.task("wide", {}, 2)), {
    code: "person_limit_exceeded",
    message: "the job needs 2 workers; in p one person may have at most 1 worker",
  });
  t.equal(world.one("SELECT count(*) FROM jobs"), 0);
});
