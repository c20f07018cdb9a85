/** Curves as they are kept, against a straight computation from all points; over restarts, and from what an older release left. */
import { join } from "node:path";
import { migrate } from "@resontech/frame/migrate";
import Database from "better-sqlite3";
import fc from "fast-check";
import t from "tap";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { openDatabase, type ReadHandle } from "../../src/db/open-database.ts";
import { CurveTable } from "../../src/kernel/curve-table.ts";
import { JobMetrics } from "../../src/kernel/job-metrics.ts";

const MAX = 400;
const JOB = `
  INSERT INTO users (id, username, is_admin, created_at) VALUES ('u', 'u', 0, 1);
  INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('p', 'u', 'p', 1, 1);
  INSERT INTO jobs (id, sequence, project_id, user_id, name, slug, bucket, output_root, state, version, desired, state_since, selection, only_mine,
      image, min_clients, resumable, warnings, shard_count, shard_uncompressed_bytes, audit_op, audit_index, audit_leaf, created_at)
    VALUES ('job-1', 1, 'p', 'u', 'n', 'n', 'b', 'jobs/n', 'RUNNING', 3, 'run', 1, '{}', 0, '{}', 1, 1, '[]', 1, '[1]', 'op', 1, 'leaf', 1);
`;

/** All at once: buckets as wide as the least power of two that makes 400 of them, or fewer. */
function straight(values: readonly number[], places: readonly number[]) {
  let width = 1;
  while (Math.ceil(values.length / width) > MAX) width *= 2;
  const points: number[][] = [];
  for (let from = 0; from < values.length; from += width) {
    const part = values.slice(from, from + width);
    const place = places[from + part.length - 1]!;
    points.push([place, part.at(-1)!, Math.min(...part), Math.max(...part)]);
  }
  return points;
}

t.test("a curve of any length is what all its points make, in 400 buckets at most", async (t) => {
  using opened = openDatabase(join(t.testdir(), "c.db"));
  const { write: db, read } = opened;
  db.exec(JOB);
  const reading = new JobMetrics(read);
  fc.assert(
    fc.property(fc.nat(3_000), fc.nat(3_000), fc.integer(), (length, restartAt, seed) => {
      const points = Array.from({ length }, (_, at) => ({
        site: Math.sin(seed + 3 * at) > -0.5 ? "a" : "b",
        place: at,
        value: Math.tan(seed + at),
      }));
      db.exec("DELETE FROM curves; DELETE FROM curve_sets");
      let curves = new CurveTable(db);
      db.transaction(() => {
        for (const [at, point] of points.entries()) {
          if (at === restartAt) curves = new CurveTable(db);
          curves.noteLine("job-1", "printed", at + 1, 1_000);
          curves.add("job-1", "printed", { ...point, name: "loss", axis: "step" });
        }
      })();
      const { series, upTo } = reading.of("job-1", "printed");
      if (upTo !== length) return false;
      for (const site of ["a", "b"]) {
        const own = points.filter((one) => one.site === site);
        t.same(
          series.find((one) => one.site === site)?.points ?? [],
          straight(
            own.map(({ value }) => value),
            own.map(({ place }) => place),
          ),
        );
      }
      return true;
    }),
    { numRuns: 40 },
  );
});

t.test("a job may make up 256 curves, and no more", async (t) => {
  using opened = openDatabase(join(t.testdir(), "c.db"));
  opened.write.exec(JOB);
  const curves = new CurveTable(opened.write);
  for (let at = 0; at < 300; at += 1)
    curves.add("job-1", "printed", {
      ...{ site: "s", name: `n-${at}`, axis: "step", place: 0, value: 1 },
    });
  t.equal(new JobMetrics(opened.read).of("job-1", "printed").series.length, 256);
  t.same(new JobMetrics(opened.read).of("job-1", "devices").series, []);
  opened.write.exec("DELETE FROM jobs");
  t.equal(opened.write.prepare("SELECT count(*) FROM curve_buckets").pluck().get(), 0);
});

t.test("lines of an older release become the curves that they would have been", async (t) => {
  const file = join(t.testdir(), "c.db");
  const before = new Database(file);
  migrate(before, MIGRATIONS.slice(0, 18));
  before.exec(JOB);
  const insert = before.prepare(
    "INSERT INTO metrics (job_id, attempt_id, site, value, at) VALUES ('job-1', 'a', ?, ?, ?)",
  );
  const losses = Array.from({ length: 1_500 }, (_, at) => Math.sin(at));
  for (const [at, loss] of losses.entries())
    insert.run("site-1", JSON.stringify({ step: at, loss, note: "text", none: null }), 5_000 + at);
  insert.run("site-2", '{"loss": 3}', 7_500);
  insert.run("site-2", '{"epoch": 2, "step": 9, "accuracy": 1}', 7_501);
  for (const odd of ["no JSON", "[1, 2]", "4", '{"loss": 1e999}']) insert.run("site-3", odd, 9_000);
  before.close();
  using opened = openDatabase(file);
  const { series, began, upTo } = new JobMetrics(opened.read).of("job-1", "printed");
  t.equal(began, "1970-01-01T00:00:05.000Z");
  t.equal(upTo, 1_506);
  const of = (site: string) => series.filter((one) => one.site === site);
  t.same(of("site-1"), [
    {
      ...{ site: "site-1", name: "loss", axis: "step" },
      points: straight(losses, [...losses.keys()]),
    },
  ]);
  t.same(
    of("site-2").map(({ name, axis, points }) => [name, axis, points]),
    [
      ["loss", "seconds", [[2.5, 3, 3, 3]]],
      ["accuracy", "step", [[9, 1, 1, 1]]],
    ],
  );
  t.same(of("site-3"), []);
  t.equal(count(opened.read), 1_000, "the newest lines stay as they came");
  const curves = new CurveTable(opened.write);
  const more = Array.from({ length: 500 }, (_, at) => at);
  for (const at of more)
    curves.add("job-1", "printed", {
      ...{ site: "site-1", name: "loss", axis: "step", place: 1_500 + at, value: at },
    });
  t.same(
    new JobMetrics(opened.read).of("job-1", "printed").series.find(({ site }) => site === "site-1")
      ?.points,
    straight([...losses, ...more], [...[...losses, ...more].keys()]),
    "and go on",
  );
});

function count(read: ReadHandle): unknown {
  return read.prepare("SELECT count(*) FROM metrics").pluck().get();
}
