/** Which span is asked for, and of whom; the answers of a real Prometheus are in `use-curves.engines.test.ts`. */
import t, { type Test } from "tap";
import type { TimeAxis } from "../../src/use/decisions/time-axis.ts";
import { UseCurves } from "../../src/use/use-curves.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";

const S = 1_000;
const DAY_S = 86_400;

/** An axis ends where it was asked to, and begins less than a step after. */
function isWithin({ fromS, stepS }: TimeAxis, wantedS: number): boolean {
  return fromS >= wantedS && fromS < wantedS + stepS;
}

function curvesIn(t: Test) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const asked: (TimeAxis & { query: string })[] = [];
  const prometheus = {
    range: async (query: string, axis: TimeAxis) => {
      asked.push({ query, ...axis });
      return [];
    },
  };
  return { world, asked, curves: new UseCurves(world.read, prometheus, () => world.nowMs) };
}

t.test("without a span a job is asked of from its start to its end, or to now", async (t) => {
  const { world, asked, curves } = curvesIn(t);
  const nowS = world.nowMs / S;
  const at = (ago: number) => world.nowMs - ago * S;
  const job = { id: "j", createdAt: at(9_000), startedAt: at(6_000), endedAt: null };
  await curves.ofJob(job, { points: 500 });
  t.match(asked.pop(), { fromS: nowS - 6_000, toS: nowS, stepS: 15 });
  await curves.ofJob({ ...job, startedAt: null }, { points: 500 });
  const waiting = asked.pop()!;
  t.ok(isWithin(waiting, nowS - 9_000), "it waits still");
  await curves.ofJob({ ...job, endedAt: at(3_000) }, { points: 500 });
  t.equal(asked.pop()?.toS, nowS - 2_955, "how its members were last is looked at after its end");
  await curves.ofJob({ ...job, endedAt: at(10) }, { points: 500 });
  t.ok((asked.pop()?.toS ?? Infinity) <= nowS, "never of what is to come");
});

t.test("nodes and the fleet are asked of for the last day", async (t) => {
  const { world, asked, curves } = curvesIn(t);
  const nowS = world.nowMs / S;
  for (const ask of [
    () => curves.ofNode("node-a", { points: 500 }),
    () => curves.ofFleet({ points: 500 }),
  ]) {
    const { keptDays } = await ask();
    t.equal(keptDays, 15);
    const axis = asked.pop()!;
    t.ok(isWithin(axis, nowS - DAY_S));
    t.equal(axis.toS, nowS);
  }
});

t.test("a span that is given holds, also beyond the end of the job", async (t) => {
  const { world, asked, curves } = curvesIn(t);
  const job = { id: "j", createdAt: 0, startedAt: 1 * S, endedAt: 60 * S };
  await curves.ofJob(job, { points: 3, from: 600 * S, to: 1_200 * S });
  t.match(asked.pop(), { fromS: 600, toS: 1_200, stepS: 300 });
  await curves.ofJob(job, { points: 3, from: 600 * S });
  t.match(asked.pop(), { fromS: 600 }, "it ended before: one point, and no refusal");
  await t.rejects(curves.ofFleet({ points: 3, from: world.nowMs, to: world.nowMs - 1 }), {
    code: "validation_failed",
  });
  t.same(asked, []);
});

t.test("a job of many members has fewer points of each", async (t) => {
  const { world, asked, curves } = curvesIn(t);
  world.admit("node-a");
  const { id } = await world.parts.kernel.submit(world.task("many"));
  const { db } = world.parts;
  db.pragma("foreign_keys = OFF");
  db.exec(
    `INSERT INTO attempts (id, job_id, number, server_name, server_port, created_at) VALUES ('a', '${id}', 1, 's', 1, 1)`,
  );
  const add = db.prepare(
    `INSERT INTO members (id, attempt_id, job_id, role, node_id, state, version, desired, generation, counter, resources, state_since, created_at)
     VALUES (?, 'a', ?, 'client', 'node-a', 'RUNNING', 1, 'run', 1, 1, '{}', 1, 1)`,
  );
  const life = { id, createdAt: 0, startedAt: 0, endedAt: DAY_S * S };
  for (let member = 0; member < 24; member += 1) add.run(`m-${member}`, id);
  await curves.ofJob(life, { points: 500 });
  t.equal(asked.pop()?.stepS, 174, "24 have all");
  for (let member = 24; member < 500; member += 1) add.run(`m-${member}`, id);
  await curves.ofJob(life, { points: 500 });
  t.ok((asked.pop()?.stepS ?? 0) > 2_000);
});
