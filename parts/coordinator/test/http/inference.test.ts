/** Deployments over the API: the list, the stop, a new key. A predictor's whole way is parts/inference-gateway/test/ and acceptance/test/. */
import { createHash } from "node:crypto";
import t from "tap";
import { insertUser } from "../../src/identity/bucket-store.ts";
import { drawKey } from "../../src/identity/draw-key.ts";
import { insertKey } from "../../src/identity/key-store.ts";
import { keepUsage } from "../../src/inference/call-usage.ts";
import { DeploymentTable } from "../../src/inference/deployment-table.ts";
import { DEPLOYMENT, FIRST_KEY_SHA256, putDeployment } from "../helper/put-deployment.ts";
import type { S3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

// No request of these tests gets as far as the object store.
const noEngine = { endpoint: "", region: "", volumePath: t.testdir() } as unknown as S3Engine;
const api = await makeTestApp(t.testdir(), noEngine);
t.teardown(() => api.close());

async function keyOf(user: string): Promise<string> {
  const { key, row } = drawKey("dev");
  const of = { userId: `u_${user}`, projectId: `p_${user}` };
  await api.commit.run((db) => {
    insertUser(db, {
      ...{ ...of, username: user, bucket: `${user}-1`, quotaBytes: 1, now: 1 },
    });
    insertKey(db, {
      ...{ ...row, ...of, name: user, scopes: ["jobs:read", "jobs:write"] },
      ...{ createdAt: 1, expiresAt: 1e15 },
    });
  });
  return key;
}

const key = await keyOf("alice");
const alice = { projectId: "p_alice", userId: "u_alice", bucket: "alice-1" };
await putDeployment(api, alice);
api.kernel.putRunning(alice);

async function call(method: "GET" | "POST" | "DELETE", url: string) {
  const headers = { authorization: `Bearer ${key}` };
  const reply = await api.app.inject({ method, url, headers });
  return { status: reply.statusCode, body: reply.json<Record<string, unknown>>() };
}
const keySha256 = () =>
  api.database.read
    .prepare<[string], string>("SELECT json_extract(spec, '$.keySha256') FROM jobs WHERE id = ?")
    .pluck()
    .get(DEPLOYMENT);

t.test("the list has deployments, and lists of tasks have none", async (t) => {
  const endpoint = `https://localhost/inference/${DEPLOYMENT}`;
  t.match(await call("GET", "/api/inference/jobs"), {
    status: 200,
    body: {
      deployments: [
        {
          ...{ id: DEPLOYMENT, projectId: "p_alice", owner: "alice", status: "QUEUED", endpoint },
          ...{ visibility: "PRIVATE", ready: 0 },
        },
      ],
      ...{ next: null, totals: { RUNNING: 1 } },
    },
  });
  t.match((await call("GET", "/api/inference/jobs?state=FAILED")).body, { deployments: [] });
  t.match((await call("GET", "/api/inference/jobs?text=walrus")).body, { totals: {} });
  t.match(await call("GET", "/api/inference/jobs?project=p_bob"), { status: 404 });
  t.match((await call("GET", "/api/jobs")).body, { jobs: [], totals: {} });
  t.match(await call("GET", "/api/customer/dashboard/jobs"), {
    body: [{ jobId: "state-RUNNING" }],
  });
  t.match((await call("GET", "/api/customer/dashboard/jobs")).body["length"], 1);
});

t.test("how it does now, and what was used of it", async (t) => {
  const figures = {
    windowS: 0,
    inFlight: null,
    requestsPerSecond: 0,
    errors: {},
    durationMs: null,
  };
  const own = { id: DEPLOYMENT, projectId: "p_alice", serving: null, devices: [], figures };
  t.match(await call("GET", `/api/inference/jobs/${DEPLOYMENT}/metrics`), {
    ...{ status: 200, body: own },
  });
  t.match(await call("GET", "/api/inference/metrics"), {
    ...{ status: 200, body: { deployments: [own] } },
  });
  t.match(await call("GET", "/api/inference/jobs/state-RUNNING/metrics"), { status: 404 });

  t.same((await call("GET", "/api/inference/usage")).body, { usage: [], isCut: false });
  const used = {
    ...{ day: "2026-01-02", keySha256: FIRST_KEY_SHA256, calls: 3, failed: 1, inexact: 1 },
    ...{ promptTokens: 5, completionTokens: 7 },
  };
  await keepUsage(api.commit, [
    { ...used, deployment: DEPLOYMENT, project: "p_of-the-gateway" },
    { ...used, deployment: "another's", project: "p_bob" },
  ]);
  t.same((await call("GET", "/api/inference/usage?from=2026-01-01")).body, {
    usage: [
      {
        ...{ day: "2026-01-02", deployment: DEPLOYMENT, name: "running", projectId: "p_alice" },
        ...{ keyId: null, calls: 3, failed: 1, inexact: 1, promptTokens: 5, completionTokens: 7 },
      },
    ],
    isCut: false,
  });
  t.same((await call("GET", "/api/inference/usage?to=2026-01-01")).body["usage"], []);
  t.match(await call("GET", "/api/inference/usage?project=p_bob"), { status: 404 });
  t.match(await call("GET", "/api/inference/usage?from=yesterday"), { status: 400 });
});

t.test("a task is no deployment, a deployment is no task", async (t) => {
  for (const [method, path] of [
    ["GET", "/api/inference/jobs/state-RUNNING"],
    ["DELETE", "/api/inference/jobs/state-RUNNING"],
    ["POST", "/api/inference/jobs/state-RUNNING/rotate-key"],
    ["GET", "/api/inference/jobs/state-RUNNING/logs"],
    ["GET", `/api/tasks/${DEPLOYMENT}`],
    ["GET", `/api/tasks/${DEPLOYMENT}/outputs`],
    ["POST", `/api/tasks/${DEPLOYMENT}/cancel`],
    ["POST", `/api/tasks/${DEPLOYMENT}/resubmit`],
    ["DELETE", `/api/tasks/${DEPLOYMENT}/outputs`],
    ["GET", `/api/customer/dashboard/jobs/${DEPLOYMENT}`],
    ["GET", `/api/customer/dashboard/listJobsNvflare?job_id=${DEPLOYMENT}`],
    ["GET", `/api/customer/dashboard/showStatsNvflare?job_id=${DEPLOYMENT}`],
  ] as const)
    t.match(await call(method, path), { status: 404, body: { code: "not_found" } }, path);
  t.match(await call("GET", `/api/job-states/${DEPLOYMENT}`), {
    ...{ status: 200, body: { kind: "predictor", state: "RUNNING" } },
  });
  t.equal(api.kernel.job(DEPLOYMENT)?.state, "RUNNING", "and nothing was stopped");
});

t.test("a new key is shown once, and its digest takes the place of the old one", async (t) => {
  const rotate = () => call("POST", `/api/inference/jobs/${DEPLOYMENT}/rotate-key`);
  t.equal(keySha256(), FIRST_KEY_SHA256);
  const [first, second] = await Promise.all([rotate(), rotate()]);
  t.match([first.status, second.status], [200, 200]);
  const digests = [first, second].map(({ body }) =>
    createHash("sha256").update(String(body["apiKey"])).digest("hex"),
  );
  t.match(first.body, { jobId: DEPLOYMENT, apiKey: /^rpk_[\w-]{43}$/ });
  t.not(digests[0], digests[1]);
  t.ok(digests.includes(String(keySha256())), "one of two at once is good");
  t.match(new DeploymentTable(api.database.read).of(DEPLOYMENT), { className: "Echo" });
  t.match(api.audit.drafts.at(-1), {
    ...{ type: "key.predict.rotate", phase: "completed", object: { kind: "job", id: DEPLOYMENT } },
  });
  const told = JSON.stringify(api.audit.drafts) + api.logLines.join("");
  for (const { body } of [first, second]) t.notOk(told.includes(String(body["apiKey"])));
});

t.test("a stop is asked for once more without harm, and ends the deployment's key", async (t) => {
  const path = `/api/inference/jobs/${DEPLOYMENT}`;
  for (const _ of [1, 2])
    t.match(await call("DELETE", path), {
      ...{ status: 200, body: { id: DEPLOYMENT, detail: { desired: "stop" } } },
    });
  const view = api.kernel.views.get(DEPLOYMENT)!;
  api.kernel.views.set(DEPLOYMENT, { ...view, state: "CANCELLED", startedAt: 1 });
  t.match((await call("GET", path)).body, { status: "FINISHED", error: null });
  t.match(await call("POST", `${path}/rotate-key`), {
    ...{ status: 409, body: { code: "deployment_over" } },
  });
});

t.test("a deployment that ends while its key is changed keeps the old one", async (t) => {
  await api.commit.run((db) =>
    db.prepare("UPDATE jobs SET state = 'CANCELLED' WHERE id = ?").run(DEPLOYMENT),
  );
  const view = api.kernel.views.get(DEPLOYMENT)!;
  api.kernel.views.set(DEPLOYMENT, { ...view, state: "RUNNING" });
  const before = keySha256();
  t.match(await call("POST", `/api/inference/jobs/${DEPLOYMENT}/rotate-key`), {
    ...{ status: 409, body: { code: "deployment_over" } },
  });
  t.equal(keySha256(), before);
  t.match(api.audit.drafts.at(-1), { type: "key.predict.rotate", phase: "denied" });
});
