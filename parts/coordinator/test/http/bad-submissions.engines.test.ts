import type { ErrorCode } from "@resontech/contracts/error-catalogue";
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";
import t from "tap";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";
import { goodBody, goodFiles, upload } from "../helper/workspace.ts";
import { zipOf } from "../helper/zip-of.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine);
t.teardown(() => api.close());
const alice = await api.addUser("alice");

type BadTask = {
  what: string;
  code: ErrorCode;
  /** In the message, so that the submitter knows where to look. */
  says: string;
  body?: Record<string, unknown>;
  /** Taken out of the good body. */
  without?: string;
  files?: Record<string, string | Uint8Array | null>;
};

const meta = (change: Record<string, unknown>) =>
  JSON.stringify({
    name: "x",
    resource_spec: {},
    deploy_map: { app: ["@ALL"] },
    min_clients: 2,
    ...change,
  });
const requirements = (text: string) => ({ "requirements/requirements.txt": text });
const shard = (body: Uint8Array | string) => ({ "shards/shard_0.zip": body });
const noFolder = (folder: string) =>
  Object.fromEntries(
    Object.keys(goodFiles())
      .filter((path) => path.startsWith(folder))
      .map((path) => [path, null]),
  );

const BAD: BadTask[] = [
  // the body
  { what: "no name", code: "validation_failed", says: "name", without: "name" },
  { what: "a blank name", code: "validation_failed", says: "name", body: { name: "   " } },
  { what: "an unknown field", code: "validation_failed", says: "numGpus", body: { numGpus: 4 } },
  {
    what: "a number as text",
    code: "validation_failed",
    says: "estimatedMemoryMb",
    body: { estimatedMemoryMb: "4096" },
  },
  {
    what: "a negative price",
    code: "validation_failed",
    says: "maxPricePerGpuHourCents",
    body: { maxPricePerGpuHourCents: -1 },
  },
  // paths
  {
    what: "a path without leading slash",
    code: "path_invalid",
    says: "shardsDirPath",
    body: { shardsDirPath: "jobs/x/shards" },
  },
  {
    what: "a path that climbs",
    code: "path_invalid",
    says: "trainingScriptsFolderPath",
    body: { trainingScriptsFolderPath: "/jobs/x/../../y/scripts" },
  },
  {
    what: "a path with a NUL",
    code: "path_invalid",
    says: "trainingConfigFolderPath",
    body: { trainingConfigFolderPath: "/jobs/x/con\u0000figs" },
  },
  {
    what: "a folder outside jobs",
    code: "path_outside_jobs",
    says: "/jobs/",
    body: { shardsDirPath: "/inference_jobs/x/shards" },
  },
  {
    what: "the job's own folder as shards",
    code: "path_outside_jobs",
    says: "shardsDirPath",
    body: { shardsDirPath: "/jobs/shards" },
  },
  {
    what: "shards among the platform's outputs",
    code: "path_reserved",
    says: "files_out",
    body: { shardsDirPath: "/jobs/x/files_out/shards" },
  },
  // scripts
  {
    what: "no scripts at all",
    code: "script_missing",
    says: "model_def.py",
    files: noFolder("scripts/"),
  },
  {
    what: "no persistor",
    code: "script_missing",
    says: "custom_persistor.py",
    files: { "scripts/custom_persistor.py": null },
  },
  {
    what: "a script of 5 MiB",
    code: "script_too_large",
    says: "model_def.py",
    files: { "scripts/model_def.py": Buffer.alloc(5 * 1024 ** 2, 35) },
  },
  {
    what: "a script that is no text",
    code: "script_not_text",
    says: "model_def.py",
    files: { "scripts/model_def.py": Buffer.from([0xff, 0xfe, 0x00]) },
  },
  // configs
  {
    what: "no server config",
    code: "config_missing",
    says: "config_fed_server.json",
    files: { "configs/config_fed_server.json": null },
  },
  {
    what: "a config that is no JSON",
    code: "config_invalid_json",
    says: "line 2",
    files: { "configs/config_fed_client.json": '{"a": 1,\n oops}' },
  },
  {
    what: "a config of 2 MiB",
    code: "config_too_large",
    says: "meta.json",
    files: { "configs/meta.json": `{"a":"${"x".repeat(2 * 1024 ** 2)}"}` },
  },
  {
    what: "a config nested 100,000 deep",
    code: "config_too_deep",
    says: "64",
    files: { "configs/meta.json": "[".repeat(100_000) },
  },
  {
    what: "a config that is a list",
    code: "config_not_object",
    says: "meta.json",
    files: { "configs/meta.json": "[1]" },
  },
  {
    what: "a client config without executors",
    code: "config_executors_missing",
    says: "executors",
    files: { "configs/config_fed_client.json": "{}" },
  },
  {
    what: "a server config without workflows",
    code: "config_workflows_missing",
    says: "workflows",
    files: { "configs/config_fed_server.json": '{"workflows":[]}' },
  },
  {
    what: "a class whose file is not there",
    code: "config_class_missing",
    says: "custom_executor.Mine",
    files: {
      "configs/config_fed_client.json": JSON.stringify({
        executors: [{ executor: { path: "custom_executor.Mine", args: {} } }],
      }),
    },
  },
  {
    what: "a meta.json without deploy_map",
    code: "meta_invalid",
    says: "deploy_map",
    files: { "configs/meta.json": meta({ deploy_map: undefined }) },
  },
  {
    what: "a meta.json with no client",
    code: "meta_invalid",
    says: "min_clients",
    files: { "configs/meta.json": meta({ min_clients: 0 }) },
  },
  {
    what: "more clients than shards",
    code: "min_clients_exceeds_shards",
    says: "3 clients",
    files: { "configs/meta.json": meta({ min_clients: 3 }) },
  },
  // requirements
  {
    what: "no requirements.txt",
    code: "requirements_missing",
    says: "requirements.txt",
    files: { "requirements/requirements.txt": null },
  },
  {
    what: "a requirements.txt of 65 KiB",
    code: "requirements_too_large",
    says: "requirements.txt",
    files: requirements("#".repeat(66_560)),
  },
  {
    what: "a package that the image lacks",
    code: "requirement_unavailable",
    says: "line 2: tensorflow",
    files: requirements("torch\ntensorflow\n"),
  },
  {
    what: "a version that the image lacks",
    code: "requirement_unavailable",
    says: "torch 2.15.0",
    files: requirements("torch<2.0"),
  },
  {
    what: "a line that is no requirement",
    code: "requirement_invalid",
    says: "line 1",
    files: requirements("torch===\u0001 what"),
  },
  {
    what: "a marker that is none",
    code: "requirement_invalid",
    says: "marker",
    files: requirements('torch; python == "3"'),
  },
  {
    what: "another file",
    code: "requirement_unsupported",
    says: "options",
    files: requirements("-r other.txt"),
  },
  {
    what: "a URL",
    code: "requirement_unsupported",
    says: "URLs",
    files: requirements("torch @ https://example.org/torch.whl"),
  },
  {
    what: "an editable one",
    code: "requirement_unsupported",
    says: "options",
    files: requirements("-e ."),
  },
  // shards
  { what: "no shards", code: "shard_folder_empty", says: "/shards", files: noFolder("shards/") },
  {
    what: "shards that are no *.zip",
    code: "shard_folder_empty",
    says: "/shards",
    files: { ...noFolder("shards/"), "shards/data.tar.gz": "x" },
  },
  {
    what: "a shard that is no zip",
    code: "shard_not_zip",
    says: "shard_0.zip",
    files: shard("this is text, whatever it is called"),
  },
  { what: "an empty file as shard", code: "shard_not_zip", says: "shard_0.zip", files: shard("") },
  {
    what: "a zip cut in half",
    code: "shard_not_zip",
    says: "shard_0.zip",
    files: shard(zipOf({ a: "x".repeat(500), b: "y" }).subarray(0, 80)),
  },
  { what: "a zip without files", code: "zip_empty", says: "shard_0.zip", files: shard(zipOf({})) },
  {
    what: "a zip with a path that climbs",
    code: "zip_unsafe_path",
    says: "../evil",
    files: shard(zipOf({ "../evil": "x" })),
  },
  {
    what: "a zip with an absolute path",
    code: "zip_unsafe_path",
    says: "/etc/passwd",
    files: shard(zipOf({ "/etc/passwd": "x" })),
  },
  {
    what: "a zip that climbs the Windows way",
    code: "zip_unsafe_path",
    says: "evil",
    files: shard(zipOf({ "a\\..\\..\\evil": "x" })),
  },
  {
    what: "a zip with a link",
    code: "zip_link",
    says: "link",
    files: shard(zipOf({ link: "/etc/passwd" }, { mode: 0o120777 })),
  },
  {
    what: "a zip with a device",
    code: "zip_link",
    says: "null",
    files: shard(zipOf({ null: "" }, { mode: 0o020666 })),
  },
  {
    what: "an encrypted zip",
    code: "zip_encrypted",
    says: "secret",
    files: shard(zipOf({ secret: "x" }, { flags: 0x801 })),
  },
  {
    what: "a zip packed by another method",
    code: "zip_unsupported",
    says: "method 14",
    files: shard(zipOf({ a: "x" }, { method: 14 })),
  },
  {
    what: "a zip bomb",
    code: "zip_bomb",
    says: "200 times",
    files: shard(zipOf({ a: "x" }, { declaredBytes: 0xffff_fff0 })),
  },
  // warm start
  {
    what: "an empty model folder",
    code: "model_folder_empty",
    says: "/model",
    body: { modelFolderPath: "/jobs/x/model" },
  },
  // workers
  {
    what: "one worker for two shards",
    code: "worker_count_mismatch",
    says: "1 worker pinned for 2 shards",
    body: { workerIds: ["node-a-0"] },
  },
  {
    what: "a worker pinned twice",
    code: "worker_duplicate",
    says: "twice",
    body: { workerIds: ["node-a-0", "node-a-0"] },
  },
  {
    what: "a worker that does not exist",
    code: "worker_unknown",
    says: "node-z-9",
    body: { workerIds: ["node-a-0", "node-z-9"] },
  },
  {
    what: "a model that does not exist",
    code: "gpu_model_unknown",
    says: "rtx_9999",
    body: { gpuModels: ["rtx_9999"] },
  },
  {
    what: "a price that buys nothing",
    code: "price_ceiling_too_low",
    says: "cents",
    body: { gpuModels: ["h100"], maxPricePerGpuHourCents: 10 },
  },
  {
    what: "more memory than any asked model has",
    code: "memory_exceeds_models",
    says: "99999",
    body: { gpuModels: ["rtx_4090"], estimatedMemoryMb: 99_999 },
  },
  {
    what: "no workers wanted",
    code: "worker_selection_missing",
    says: "autoSelectWorkers",
    body: { autoSelectWorkers: false },
  },
];

