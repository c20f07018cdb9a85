/** How jobs came, ended and made way lately, read from the rows of a real database. */
import t from "tap";
import { RecentJobs } from "../../src/kernel/recent-jobs.ts";
import { WORKLOADS } from "../../src/workloads/workloads.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

const MINUTE = 60_000;

t.test(
  "jobs that came are known with what they asked for and how long they ran, after a restart as before",
  async (t) => {
    using world = new KernelWorld();
    const agent = new SimAgent(world, "node-a", 1);
    world.admit("node-a");
    await agent.register();
    const submit = async (slug: string, minutes: number | null) => {
      const timeLimitMs = minutes === null ? null : minutes * MINUTE;
      return (await world.parts.kernel.submit(world.task(slug, { minClients: 1, timeLimitMs }, 1)))
        .id;
    };
    const read = () => {
      const { db, snapshots } = world.parts;
      return new RecentJobs(db, WORKLOADS, snapshots).read(world.nowMs, snapshots.fleet());
    };
    t.same(
      read(),
      { since: world.nowMs, came: [], ended: [], madeWayMs: null },
      "nobody came ever",
    );
    const began = world.nowMs;
    const long = await submit("long", 30);
    const unstated = await submit("unstated", null);
    world.nowMs += 10 * MINUTE;
    const end = (id: string, ranMs: number) =>
      world.parts.db
        .prepare(
          "UPDATE jobs SET state = 'SUCCEEDED', ended_at = ?, ran_ms = ?, version = version + 1 WHERE id = ?",
        )
        .run(world.nowMs, ranMs, id);
    const told = () => {
      const { came, ...rest } = read();
      return {
        ...rest,
        came: came.map(({ at, gang, ranMs }) => [
          gang.job,
          (at - began) / MINUTE,
          gang.runsMs,
          ranMs,
        ]),
      };
    };
    t.same(told(), {
      since: began,
      came: [[long, 0, 30 * MINUTE, null]],
      ...{ ended: [], madeWayMs: null },
    });
    end(long, 12 * MINUTE);
    end(unstated, 3 * MINUTE);
    world.parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
    const gone = await submit("never-ran", 5);
    end(gone, 0);
    const known = {
      since: began,
      came: [
        [long, 0, 30 * MINUTE, 12 * MINUTE],
        [unstated, 0, null, 3 * MINUTE],
      ],
      ended: [{ project: "project-a", part: 0.4 }],
      madeWayMs: null,
    };
    t.same(told(), known, "what it states counts from its beginning, whatever it ran");
    world.crash();
    t.same(told(), known);
    world.nowMs = began + 3 * 60 * MINUTE;
    t.same(told().came, [], "three hours ago is not lately");
    t.equal(told().since, began + 60 * MINUTE);
  },
);

t.test("how long who made way took is known once three have let go", async (t) => {
  using world = new KernelWorld();
  const agent = new SimAgent(world, "node-a", 4);
  world.admit("node-a");
  await agent.register();
  const { db, kernel, scheduler, snapshots } = world.parts;
  for (let n = 0; n < 4; n += 1) await kernel.submit(world.task(`job-${n}`, { minClients: 1 }, 1));
  db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
  await scheduler.cycle();
  const victims = db
    .prepare<[], { job: string; attempt: string }>(
      "SELECT job_id AS job, id AS attempt FROM attempts ORDER BY id",
    )
    .all();
  t.equal(victims.length, 4);
  const read = () =>
    new RecentJobs(db, WORKLOADS, snapshots).read(world.nowMs, snapshots.fleet()).madeWayMs;
  const [seconds, decided] = [[90, 10, 20], world.nowMs];
  for (const [n, { job, attempt }] of victims.entries()) {
    db.prepare(
      "INSERT INTO preemptions (job_id, reason, victim_job, victim_attempt, workers, decided_at, kept_until) VALUES ('x', 'class', ?, ?, '[]', ?, ?)",
    ).run(job, attempt, decided, decided);
    if (n === 2) t.equal(read(), null, "two say nothing");
    const after = seconds[n];
    if (after !== undefined)
      db.prepare("UPDATE leases SET released_at = ? WHERE job_id = ?").run(
        ...([decided + after * 1_000, job] as const),
      );
  }
  t.equal(read(), 20_000, "the middle of those that are gone; who holds on still tells nothing");
});
