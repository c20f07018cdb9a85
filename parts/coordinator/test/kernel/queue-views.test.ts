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
    waitingFor: /^needs 1 workers; 0 of 1 would do now/,
  });
});