t.test(`${BAD.length} bad submissions, each with its status, code and hint`, async (t) => {
  t.ok(BAD.length >= 30);
  for (const [index, { what, code, says, body, without, files }] of BAD.entries()) {
    const slug = `bad-${index}`;
    await upload(engine, alice.bucket, slug, { ...goodFiles(), ...files });
    const payload: Record<string, unknown> = { ...goodBody(slug), ...body };
    if (without !== undefined) delete payload[without];
    for (const [field, value] of Object.entries(payload)) {
      if (typeof value === "string" && field.endsWith("Path"))
        payload[field] = value.replace("/jobs/x/", `/jobs/${slug}/`);
    }
    const reply = await api.call(alice, { method: "POST", url: "/api/tasks", payload });
    t.match(
      { status: reply.status, code: reply.body["code"], hint: reply.body["hint"] },
      { status: 400, code, hint: ERROR_CATALOGUE[code].hint },
      `${what}: ${JSON.stringify(reply.body)}`,
    );
    t.ok(
      String(reply.body["message"]).includes(says),
      `${what} names ${says}: ${String(reply.body["message"])}`,
    );
    t.same(Object.keys(reply.body).sort(), ["code", "hint", "message"]);
  }
  t.same(api.kernel.tasks, [], "none reached the kernel");
  t.notOk(
    api.audit.names.some((name) => name.startsWith("job.")),
    "none opened an operation",
  );
});

t.test("what the body is not even JSON for", async (t) => {
  const post = (payload: string, type: string) =>
    api.call(alice, {
      method: "POST",
      url: "/api/tasks",
      payload,
      headers: { "content-type": type },
    });
  t.match(await post("{", "application/json"), { status: 400, body: { code: "malformed_body" } });
  t.match(await post("", "application/json"), { status: 400, body: { code: "malformed_body" } });
  t.match(await post("a=b", "application/x-www-form-urlencoded"), {
    status: 415,
    body: { code: "unsupported_media_type" },
  });
  t.match(await post(`{"name":"${"x".repeat(300_000)}"}`, "application/json"), {
    status: 413,
    body: { code: "body_too_large" },
  });
  t.match(await post('{"__proto__":{"a":1}}', "application/json"), { status: 400 });
});
