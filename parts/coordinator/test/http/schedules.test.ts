/** Jobs that repeat, and jobs that are to start after others, over the API. Their runs are test/schedules/, their order test/kernel/job-order.test.ts. */
import t from "tap";
import { insertUser, noteMade } from "../../src/identity/bucket-store.ts";
import { drawKey } from "../../src/identity/draw-key.ts";
import { insertKey } from "../../src/identity/key-store.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";
import type { S3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

// No request of these tests gets as far as the object store.
const noEngine = { endpoint: "", region: "", volumePath: t.testdir() } as unknown as S3Engine;
const world = new KernelWorld();
t.teardown(() => world[Symbol.dispose]());
const api = await makeTestApp(t.testdir(), noEngine, {
  validate: async (_deps, bucket, { name }) => ({
    ...world.task(name),
    ...{ bucket, hasKeyInScript: false },
  }),
  volume: { durable: async () => {} },
});
t.teardown(() => api.close());

async function keyOf(user: string): Promise<string> {
  const { key, row } = drawKey("dev");
  const of = { userId: `u_${user}`, projectId: `p_${user}` };
  await api.commit.run((db) => {
    insertUser(db, { ...of, username: user, bucket: `${user}-1`, quotaBytes: 1, now: 1 });
    noteMade(db, `${user}-1`, 1);
    const scopes = ["jobs:read", "jobs:write"] as const;
    insertKey(db, { ...row, ...of, name: user, scopes, createdAt: 1, expiresAt: 1e15 });
  });
  return key;
}
const keys = { alice: await keyOf("alice"), bert: await keyOf("bert") };
api.kernel.putRunning({ projectId: "p_alice", userId: "u_alice", bucket: "alice-1" });

async function call(
  method: "GET" | "POST" | "PUT" | "DELETE",
  url: string,
  payload?: object,
  user: keyof typeof keys = "alice",
) {
  const headers = { authorization: `Bearer ${keys[user]}` };
  const reply = await api.app.inject({
    ...{ method, url, headers },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: reply.statusCode, body: reply.json<Record<string, unknown>>() };
}
const FOLDERS = {
  ...{ shardsDirPath: "/jobs/a/shards", trainingScriptsFolderPath: "/jobs/a/scripts" },
  ...{ trainingConfigFolderPath: "/jobs/a/configs" },
  trainingRequirementsFolderPath: "/jobs/a/requirements",
};
const task = { name: "nightly", ...FOLDERS };
const calendar = { cron: "0 3 * * *", timeZone: "Europe/Berlin" };
const RUNNING = "state-RUNNING";

t.test("a schedule is made, listed, paused, resumed and removed, each on record", async (t) => {
  api.clock.now = Date.parse("2026-11-30T12:00:00Z");
  const made = await call("POST", "/api/schedules", { ...calendar, task });
  t.match(made, {
    status: 201,
    body: {
      ...{ name: "nightly", projectId: "p_alice", owner: "alice", ...calendar, job: null },
      ...{ nextAt: "2026-12-01T02:00:00.000Z", pausedBy: null, lastRun: null },
    },
  });
  const url = `/api/schedules/${String(made.body["id"])}`;
  t.match(await call("GET", "/api/schedules?project=p_alice"), {
    body: { schedules: [{ id: made.body["id"] }] },
  });
  t.match(await call("GET", `${url}/runs`), { status: 200, body: { runs: [] } });
  t.match(await call("PUT", url, { isPaused: true }), {
    body: { nextAt: null, pausedBy: "person" },
  });
  api.clock.now += 10 * 86_400_000;
  t.match(await call("PUT", url, { isPaused: false }), {
    body: { nextAt: "2026-12-11T02:00:00.000Z", pausedBy: null },
  });
  t.match(await call("DELETE", url), { status: 200 });
  t.match(await call("GET", "/api/schedules"), { body: { schedules: [] } });
  t.same(
    api.audit.drafts
      .filter(({ type, phase }) => type === "job.schedule" && phase === "requested")
      .map(({ object, detail }) => [object.id, (detail as { change: string }).change]),
    ["made", "paused", "resumed", "removed"].map((change) => ["p_alice", change]),
  );
});

t.test("a schedule repeats a job of its project, and of no other", async (t) => {
  t.match(await call("POST", "/api/schedules", { ...calendar, job: RUNNING }), {
    status: 201,
    body: { name: "running", job: RUNNING },
  });
  t.match(await call("POST", "/api/schedules", { ...calendar, job: RUNNING }, "bert"), {
    status: 404,
    body: { code: "not_found", message: "there is no such task" },
  });
});

t.test("what can't be meant is refused with what is wrong", async (t) => {
  const refuse = async (body: object, code: string, message: RegExp) =>
    t.match(await call("POST", "/api/schedules", body), { status: 400, body: { code, message } });
  await refuse({ ...calendar }, "validation_failed", /one of task and job/);
  await refuse({ ...calendar, task, job: RUNNING }, "validation_failed", /one of task and job/);
  await refuse({ ...calendar, cron: "0 0 30 2 *", task }, "calendar_invalid", /impossible day/);
  await refuse({ ...calendar, timeZone: "Mars/Olympus", task }, "calendar_invalid", /time zone/);
  await refuse({ ...calendar, task: { name: "nightly" } }, "validation_failed", /body\.task/);
  const after = [{ job: RUNNING, when: "ended" }];
  await refuse({ ...calendar, task: { ...task, after } }, "validation_failed", /no field after/);
});

t.test("a job is to start after jobs of its project that its submitter may read", async (t) => {
  const submit = (name: string, after: object[], user?: keyof typeof keys) =>
    call("POST", "/api/tasks", { ...task, name, after }, user);
  t.match(await submit("one", [{ job: RUNNING, when: "succeeded" }]), { status: 201 });
  t.match(api.kernel.tasks.at(-1), { after: [{ job: RUNNING, when: "succeeded" }] });
  t.match(
    api.audit.drafts.findLast(({ type }) => type === "job.submit"),
    { phase: "requested", detail: { after: 1 } },
  );
  const absent = await submit("two", [{ job: "job-nobodys", when: "ended" }], "bert");
  t.match(absent, { status: 404, body: { code: "not_found" } });
  t.same(await submit("two", [{ job: RUNNING, when: "ended" }], "bert"), absent);
  const view = api.kernel.job(RUNNING)!;
  api.kernel.views.set("job-failed", { ...view, id: "job-failed", state: "FAILED" });
  t.match(await submit("two", [{ job: "job-failed", when: "succeeded" }]), {
    ...{ status: 409, body: { code: "dependency_failed", message: /job-failed.*FAILED/ } },
  });
  t.match(await submit("two", [{ job: "job-failed", when: "ended" }]), { status: 201 });
  const again = { "idempotency-key": "once" };
  const later = [{ job: "job-later", when: "succeeded" }];
  api.kernel.views.set("job-later", { ...view, id: "job-later" });
  const once = async () =>
    await api.app.inject({
      ...{ method: "POST", url: "/api/tasks", payload: { ...task, name: "four", after: later } },
      headers: { ...again, authorization: `Bearer ${keys.alice}` },
    });
  const first = await once();
  api.kernel.views.set("job-later", { ...view, id: "job-later", state: "FAILED" });
  t.equal((await once()).json<{ id: string }>().id, first.json<{ id: string }>().id, "asked again");
  const many = Array.from({ length: 17 }, () => ({ job: RUNNING, when: "ended" }));
  t.match(await submit("three", many), { status: 400, body: { code: "validation_failed" } });
  t.match(await submit("three", [{ job: RUNNING, when: "later" }]), { status: 400 });
});
