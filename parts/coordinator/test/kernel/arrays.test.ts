/** Arrays of jobs: made whole or not at all, and no more of them queued at once than the array says. */
import t, { type Test } from "tap";
import type { ArrayPlace } from "../../src/kernel/accepted-array.ts";
import { ArrayViews } from "../../src/kernel/array-views.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

type Change = Parameters<KernelWorld["task"]>[1];

async function arrayWorld(t: Test, workers = 8) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const agent = new SimAgent(world, "node-a", workers);
  world.admit("node-a");
  await agent.register();
  const { kernel, commit, transitions } = world.parts;
  const submit = async (slug: string, change: Change = {}) =>
    (await kernel.submit(world.task(slug, { minClients: 1, ...change }, 1))).id;
  const submitArray = async (
    count: number,
    atOnce: number | null,
    { change = {}, key, id = "a_1" }: { change?: Change; key?: string; id?: string } = {},
  ) => {
    const places: ArrayPlace[] = Array.from({ length: count }, (_, point) => ({
      point,
      parameters: { lr: `0.${point}` },
    }));
    const jobs = places.map((place) => ({
      place,
      task: {
        ...world.task(`${id}-${place.point}`, { minClients: 1, ...change }, 1),
        idempotency:
          key !== undefined && place.point === 0 ? { key, bodySha256: "0".repeat(64) } : null,
      },
    }));
    const { projectId, userId } = jobs[0]!.task;
    return await kernel.submitArray({ id, name: id, projectId, userId, atOnce, jobs });
  };
  const views = new ArrayViews(world.read);
  const jobs = (id = "a_1") => views.points(id).map(({ job }) => job!.id);
  const states = (id = "a_1") => views.points(id).map(({ job }) => job!.state);
  const end = async (job: string, event: "store" | "stop") => {
    await commit.run((handle) => {
      if (event === "store")
        handle.prepare("UPDATE jobs SET state = 'FINALIZING' WHERE id = ?").run(job);
      transitions.moveJob(job, event, event === "stop" ? { reason: "user_cancelled" } : {});
    });
  };
  return { world, kernel, submit, submitArray, views, jobs, states, end };
}

t.test(
  "of an array so many are queued as it says, and the others say what they wait for",
  async (t) => {
    const { kernel, submitArray, jobs, states } = await arrayWorld(t);
    await submitArray(5, 2);
    t.same(states(), ["QUEUED", "QUEUED", "HELD", "HELD", "HELD"]);
    t.match(kernel.job(jobs()[2]!), {
      reason: null,
      waitingFor: "waits for room in its array, of which at most 2 jobs are queued or run at once",
    });
  },
);

t.test("each end makes room for the next one, however it ended", async (t) => {
  const { world, submitArray, jobs, states, end } = await arrayWorld(t);
  await submitArray(5, 2);
  const [first, second, , fourth] = jobs();
  await end(first!, "store");
  t.same(states(), ["SUCCEEDED", "QUEUED", "QUEUED", "HELD", "HELD"]);
  await end(fourth!, "stop");
  t.same(
    states(),
    ["SUCCEEDED", "QUEUED", "QUEUED", "CANCELLED", "HELD"],
    "one that was held took no room",
  );
  await end(second!, "stop");
  t.same(states(), ["SUCCEEDED", "CANCELLED", "QUEUED", "CANCELLED", "QUEUED"]);
  await world.parts.scheduler.cycle();
  t.same(states(), ["SUCCEEDED", "CANCELLED", "RESERVED", "CANCELLED", "RESERVED"]);
});

t.test("without a number all are queued", async (t) => {
  const { submitArray, states } = await arrayWorld(t);
  await submitArray(4, null);
  t.same(new Set(states()), new Set(["QUEUED"]));
});

t.test("one that waits for another job as well takes nobody's room meanwhile", async (t) => {
  const { submit, submitArray, states, end } = await arrayWorld(t);
  const before = await submit("before");
  await submitArray(3, 1, { change: { after: [{ job: before, when: "ended" }] } });
  t.same(states(), ["HELD", "HELD", "HELD"]);
  await end(before, "store");
  t.same(states(), ["QUEUED", "HELD", "HELD"]);
});

t.test("an array is made whole, or not at all", async (t) => {
  const { world, submit, submitArray, views } = await arrayWorld(t);
  // The folder of its third job is in use.
  await submit("a_1-2");
  await t.rejects(submitArray(4, null), { name: "WorkspaceBusy" });
  t.equal(views.find("a_1"), null);
  t.equal(world.all("SELECT id FROM jobs").length, 1);
});

t.test("the same key makes no second array, also once the first has ended", async (t) => {
  const { world, submitArray, jobs, end } = await arrayWorld(t);
  t.equal(await submitArray(3, null, { key: "k" }), "a_1");
  t.equal(await submitArray(3, null, { key: "k", id: "a_2" }), "a_1");
  for (const job of jobs()) await end(job, "store");
  t.equal(await submitArray(3, null, { key: "k", id: "a_2" }), "a_1");
  t.equal(world.all("SELECT id FROM jobs").length, 3);
  t.equal(world.all("SELECT id FROM arrays").length, 1);
});

t.test("what a release that knows no arrays ended makes room at the next start", async (t) => {
  const { world, submitArray, jobs, states } = await arrayWorld(t);
  await submitArray(4, 2);
  world.parts.db
    .prepare("UPDATE jobs SET state = 'SUCCEEDED', ended_at = 1 WHERE id = ?")
    .run(jobs()[0]);
  t.same(states(), ["SUCCEEDED", "QUEUED", "HELD", "HELD"]);
  await world.parts.commit.run(() => world.parts.transitions.followMissedEnds());
  t.same(states(), ["SUCCEEDED", "QUEUED", "QUEUED", "HELD"]);
});

t.test("points are told in order, with what each printed last", async (t) => {
  const { world, submitArray, views, jobs } = await arrayWorld(t);
  await submitArray(2, null);
  const [first] = jobs();
  const { curves } = world.parts.tables;
  await world.parts.commit.run(() => {
    for (const [at, [site, place, value]] of (
      [
        ["site-1", 1, 9],
        ["site-1", 2, 2],
        ["site-2", 1, 9],
        ["site-2", 2, 4],
      ] as const
    ).entries()) {
      curves.noteLine(first!, "printed", at + 1, 1_000);
      curves.add(first!, "printed", { site, place, value, name: "loss", axis: "step" });
    }
  });
  t.match(views.points("a_1"), [
    { point: 0, parameters: { lr: "0.0" }, job: { id: first }, metrics: { loss: 3 } },
    { point: 1, parameters: { lr: "0.1" }, metrics: {} },
  ]);
  world.parts.db.exec(`DELETE FROM jobs WHERE id = '${jobs()[1]}'`);
  t.match(views.points("a_1")[1], { point: 1, job: null }, "its point stays");
});
