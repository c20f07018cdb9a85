/** What waits, in the order in which it is expected to start, for whoever may read it. */
import t from "tap";
import type { RowFilter } from "../../src/db/row-filter.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

const MINUTE = 60_000;

t.test("a job that waits is told when who holds its workers must have ended", async (t) => {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const { db, kernel, queue, scheduler } = world.parts;
  db.exec(
    "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'q', 0, 1)",
  );
  const agent = new SimAgent(world, "node-a", 1);
  world.admit("node-a");
  await agent.register();
  const submit = async (slug: string, minutes: number | null, change = {}, shards = 1) => {
    const timeLimitMs = minutes === null ? null : minutes * MINUTE;
    const task = world.task(slug, { minClients: 1, timeLimitMs, ...change }, shards);
    return (await kernel.submit(task)).id;
  };
  const runs = await submit("runs", 30);
  await scheduler.cycle();
  const begins = world.nowMs;
  const wide = await submit("wide", 5, { minClients: 2 }, 2);
  const next = await submit("next", 10);
  const other = await submit("other", null, { projectId: "project-b" });
  await scheduler.cycle();

  const told = async (reach: RowFilter = "all", project?: string) =>
    (await queue.of(reach, project)).map(({ id, start }) => [
      id,
      start === null || start.at === null ? start?.why : (start.at - begins) / MINUTE,
    ]);
  t.same(await told(), [
    [next, 30],
    [other, 40],
    [wide, "never-fits"],
  ]);
  t.notOk(
    (await told()).some(([id]) => id === runs),
    "what holds its workers waits no more",
  );
  t.same(await told("all", "project-b"), [[other, 40]], "others are counted, and not told");
  t.same(await told([]), []);
  t.match((await queue.of("all"))[0], {
    ...{ name: "next", projectId: "project-a", isHeld: false },
    waitingFor: /^needs 1 worker; 0 of 1 would do now/,
  });
  world.nowMs += 2_000;
  const late = await submit("late", 5);
  t.same(
    (await told()).find(([id]) => id === late),
    [late, "no-end-stated"],
    "what has come since is told as well",
  );
});

t.test("one job that waits is told all of it; one that is placed, why there", async (t) => {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const { db, kernel, queue, scheduler } = world.parts;
  db.exec(
    "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'q', 0, 1)",
  );
  const agent = new SimAgent(world, "node-a", 1);
  world.admit("node-a");
  await agent.register();
  const submit = async (slug: string, projectId: string) => {
    const task = world.task(slug, { minClients: 1, timeLimitMs: 30 * MINUTE, projectId }, 1);
    return (await kernel.submit(task)).id;
  };
  const runs = await submit("runs", "project-a");
  await scheduler.cycle();
  const since = world.nowMs;
  await submit("first", "project-b");
  const waits = await submit("waits", "project-a");
  t.match(await queue.waits(waits), {
    ...{ needs: 1, workers: 1, serving: 1, fitNow: 0, guarantee: "unset", limit: null },
    excluded: [{ why: "busy", workers: 1 }],
    ahead: [{ project: "project-b", jobs: 1 }],
    holders: [
      {
        ...{ project: "project-a", jobClass: "train", workers: { cpu: 1 }, since },
        endsAt: since + 30 * MINUTE,
      },
    ],
    start: { at: since + 60 * MINUTE },
    scores: [{ node: "node-a", model: "cpu", factors: [{ factor: "uptime" }] }],
  });
  const { score } = (await queue.waits(waits))!.scores[0]!;
  t.ok(score > 0 && score <= 1, "of the place that it waits for");
  t.match(await queue.holders(), [{ project: "project-a", workers: { cpu: 1 } }]);
  t.equal(await queue.waits(runs), null);
  t.match(queue.placed(runs), { since, workers: [{ node: "node-a", model: "cpu" }] });
  t.equal(queue.placed(waits), null);
});

t.test("a job that can't start as the fleet is is told so, until it does", async (t) => {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const { db, kernel, scheduler, shares } = world.parts;
  const submit = async (slug: string, size: number) =>
    await kernel.submit(world.task(slug, { minClients: 1 }, size));
  const early = await submit("early", 1);
  t.match(early.warnings, [/^fleet: as it is, the job can never start: no node has joined yet$/]);
  const agent = new SimAgent(world, "node-a", 1);
  world.admit("node-a");
  await agent.register();
  await scheduler.cycle();
  t.match(kernel.job(early.id), { state: "RESERVED", warnings: [] });
  t.same((await submit("fits", 1)).warnings, [], "it waits for whoever is before it");
  const wide = await submit("wide", 2);
  t.match(wide.warnings, [/never start: needs 2 workers; 1 of 1 would do/]);

  const { prospectReview, nodes, commit } = world.parts;
  const warnings = () => kernel.job(wide.id)?.warnings;
  const other = new SimAgent(world, "node-b", 1);
  world.admit("node-b");
  await other.register();
  t.match(warnings(), [/never start/]);
  await prospectReview.look();
  t.same(warnings(), [], "a second node has come");
  await commit.run(() => nodes.setCordon("node-b", "drained by the operator"));
  await prospectReview.look();
  t.match(warnings(), [/never start: .*; excluded: 1 on cordoned nodes$/]);
  await prospectReview.look();
  t.notMatch(String(warnings()), /times/, "once for each change");
  await commit.run(() => nodes.setCordon("node-b", null));
  await prospectReview.look();
  t.same(warnings(), []);
  await commit.run(() => nodes.setCordon("node-b", "drained by the operator"));

  await world.parts.commit.run(() => shares.set("project-a", { limit: { cpu: 1 } }));
  await t.rejects(submit("wider", 2), {
    code: "share_limit_exceeded",
    message: "the job needs 2 workers; p may hold at most 1 of cpu",
  });
  t.equal(db.prepare("SELECT count(*) FROM jobs WHERE slug = 'wider'").pluck().get(), 0);
  t.same((await submit("narrow", 1)).warnings, [], "within its limit it waits");
});

t.test("who ended at half of the stated time is expected to do so again", async (t) => {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const agent = new SimAgent(world, "node-a", 1);
  world.admit("node-a");
  await agent.register();
  const submit = async (slug: string, minutes: number) => {
    world.parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
    const task = world.task(slug, { minClients: 1, timeLimitMs: minutes * MINUTE }, 1);
    return (await world.parts.kernel.submit(task)).id;
  };
  const end = world.parts.db.prepare<[number, number, string]>(
    "UPDATE jobs SET state = 'SUCCEEDED', ended_at = ?, ran_ms = ?, version = version + 1 WHERE id = ?",
  );
  for (let n = 0; n < 9; n += 1) {
    end.run(world.nowMs, 5 * MINUTE, await submit(`ended-${n}`, 10));
    world.nowMs += MINUTE;
  }
  const begins = world.nowMs;
  await submit("runs", 60);
  await agent.register();
  await world.parts.scheduler.cycle();
  const waits = await submit("waits", 10);
  const told = async () => ((await world.parts.queue.startOf(waits))! - begins) / MINUTE;
  t.ok(Math.abs((await told()) - 30) < 2, "half of the hour that the other states");
  const before = await told();
  world.crash();
  t.equal(await told(), before, "what is told is made of rows alone");
});
