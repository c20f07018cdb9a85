/** Who may ask for which class, and limits of each person, over the API. What the kernel makes of them is test/kernel/classes.test.ts. */
import { join } from "node:path";
import t from "tap";
import { decide } from "../../src/authorization/decide.ts";
import { putInForce, shippedPolicies } from "../../src/authorization/policies-in-force.ts";
import { readPolicyFiles } from "../../src/authorization/policy-files.ts";
import { PolicySet } from "../../src/authorization/policy-set.ts";
import { insertUser, noteMade } from "../../src/identity/bucket-store.ts";
import { drawKey } from "../../src/identity/draw-key.ts";
import { insertKey } from "../../src/identity/key-store.ts";
import { PersonQueueFull } from "../../src/kernel/errors.ts";
import { keyOf as platformKeyOf, SERVICE_ACCOUNT, sessionOf } from "../authorization/callers.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";
import type { S3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

const POLICIES = ["..", "..", "..", "..", "policies", "cedar"] as const;
const OLDER = join(import.meta.dirname, "..", "authorization", "older-policies");
// No request of these tests gets as far as the object store.
const noEngine = { endpoint: "", region: "", volumePath: t.testdir() } as unknown as S3Engine;
const world = new KernelWorld();
t.teardown(() => world[Symbol.dispose]());
const api = await makeTestApp(t.testdir(), noEngine, {
  validate: async (_deps, bucket, { name, class: jobClass = null, preemptible = null }) => ({
    ...world.task(name),
    ...{ bucket, hasKeyInScript: false, jobClass, isPreemptible: preemptible },
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
const key = await keyOf("alice");

const FOLDERS = {
  ...{ shardsDirPath: "/jobs/a/shards", trainingScriptsFolderPath: "/jobs/a/scripts" },
  ...{ trainingConfigFolderPath: "/jobs/a/configs" },
  trainingRequirementsFolderPath: "/jobs/a/requirements",
};
async function call(url: string, payload: object) {
  const headers = { authorization: `Bearer ${key}` };
  const reply = await api.app.inject({ ...{ method: "POST", url, headers, payload } });
  return { status: reply.statusCode, body: reply.json<Record<string, unknown>>() };
}
const submit = (change: object) => call("/api/tasks", { name: "study", ...FOLDERS, ...change });
const submissions = () => api.audit.drafts.filter(({ type }) => type === "job.submit");

t.test("what was asked for stands in the entry of the submission, and nothing else", async (t) => {
  t.match(await submit({ class: "interactive", preemptible: false }), { status: 201 });
  t.match(submissions().at(-1), { detail: { class: "interactive", preemptible: false } });
  t.match(await submit({ name: "plain" }), { status: 201 });
  t.notMatch(submissions().at(-1)?.detail, { class: String });
});

t.test(
  "policies decide who asks for which class: refused, on record, and nothing is made",
  async (t) => {
    const files = new Map(readPolicyFiles(join(import.meta.dirname, ...POLICIES)));
    const rule = files.get("jobs.cedar")!;
    files.set("jobs.cedar", rule.replace("{ principal in resource.project.services }", "{ true }"));
    t.teardown(() => putInForce(shippedPolicies()));
    putInForce(PolicySet.load(files));
    const before = submissions().length;
    const refused = {
      status: 403,
      body: { code: "class_refused", message: /nobody sits in front of it/, hint: /`train`/ },
    };
    t.match(await submit({ class: "interactive" }), refused);
    t.equal(submissions().length, before);
    t.match(api.audit.drafts.at(-1), {
      type: "auth.refused",
      decision: { effect: "deny", policy_ids: ["no-interactive-program"] },
      outcome: { code: "class_refused", status: 403 },
    });
    t.match(await submit({ class: "scavenger", name: "other" }), { status: 201 });
    const calendar = { cron: "0 3 * * *", timeZone: "UTC" };
    const task = { ...FOLDERS, name: "nightly" };
    const schedule = await call("/api/schedules", {
      ...calendar,
      task: { ...task, class: "interactive" },
    });
    t.match(schedule, refused, "nor by a calendar");
    t.match(await call("/api/schedules", { ...calendar, task }), { status: 201 });
  },
);

t.test("a service account of the release's policies asks for no interactive class", async (t) => {
  const caller = SERVICE_ACCOUNT;
  const row = { userId: "u1", projectId: "p1" };
  t.match(decide(caller, "job.class.interactive", row), { effect: "deny", code: "class_refused" });
  for (const action of ["job.submit", "job.class.train", "job.class.scavenger"] as const)
    t.match(decide(caller, action, row), { effect: "allow" }, action);
});

t.test("the class system is for administrators, whatever else somebody is", async (t) => {
  const before = submissions().length;
  const refused = { status: 403, body: { code: "role_required" } };
  t.match(await submit({ class: "system" }), refused);
  const calendar = { cron: "0 3 * * *", timeZone: "UTC" };
  t.match(
    await call("/api/schedules", { ...calendar, task: { ...FOLDERS, name: "n", class: "system" } }),
    refused,
  );
  t.equal(submissions().length, before, "nothing is made");
  const admin = { role: "platform-admin", projectId: null } as const;
  const lead = { role: "project-lead", projectId: "p1" } as const;
  const others = [SERVICE_ACCOUNT, sessionOf(lead), platformKeyOf(undefined, "platform-admin")];
  for (const caller of others)
    t.match(decide(caller, "job.class.system", {}), { effect: "deny", code: "role_required" });
  for (const caller of [sessionOf(admin), sessionOf(admin, lead)])
    t.match(decide(caller, "job.class.system", {}), { effect: "allow" });
});

t.test("under policies of a release that knew no class system nobody asks for it", async (t) => {
  t.teardown(() => putInForce(shippedPolicies()));
  putInForce(PolicySet.load(readPolicyFiles(OLDER)));
  t.match(await submit({ class: "system" }), { status: 403 });
});

t.test("classes that nobody asks for are no classes of a submission", async (t) => {
  for (const one of ["inference", "managed", "none"])
    t.match(await submit({ class: one }), {
      status: 400,
      body: { code: "validation_failed", message: /^body\.class / },
    });
  t.match(await submit({ preemptible: "no" }), { status: 400 });
});

t.test("whose queue is full is told so before anything is read or asked", async (t) => {
  const before = api.audit.drafts.length;
  api.kernel.requireQueueRoom = () => {
    throw new PersonQueueFull({ name: "lung", limit: 2 });
  };
  t.match(await submit({}), {
    status: 409,
    body: {
      code: "person_queue_full",
      message: "2 jobs of this person wait already in lung, and no more may",
    },
  });
  t.equal(api.audit.drafts.length, before);
});
