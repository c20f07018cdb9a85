/** A command is submitted by the route that takes federations; what is wrong with one is told by its own fields. */
import t from "tap";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";
import { upload } from "../helper/workspace.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine);
t.teardown(() => api.close());
const alice = await api.addUser("alice");
await upload(engine, alice.bucket, "prepare", {
  "scripts/prepare.py": "print('hello')\n",
  "scripts/run.sh": "#!/bin/sh\necho rsk_live_0123456789abcdef0123456789abcdef\n",
  "scripts/data.bin": new Uint8Array([0xff, 0xfe, 0x00]),
  "scripts/latin.py": new Uint8Array([0x23, 0xe9, 0x0a]),
  "raw/a.csv": "1,2\n",
  "raw/deep/b.csv": "3,4\n",
});
const good = {
  kind: "command",
  name: "Prepare it",
  scriptPath: "/jobs/prepare/scripts/prepare.py",
  gpuModels: ["cpu"],
};
const submit = (change: Record<string, unknown>) =>
  api.call(alice, { method: "POST", url: "/api/tasks", payload: { ...good, ...change } });

t.test("script, inputs and image are recorded by version; it takes one worker", async (t) => {
  const { status, body } = await submit({
    arguments: ["--out", "/app/out"],
    environment: { LEVEL: "3" },
    inputFolders: ["/jobs/prepare/raw/"],
    timeLimitMinutes: 5,
  });
  t.equal(status, 201, JSON.stringify(body));
  t.match(body, { name: "Prepare it", status: "QUEUED", outputPath: "/jobs/prepare-it" });
  const task = api.kernel.tasks.at(-1);
  t.match(task, {
    ...{
      kind: "command",
      slug: "prepare-it",
      outputRoot: "jobs/prepare-it",
      timeLimitMs: 300_000,
      resumable: false,
    },
    spec: {
      ...{ interpreter: ["python3", "-u"], script: "prepare.py" },
      ...{ arguments: ["--out", "/app/out"], environment: { LEVEL: "3" } },
    },
    shardUncompressedBytes: [8],
  });
  t.same(
    task?.inputs.map(({ kind, key, target }) => [kind, key, target]),
    [
      ["script", "jobs/prepare/scripts/prepare.py", "scripts/prepare.py"],
      ["file", "jobs/prepare/raw/a.csv", "payload/raw/a.csv"],
      ["file", "jobs/prepare/raw/deep/b.csv", "payload/raw/deep/b.csv"],
    ],
  );
  t.ok(task?.inputs.every(({ versionId, etag }) => versionId !== "" && etag !== ""));
});

t.test("a platform key in a script is a warning", async () => {
  const { body } = await submit({ name: "keyed", scriptPath: "/jobs/prepare/scripts/run.sh" });
  t.match(body, { status: "QUEUED" });
  t.same(api.kernel.tasks.at(-1)?.spec, {
    interpreter: ["/bin/sh"],
    script: "run.sh",
    arguments: [],
    environment: {},
  });
});

t.test("how much each member gets is kept as it was asked for, and told again", async (t) => {
  const asked = { workersPerMember: 2, cpusPerMember: 3, hostMemoryMbPerMember: 512 };
  const { status, body } = await submit({ name: "wide", ...asked });
  t.equal(status, 201, JSON.stringify(body));
  t.match(api.kernel.tasks.at(-1), {
    kind: "command",
    spec: { workers: 2, cpus: 3, hostMemoryMb: 512 },
  });
});

