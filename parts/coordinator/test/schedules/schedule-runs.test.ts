/** Jobs that repeat by a calendar: on the real kernel, with a clock of the test's own. */
import t, { type Test } from "tap";
import { ScheduleRuns, type ScheduleRunsDeps } from "../../src/schedules/schedule-runs.ts";
import {
  findSchedule,
  insertSchedule,
  pauseSchedule,
  removeSchedule,
  runsOf,
  type ScheduleRow,
} from "../../src/schedules/schedule-store.ts";
import { ApiError } from "../../src/api-error.ts";
import { insertUser, noteMade } from "../../src/identity/bucket-store.ts";
import { RecordingAudit } from "../helper/recording-audit.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;

/** Every night at three, from the midnight at which the world begins. */
function nightlyWorld(t: Test, change: Partial<ScheduleRow> = {}) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const { db, commit, kernel } = world.parts;
  insertUser(db, {
    ...{ userId: "u_anna", username: "anna", now: 1, projectId: "p_anna", bucket: "anna-1" },
    quotaBytes: 1e9,
  });
  noteMade(db, "anna-1", 1);
  const row: ScheduleRow = {
    ...{ id: "s_1", projectId: "p_anna", userId: "u_anna", keyId: null, name: "nightly" },
    ...{ cron: "0 3 * * *", timeZone: "UTC", task: '{"name":"nightly"}', jobId: null },
    ...{ nextAt: world.nowMs + 3 * HOUR, pausedBy: null, createdAt: 1, ...change },
  };
  insertSchedule(db, row);
  const audit = new RecordingAudit();
  const errors: unknown[] = [];
  const stopped: { error: Error | null } = { error: null };
  const deps: ScheduleRunsDeps = {
    ...{ read: world.read, commit, gate: audit.gate, record: audit.record, kernel },
    now: () => world.nowMs,
    store: {
      list: async () => [],
      listAtOnce: async () => [],
      getRange: async () => Buffer.alloc(0),
      stat: async () => null,
    },
    ...{ volume: { durable: async () => {} }, images: [], workers: () => [], catalogue: () => [] },
    metrics: { submissions: { clock: () => () => undefined } },
    validate: async (_deps, bucket, { name }) => {
      if (stopped.error !== null) throw stopped.error;
      return { ...world.task(name), bucket, hasKeyInScript: false };
    },
    onError: (error) => errors.push(error),
  };
  const runs = new ScheduleRuns(deps);
  const at = async (ms: number) => {
    world.nowMs = ms;
    // Nothing waits for the log meanwhile.
    db.prepare("UPDATE audit_outbox SET created_at = ?").run(ms);
    await runs.look();
  };
  const start = world.nowMs;
  const told = () =>
    runsOf(world.read, "s_1").map(({ dueAt, outcome, code }) => [
      (dueAt - start) / HOUR,
      ...[outcome, code],
    ]);
  const end = async (id: string) => {
    await commit.run(() => {
      world.parts.transitions.moveJob(id, "stop", { reason: "user_cancelled" });
    });
  };
  const lastJob = () => runsOf(world.read, "s_1")[0]!.jobId!;
  return { world, audit, errors, deps, runs, at, start, told, end, lastJob, stopped };
}

t.test("each run is a job of its owner's, at its time and not before", async (t) => {
  const { world, audit, at, start, told, lastJob, end } = nightlyWorld(t);
  await at(start + 3 * HOUR - 1);
  t.same(told(), []);
  await at(start + 3 * HOUR);
  t.same(told(), [[3, "submitted", null]]);
  t.match(world.parts.kernel.job(lastJob()), {
    ...{ name: "nightly", userId: "u_anna", projectId: "p_anna", state: "QUEUED" },
  });
  t.match(audit.drafts, [
    {
      ...{ type: "job.submit", phase: "requested", actor: { sub: "coordinator" } },
      ...{ on_behalf_of: "u_anna", detail: { schedule: "s_1" } },
    },
  ]);
  await at(start + 3 * HOUR + 5_000);
  t.equal(told().length, 1);
  await end(lastJob());
  await at(start + DAY + 3 * HOUR);
  t.same(told(), [
    [27, "submitted", null],
    [3, "submitted", null],
  ]);
});

