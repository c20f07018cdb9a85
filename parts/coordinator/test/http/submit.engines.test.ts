import { AuditUnavailable } from "@resontech/audit/producer";
import t from "tap";
import { WorkspaceBusy } from "../../src/kernel/errors.ts";
import { SUBMISSION_STAGES } from "../../src/submission/submission-stages.ts";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";
import { goodBody, goodFiles, upload } from "../helper/workspace.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine);
t.teardown(() => api.close());
const alice = await api.addUser("alice");
const submit = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
  api.call(alice, { method: "POST", url: "/api/tasks", payload: body, headers });

t.test("a good task is accepted with the versions of all its objects", async (t) => {
  await upload(engine, alice.bucket, "good", goodFiles());
  const ended = t.capture(api.metrics.submissions, "ended");
  const { status, body } = await submit(goodBody("good"));
  t.equal(status, 201, JSON.stringify(body));
  t.match(body, {
    name: "good",
    status: "QUEUED",
    detail: { state: "QUEUED", resumable: false },
    warnings: [],
    outputPath: "/jobs/good",
  });
  t.same(
    ended().map(({ args: [stage] }) => stage),
    [...SUBMISSION_STAGES],
    "each stage is timed once",
  );
  const task = api.kernel.tasks.at(-1);
  t.match(task, {
    slug: "good",
    outputRoot: "jobs/good",
    numRounds: 3,
    minClients: 2,
    projectId: alice.projectId,
  });
  t.same(
    task?.inputs.filter(({ kind }) => kind === "shard").map(({ key }) => key),
    ["jobs/good/shards/shard_0.zip", "jobs/good/shards/shard_1.ZIP"],
  );
  t.same(task?.selection, { kind: "auto", gpuModels: ["cpu"], maxPriceCents: 100 });
  for (const input of task?.inputs ?? []) {
    t.same(await engine.store.stat(alice.bucket, input.key), {
      key: input.key,
      versionId: input.versionId,
      etag: input.etag,
      sizeBytes: input.sizeBytes,
    });
  }
});

t.test("a platform key in a script is accepted with a warning, and the log says so", async (t) => {
  const script = `KEY = "${alice.platformKey}"\nclass Net: pass\n`;
  await upload(engine, alice.bucket, "leaky", { ...goodFiles(), "scripts/model_def.py": script });
  const { status, body } = await submit(goodBody("leaky"));
  t.equal(status, 201);
  t.match(body["warnings"], [/scripts\/model_def\.py holds a platform key/]);
  t.notOk(JSON.stringify(body).includes(alice.platformKey));
  const requested = api.audit.drafts.findLast(
    ({ type, phase }) => type === "job.submit" && phase === "requested",
  );
  t.match(requested, {
    detail: { key_in_script: true, shards: 2 },
    object: { kind: "job" },
    on_behalf_of: alice.userId,
  });
  t.notOk(api.audit.leaves.join("").includes("leaky"), "the task's name is a commitment");
});

t.test("an Idempotency-Key gives the same job once, and refuses another body", async (t) => {
  await upload(engine, alice.bucket, "once", goodFiles());
  const headers = { "idempotency-key": "try-1" };
  const first = await submit(goodBody("once"), headers);
  const accepted = api.kernel.tasks.length;
  const second = await submit(
    Object.fromEntries(Object.entries(goodBody("once")).reverse()),
    headers,
  );
  t.equal(second.body["id"], first.body["id"], "whatever the order of the fields");
  t.equal(api.kernel.tasks.length, accepted);
  t.match(await submit({ ...goodBody("once"), name: "other" }, headers), {
    status: 409,
    body: { code: "idempotency_conflict" },
  });
  t.match(await submit(goodBody("once"), { "idempotency-key": "a b" }), {
    status: 400,
    body: { code: "idempotency_key_invalid" },
  });
});

t.test("a folder with a living job is busy until it is over", async (t) => {
  await upload(engine, alice.bucket, "busy", goodFiles());
  const { body } = await submit(goodBody("busy"));
  t.match(await submit(goodBody("busy")), {
    status: 409,
    body: { code: "workspace_busy", message: new RegExp(String(body["id"])) },
  });
  const cancelled = await api.call(alice, {
    method: "POST",
    url: `/api/tasks/${String(body["id"])}/cancel`,
  });
  t.match(cancelled, {
    status: 200,
    body: {
      status: "RUNNING",
      detail: { state: "STOPPING", reason: "user_cancelled", desired: "stop" },
    },
  });
  const view = api.kernel.views.get(String(body["id"]))!;
  api.kernel.views.set(view.id, { ...view, state: "CANCELLED" });
  t.match(await submit(goodBody("busy")), { status: 201 });
});

t.test("another project's task is not there", async (t) => {
  const bob = await api.addUser("bob");
  const id = [...api.kernel.views.keys()][0]!;
  for (const url of [
    `/api/tasks/${id}`,
    `/api/customer/dashboard/jobs/${id}`,
    `/api/customer/dashboard/listJobsNvflare?job_id=${id}`,
  ]) {
    t.match(await api.call(bob, { url }), { status: 404, body: { code: "not_found" } });
  }
  t.match(await api.call(bob, { method: "POST", url: `/api/tasks/${id}/cancel` }), { status: 404 });
  t.same((await api.call(bob, { url: "/api/customer/dashboard/jobs" })).body, []);
});

t.test("a warm start names one file, an earlier job's output included", async (t) => {
  await upload(engine, alice.bucket, "warm", { ...goodFiles(), "model/start.pt": "weights" });
  await upload(engine, alice.bucket, "earlier", { "model_out/checkpoint.pt": "weights" });
  t.match(await submit({ ...goodBody("warm"), modelFolderPath: "/jobs/warm/model" }), {
    status: 201,
  });
  t.match(api.kernel.tasks.at(-1)?.inputs.at(-1), {
    kind: "model",
    key: "jobs/warm/model/start.pt",
    target: "model/start.pt",
  });
  await upload(engine, alice.bucket, "warm2", {
    ...goodFiles(),
    "model/a.pt": "1",
    "model/b.pt": "2",
  });
  const two = await submit({ ...goodBody("warm2"), modelFolderPath: "/jobs/warm2/model" });
  t.match(two, { status: 400, body: { code: "model_file_ambiguous" } });
  t.match(await submit({ ...goodBody("warm2"), modelFolderPath: "/jobs/earlier/model_out" }), {
    status: 201,
  });
});

t.test("the gate comes before the kernel: without it nothing is accepted", async (t) => {
  await upload(engine, alice.bucket, "gated", goodFiles());
  const accepted = api.kernel.tasks.length;
  api.audit.refusal = new AuditUnavailable("timeout", "no acknowledgement in 2000 ms");
  t.match(await submit(goodBody("gated")), { status: 503, body: { code: "audit_unavailable" } });
  api.audit.refusal = null;
  t.equal(api.kernel.tasks.length, accepted);
});

t.test("what the kernel refuses closes the operation as denied", async (t) => {
  await upload(engine, alice.bucket, "race", goodFiles());
  const submitReal = api.kernel.submit.bind(api.kernel);
  api.kernel.submit = () => Promise.reject(new WorkspaceBusy("job-x", "jobs/race"));
  t.match(await submit(goodBody("race")), { status: 409, body: { code: "workspace_busy" } });
  api.kernel.submit = submitReal;
  t.match(api.audit.drafts.at(-1), {
    type: "job.submit",
    phase: "denied",
    outcome: { code: "workspace_busy", status: 409 },
  });
});