const BAD: [what: string, change: Record<string, unknown>, code: string, says: string][] = [
  [
    "a field of a federation",
    { shardsDirPath: "/jobs/x/shards" },
    "validation_failed",
    "shardsDirPath",
  ],
  ["no script", { scriptPath: undefined }, "validation_failed", "scriptPath"],
  [
    "a script of no known kind",
    { scriptPath: "/jobs/prepare/scripts/data.bin" },
    "validation_failed",
    "scriptPath",
  ],
  [
    "a script that is not there",
    { scriptPath: "/jobs/prepare/scripts/none.py" },
    "command_script_missing",
    "none.py",
  ],
  [
    "a script that is no text",
    { scriptPath: "/jobs/prepare/scripts/latin.py" },
    "script_not_text",
    "latin.py",
  ],
  ["a script outside jobs", { scriptPath: "/elsewhere/x.py" }, "path_outside_jobs", "scriptPath"],
  ["a path that climbs", { inputFolders: ["/jobs/x/../y"] }, "path_invalid", "inputFolders"],
  ["inputs from logs", { inputFolders: ["/jobs/x/logs"] }, "path_reserved", "logs"],
  ["an empty folder", { inputFolders: ["/jobs/prepare/nothing"] }, "input_folder_empty", "nothing"],
  [
    "one folder twice",
    { inputFolders: ["/jobs/prepare/raw", "/jobs/prepare/raw/"] },
    "input_name_invalid",
    "raw",
  ],
  ["an image that is none", { imageProfile: "no-such" }, "image_unavailable", "no-such"],
  [
    "a name of a variable that is none",
    { environment: { "a-b": "1" } },
    "validation_failed",
    "environment",
  ],
  ["a NUL in an argument", { arguments: ["a\u0000b"] }, "validation_failed", "arguments"],
  [
    "two workers",
    { workerIds: ["node-1-0", "node-1-1"], gpuModels: undefined },
    "worker_count_mismatch",
    "2 workers",
  ],
  ["no worker", { workersPerMember: 0 }, "validation_failed", "workersPerMember"],
  ["a kind that is none", { kind: "no-such" }, "validation_failed", "kind"],
];

t.test("what is wrong is told with status, code and place", async (t) => {
  const before = api.kernel.tasks.length;
  for (const [what, change, code, says] of BAD) {
    const { status, body } = await submit(change);
    t.equal(status, 400, `${what}: ${JSON.stringify(body)}`);
    t.equal((body as { code: string }).code, code, what);
    t.match((body as { message: string }).message, says, what);
  }
  t.equal(api.kernel.tasks.length, before);
});

t.test("who removes what a job left removes its logs, too, each on record", async (t) => {
  const { body } = await submit({ name: "Noisy" });
  const id = String(body["id"]);
  for (const part of [1, 2, 3])
    await engine.store.put(alice.bucket, `logs/${id}/m-1.1/0000000${part}`, "noise", "text/plain");
  const remove = engine.store.remove.bind(engine.store);
  let isMerged = false;
  // A merge that has found all of its parts, and puts the merged one just before they go.
  engine.store.remove = async (...gone) => {
    if (!isMerged) {
      isMerged = true;
      const key = `logs/${id}/m-1.1/to-00000003/00000001`;
      await engine.store.put(alice.bucket, key, "noisenoisenoise", "text/plain");
    }
    await remove(...gone);
  };
  t.teardown(() => Object.assign(engine.store, { remove }));
  const other = await engine.store.put(alice.bucket, "logs/another/m-1.1/1", "kept", "text/plain");
  api.kernel.views.set(id, { ...api.kernel.views.get(id)!, state: "CANCELLED" });
  const before = api.audit.drafts.length;
  const removed = await api.call(alice, { method: "DELETE", url: `/api/tasks/${id}/outputs` });
  t.match(removed, { status: 200, body: { removed: 3 } });
  t.same(await engine.store.list(alice.bucket, `logs/${id}/`, 10), []);
  t.equal((await engine.store.stat(alice.bucket, other.key))?.versionId, other.versionId);
  const listed = api.audit.drafts
    .slice(before)
    .filter(({ type }) => type === "data.object.delete.listed");
  t.ok(isMerged);
  t.equal(listed.length, 4, "the merged one, too");
});