t.test("a run that would begin while the one before lives is skipped, and on record", async (t) => {
  const { audit, at, start, told, lastJob, end } = nightlyWorld(t);
  await at(start + 3 * HOUR);
  const first = lastJob();
  await at(start + DAY + 3 * HOUR);
  t.same(told()[0], [27, "skipped", "overlap"]);
  t.match(audit.drafts.at(-1), {
    ...{ type: "job.schedule.skip", on_behalf_of: "u_anna", object: { id: "p_anna" } },
    detail: { schedule: "s_1", reason: "overlap", due: "2026-01-02T03:00:00.000Z" },
  });
  await at(start + 2 * DAY + 3 * HOUR);
  t.same(told()[0], [51, "skipped", "overlap"], "also behind one that was skipped");
  await end(first);
  await at(start + 3 * DAY + 3 * HOUR);
  t.same(told()[0], [75, "submitted", null]);
});

t.test("of runs that were missed one is made up", async (t) => {
  const { world, at, start, told } = nightlyWorld(t);
  await at(start + 10 * DAY);
  t.same(told(), [[3, "submitted", null]]);
  t.equal(findSchedule(world.read, "s_1")?.nextAt, start + 10 * DAY + 3 * HOUR);
});

t.test("a kill between a submission and its note makes no second job", async (t) => {
  const { world, deps, start, told } = nightlyWorld(t);
  world.nowMs = start + 3 * HOUR;
  const killed = new ScheduleRuns({
    ...deps,
    commit: { run: () => Promise.reject(new Error("killed")) } as never,
  });
  await killed.look();
  t.same(told(), [], "nothing of the run is noted");
  t.equal(world.one("SELECT count(*) FROM jobs"), 1);
  await new ScheduleRuns(deps).look();
  t.same(told(), [[3, "submitted", null]]);
  t.equal(world.one("SELECT count(*) FROM jobs"), 1);
});

t.test(
  "what is away for the moment is tried again, and other schedules have their turn",
  async (t) => {
    const { world, errors, at, start, told, stopped } = nightlyWorld(t);
    const other = { ...findSchedule(world.read, "s_1")!, id: "s_2", task: '{"name":"other"}' };
    insertSchedule(world.parts.db, { ...other, nextAt: start + 4 * HOUR });
    stopped.error = new ApiError("storage_unavailable", "the object store did not answer");
    await at(start + 4 * HOUR);
    t.same(told(), []);
    t.equal(errors.length, 2);
    stopped.error = null;
    await at(start + 4 * HOUR + 5_000);
    t.same(told(), [[3, "submitted", null]]);
    t.match(runsOf(world.read, "s_2"), [{ outcome: "submitted" }]);
  },
);

t.test("a run that fails for an hour by what is away is refused with that", async (t) => {
  const { at, start, told, stopped } = nightlyWorld(t);
  stopped.error = new TypeError("a fault of ours");
  await at(start + 3 * HOUR);
  await at(start + 4 * HOUR - 1);
  t.same(told(), []);
  await at(start + 4 * HOUR);
  t.same(told(), [[3, "refused", "internal_error"]]);
  stopped.error = null;
  await at(start + DAY + 3 * HOUR);
  t.same(told()[0], [27, "submitted", null]);
});

t.test("a clock that is set back puts no run off", async (t) => {
  const { world, deps, at, start, told, lastJob, end } = nightlyWorld(t);
  await at(start + 3 * HOUR);
  await end(lastJob());
  await at(start + 20 * DAY + 3 * HOUR);
  await end(lastJob());
  await at(start + DAY);
  t.equal(findSchedule(world.read, "s_1")?.nextAt, start + DAY + 3 * HOUR);
  await at(start + DAY + 3 * HOUR);
  t.ok(told().some(([hour]) => hour === 27));
  world.parts.db.prepare("UPDATE schedules SET next_at = ?").run(start + 90 * DAY);
  await new ScheduleRuns(deps).look();
  t.equal(
    findSchedule(world.read, "s_1")?.nextAt,
    start + 2 * DAY + 3 * HOUR,
    "nor one that was set while nobody looked",
  );
});

