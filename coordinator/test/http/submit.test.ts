import t from "tap";
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
  const { status, body } = await submit(goodBody("good"));
  t.equal(status, 201, JSON.stringify(body));
  t.match(body, {
    name: "good",
    status: "QUEUED",
    detail: { state: "QUEUED", resumable: false },
    warnings: [],
    outputPath: "/jobs/good",
  });
  const task = api.kernel.tasks.at(-1);
  t.match(task, { slug: "good", outputRoot: "jobs/good", numRounds: 3, minClients: 2, projectId: alice.projectId });
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