t.test("what a submission is refused with is the run's, and the next one comes", async (t) => {
  const { audit, at, start, told, stopped } = nightlyWorld(t);
  stopped.error = new ApiError("script_missing", "no script");
  await at(start + 3 * HOUR);
  t.same(told(), [[3, "refused", "script_missing"]]);
  t.match(audit.drafts.at(-1), {
    ...{ type: "job.schedule.skip", detail: { reason: "script_missing" } },
  });
  stopped.error = null;
  await at(start + DAY + 3 * HOUR);
  t.same(told()[0], [27, "submitted", null]);
});

t.test("a folder that another job uses skips the run", async (t) => {
  const { world, at, start, told } = nightlyWorld(t);
  const { projectId, userId, bucket } = { projectId: "p_anna", userId: "u_anna", bucket: "anna-1" };
  await world.parts.kernel.submit(world.task("nightly", { projectId, userId, bucket }));
  await at(start + 3 * HOUR);
  t.same(told(), [[3, "skipped", "workspace_busy"]]);
});

t.test(
  "who may not submit any more runs nothing: the schedule rests, and that is on record",
  async (t) => {
    const cases: [what: string, sql: string, reason: string, change?: Partial<ScheduleRow>][] = [
      ["disabled", "UPDATE users SET disabled_at = 1 WHERE id = 'u_anna'", "owner_disabled"],
      ["left", "UPDATE users SET left_at = 1 WHERE id = 'u_anna'", "owner_left"],
      [
        "of a broker, and not seen for a week",
        "UPDATE users SET source = 's', source_subject = 'x', source_kind = 'broker' WHERE id = 'u_anna'",
        "owner_unseen",
      ],
      ["no member", "DELETE FROM project_members WHERE user_id = 'u_anna'", "not_in_project"],
      [
        "a viewer",
        "UPDATE project_members SET role = 'viewer' WHERE user_id = 'u_anna'",
        "policy_refused",
      ],
      ["without the key that made it", "SELECT 1", "key_over", { keyId: "k_gone" }],
      ["without the job", "SELECT 1", "job_gone", { task: null, jobId: "job-gone" }],
    ];
    for (const [what, sql, reason, change] of cases) {
      const { world, audit, at, start, told } = nightlyWorld(t, change);
      world.parts.db.exec(sql);
      await at(start + 3 * HOUR);
      t.same(told(), [], what);
      t.match(findSchedule(world.read, "s_1"), { pausedBy: reason, nextAt: null }, what);
      t.match(
        audit.drafts,
        [{ type: "job.schedule", phase: "fact", detail: { change: "paused", reason } }],
        what,
      );
      t.equal(world.one("SELECT count(*) FROM jobs"), 0);
    }
  },
);

t.test("a schedule that a key made does what the key may, while it lives", async (t) => {
  const { world, at, start, told } = nightlyWorld(t, { keyId: "k_1" });
  world.parts.db.exec(
    `INSERT INTO platform_keys (id, hash, prefix, last4, name, user_id, project_id, scopes, created_at, expires_at)
     VALUES ('k_1', zeroblob(32), 'rsk', 'abcd', 'k', 'u_anna', 'p_anna', '["jobs:write","jobs:read"]', 1, ${start + DAY})`,
  );
  await at(start + 3 * HOUR);
  t.same(told(), [[3, "submitted", null]]);
  await at(start + DAY + 3 * HOUR);
  t.equal(findSchedule(world.read, "s_1")?.pausedBy, "key_over");
});

t.test("who pauses or removes a schedule while a run is noted keeps it so", async (t) => {
  const { world, deps, start } = nightlyWorld(t);
  world.nowMs = start + 3 * HOUR;
  const { validate } = deps;
  await new ScheduleRuns({
    ...deps,
    validate: async (...asked) => {
      pauseSchedule(world.parts.db, "s_1", "person");
      return await validate(...asked);
    },
  }).look();
  t.match(findSchedule(world.read, "s_1"), { nextAt: null, pausedBy: "person" });
  removeSchedule(world.parts.db, "s_1");
  t.same(runsOf(world.read, "s_1"), [], "its runs go with it");
});
