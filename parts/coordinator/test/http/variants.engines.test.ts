/** A task like an earlier one, and the files that either was made of: by version, whatever lies in the folder now. */
import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import Database from "better-sqlite3";
import t from "tap";
import { setLeavesByApproval } from "../../src/storage/export-grants.ts";
import { joinAgent } from "../helper/join-agent.ts";
import { RunningCoordinator } from "../helper/running-coordinator.ts";
import { goodBody, goodFiles, upload } from "../helper/workspace.ts";

t.setTimeout(600_000);
const running = await RunningCoordinator.create({});
t.teardown(() => running[Symbol.asyncDispose]());
const ada = await running.control("add-user", { username: "ada" });
const stranger = await running.control("add-user", { username: "stranger" });
await upload(running.s3, ada.bucketAlias, "digits", goodFiles());

const post = (path: string, body: object, key = ada.platformKey) =>
  running.request("POST", path, key, body);
const parametersOf = async (id: string) =>
  (await running.get(`/api/jobs/${id}/parameters`, ada.platformKey))
    .body as unknown as JobParametersReply;
const put = async (key: string, text: string) => {
  await running.s3.store.put(ada.bucketAlias, key, text, "text/plain");
  return { key, versionId: (await running.s3.store.stat(ada.bucketAlias, key))!.versionId };
};
const jobsNamed = (name: string): string[] => {
  using db = closing(new Database(running.config.databaseFile, { readonly: true }));
  const rows = db.prepare<[string], { id: string }>("SELECT id FROM jobs WHERE name = ?").all(name);
  return rows.map(({ id }) => id);
};
const closing = (db: Database.Database) =>
  Object.assign(db, { [Symbol.dispose]: () => void db.close() });
const said = (answer: { status: number; body: unknown }) => JSON.stringify(answer);

const SCRIPT = "jobs/digits/scripts/model_def.py";
const first = String((await post("/api/tasks", goodBody("digits"))).body["id"]);

t.test("parameters say what was chosen, and tell code apart by what it holds", async (t) => {
  const parameters = await parametersOf(first);
  t.match(parameters, {
    ...{ name: "digits", kind: "federation", projectId: ada.project, script: null },
    ...{ gpuModels: ["cpu"], workerIds: null, maxPricePerGpuHourCents: 100 },
    ...{ timeLimitMinutes: null, rounds: 3, minSites: 2, arguments: [], environment: {} },
  });
  t.match(parameters.codeDigest, /^[0-9a-f]{64}$/);
  t.match(
    parameters.inputs.find(({ key }) => key === SCRIPT),
    { kind: "script", path: "scripts/model_def.py", sizeBytes: 16, etag: String },
  );
  t.equal((await running.get(`/api/jobs/${first}/parameters`, stranger.platformKey)).status, 404);
});

t.test("parameters name the pool that a job names, and a pool of others is none", async (t) => {
  await running.control("pool-add", { name: "big", kind: "shared" });
  t.equal((await parametersOf(first)).pool, null);
  const made = await post(`/api/tasks/${first}/variants`, { name: "in a pool", pool: "big" });
  t.equal(made.status, 201, said(made));
  t.equal((await parametersOf(String(made.body["id"]))).pool, "big");
  await running.control("pool-add", { name: "own", kind: "private", project: stranger.project });
  const refused = await post(`/api/tasks/${first}/variants`, { name: "not there", pool: "own" });
  t.match(refused, { status: 400, body: { code: "pool_unknown" } });
  const child = String(made.body["id"]);
  await post(`/api/tasks/${child}/cancel`, {});
  await running.control("pool-remove", { id: "big" });
  t.match((await parametersOf(child)).pool, /^pool-/, "of one that is gone the id");
  const again = await post(`/api/tasks/${child}/variants`, { name: "of no pool", pool: null });
  t.equal(again.status, 201, said(again));
});

t.test("a variant has one other file and another limit, and all else as it was", async (t) => {
  // What lies in the folder by now is not what the first read.
  await put(SCRIPT, "class Later: pass\n");
  const { key, versionId } = await put("jobs/digits-2/scripts/model_def.py", "class Net: ...\n");
  const made = await post(`/api/tasks/${first}/variants`, {
    ...{ name: "digits 2", timeLimitMinutes: 5 },
    files: [{ input: SCRIPT, key, versionId }],
  });
  t.equal(made.status, 201, said(made));
  t.match(made.body, { name: "digits 2", outputPath: "/jobs/digits-2" });
  const [before, after] = [
    await parametersOf(first),
    await parametersOf(String(made.body["id"])),
  ] as const;
  t.equal(after.timeLimitMinutes, 5);
  t.same(after.gpuModels, before.gpuModels);
  t.not(after.codeDigest, before.codeDigest);
  const versions = ({ inputs }: JobParametersReply) =>
    inputs.map((input) => `${input.path} ${input.key} ${input.versionId}`);
  const others = (list: string[]) =>
    list.filter((line) => !line.startsWith("scripts/model_def.py"));
  t.same(others(versions(after)), others(versions(before)));
  t.ok(versions(after).includes(`scripts/model_def.py ${key} ${versionId}`));

  const again = await post(`/api/tasks/${String(made.body["id"])}/variants`, { name: "digits 3" });
  t.equal(again.status, 201, said(again));
  t.same(versions(await parametersOf(String(again.body["id"]))), versions(after));
});

t.test("files are added and removed, and the earlier job keeps its own", async (t) => {
  const before = await parametersOf(first);
  const help = await put("jobs/digits-more/scripts/deep/help.py", "HELP = 1\n");
  const { "shards/shard_0.zip": shard = "" } = goodFiles();
  await running.s3.store.put(ada.bucketAlias, "jobs/digits-more/shards/a.zip", shard, "x/zip");
  const made = await post(`/api/tasks/${first}/variants`, {
    name: "digits more",
    addedFiles: [
      { path: "scripts/deep/help.py", ...help },
      { path: "shards/a.zip", key: "jobs/digits-more/shards/a.zip" },
    ],
    removedFiles: ["jobs/digits/shards/shard_0.zip"],
  });
  t.equal(made.status, 201, said(made));
  const after = await parametersOf(String(made.body["id"]));
  const shards = ({ inputs }: JobParametersReply) =>
    inputs.filter(({ kind }) => kind === "shard").map(({ key }) => key);
  t.same(
    shards(after),
    ["jobs/digits/shards/shard_1.ZIP", "jobs/digits-more/shards/a.zip"],
    "sites that stay come first",
  );
  t.match(
    after.inputs.find(({ path }) => path === "scripts/deep/help.py"),
    { kind: "script", ...help },
  );
  t.equal(after.inputs.length, before.inputs.length + 1);
  t.same(await parametersOf(first), before);

  // What was added is a file like the others to the next one.
  const less = await post(`/api/tasks/${String(made.body["id"])}/variants`, {
    ...{ name: "digits less", removedFiles: [help.key] },
  });
  t.equal(less.status, 201, said(less));
  t.equal((await parametersOf(String(less.body["id"]))).codeDigest, before.codeDigest);
});

t.test("a model is added, and taken away again", async (t) => {
  const { key, versionId } = await put("jobs/warm/model/start.pt", "weights");
  const warm = await post(`/api/tasks/${first}/variants`, {
    ...{ name: "warm", addedFiles: [{ path: "model/start.pt", key, versionId }] },
  });
  t.equal(warm.status, 201, said(warm));
  const id = String(warm.body["id"]);
  t.match(
    (await parametersOf(id)).inputs.find(({ kind }) => kind === "model"),
    { key, path: "model/start.pt" },
  );
  const second = { path: "model/other.pt", key };
  t.match(await post(`/api/tasks/${id}/variants`, { name: "warm 2", addedFiles: [second] }), {
    status: 400,
    body: { code: "model_file_ambiguous" },
  });
  const cold = await post(`/api/tasks/${id}/variants`, { name: "cold", removedFiles: [key] });
  t.equal(cold.status, 201, said(cold));
  t.notOk(
    (await parametersOf(String(cold.body["id"]))).inputs.some(({ kind }) => kind === "model"),
  );
});

t.test(
  "files that no job can have are refused by a code of their own, and no job is made",
  async (t) => {
    const { key, versionId } = await put("jobs/refused/scripts/a.py", "A = 1\n");
    const refused = async (changes: object) => {
      const answer = await post(`/api/tasks/${first}/variants`, { name: "refused", ...changes });
      return `${answer.status} ${String(answer.body["code"])}`;
    };
    const added = (...paths: string[]) => ({
      addedFiles: paths.map((path) => ({ path, key, versionId })),
    });
    t.equal(await refused(added("scripts/../a.py")), "400 input_name_invalid");
    t.equal(await refused(added("notes/a.py")), "400 file_place_unknown");
    t.equal(await refused(added("scripts/model_def.py")), "400 file_named_twice");
    t.equal(await refused(added("scripts/a.py", "scripts/a.py")), "400 file_named_twice");
    t.equal(
      await refused({ removedFiles: [SCRIPT], files: [{ input: SCRIPT, key }] }),
      "400 file_named_twice",
    );
    t.equal(await refused({ removedFiles: ["jobs/digits/scripts/none.py"] }), "404 not_found");
    t.equal(
      await refused({
        addedFiles: [{ path: "scripts/a.py", key, versionId: "01JNONE0000000000000000000" }],
      }),
      "404 not_found",
    );
    t.equal(await refused({ removedFiles: [SCRIPT] }), "400 script_missing");
    t.equal(
      await refused({ removedFiles: ["jobs/digits/shards/shard_0.zip"] }),
      "400 min_clients_exceeds_shards",
      "fewer sites than a round needs",
    );
    const many = (count: number) => Array.from({ length: count }, (_, at) => `scripts/m${at}.py`);
    t.equal(await refused(added(...many(1_000))), "400 too_many_objects", "with those that stay");
    t.equal(await refused(added(...many(1_001))), "400 validation_failed");
    t.same(jobsNamed("refused"), []);
  },
);

t.test("two at once are two jobs, each with its own files", async (t) => {
  const names = ["left", "right"];
  const files = await Promise.all(
    names.map((name) => put(`jobs/${name}/scripts/own.py`, `OWN = "${name}"\n`)),
  );
  const made = await Promise.all(
    names.map((name, at) =>
      post(`/api/tasks/${first}/variants`, {
        ...{ name, addedFiles: [{ path: "scripts/own.py", ...files[at]! }] },
      }),
    ),
  );
  t.same(
    made.map(({ status }) => status),
    [201, 201],
  );
  for (const [at, { body }] of made.entries())
    t.match(
      (await parametersOf(String(body["id"]))).inputs.find(({ path }) => path === "scripts/own.py"),
      files[at]!,
    );
  const same = await Promise.all(
    names.map(() => post(`/api/tasks/${first}/variants`, { name: "one folder" })),
  );
  t.same(
    same.map(({ status }) => status).sort((a, b) => a - b),
    [201, 409],
    "one folder is one job's",
  );
});

t.test(
  "a coordinator that is killed leaves no job or a whole one, and a second try makes no other",
  async (t) => {
    const file = await put("jobs/killed/scripts/help.py", "HELP = 1\n");
    const ask = async () => {
      const answer = await fetchWithCa(
        running.caPem,
        `${running.url}/api/tasks/${first}/variants`,
        {
          method: "POST",
          headers: {
            authorization: `Bearer ${ada.platformKey}`,
            ...{ "content-type": "application/json", "idempotency-key": "killed" },
          },
          body: JSON.stringify({
            ...{ name: "killed", addedFiles: [{ path: "scripts/help.py", ...file }] },
          }),
        },
      );
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    // Nothing is written before the log has the entry, which takes none now.
    process.kill(running.auditd.pid, "SIGSTOP");
    const cut = ask().catch((error: unknown) => error);
    await parametersOf(first);
    await running.stop("SIGKILL");
    process.kill(running.auditd.pid, "SIGCONT");
    await cut;
    t.same(jobsNamed("killed"), []);
    await running.start();
    const made = await ask();
    t.equal(made.status, 201, said(made));
    await running.stop("SIGKILL");
    await running.start();
    t.match(await ask(), { status: 201, body: { id: made.body["id"] } });
    t.same(jobsNamed("killed"), [made.body["id"]]);
    const { inputs } = await parametersOf(String(made.body["id"]));
    t.equal(inputs.length, (await parametersOf(first)).inputs.length + 1);
  },
);

t.test("what is changed is judged as a submission is", async (t) => {
  const bad = await put("jobs/bad/configs/meta.json", "{");
  const refused = await post(`/api/tasks/${first}/variants`, {
    ...{ name: "bad", files: [{ input: "jobs/digits/configs/meta.json", ...bad }] },
  });
  t.match(refused, { status: 400, body: { code: "config_invalid_json" } }, said(refused));
  for (const file of [
    { ...bad, input: "jobs/digits/configs/none.json" },
    { ...bad, input: SCRIPT, versionId: "01JNONE0000000000000000000" },
  ])
    t.match(await post(`/api/tasks/${first}/variants`, { name: "bad", files: [file] }), {
      status: 404,
      body: { code: "not_found" },
    });
  t.match(await post(`/api/tasks/${first}/variants`, {}), {
    status: 409,
    body: { code: "workspace_busy" },
  });
  t.equal((await post(`/api/tasks/${first}/variants`, {}, stranger.platformKey)).status, 404);
});

t.test("a variant of a command has other arguments, and its folders as they were", async (t) => {
  await put("jobs/prepare/scripts/prepare.py", "print('hello')\n");
  await put("jobs/prepare/raw/deep/a.csv", "1,2\n");
  const command = await post("/api/tasks", {
    ...{ kind: "command", name: "prepare", scriptPath: "/jobs/prepare/scripts/prepare.py" },
    ...{ arguments: ["--level", "1"], environment: { SEED: "7" }, gpuModels: ["cpu"] },
    inputFolders: ["/jobs/prepare/raw"],
  });
  t.equal(command.status, 201, said(command));
  const made = await post(`/api/tasks/${String(command.body["id"])}/variants`, {
    ...{ name: "prepare more", arguments: ["--level", "2"] },
  });
  t.equal(made.status, 201, said(made));
  t.match(await parametersOf(String(made.body["id"])), {
    ...{ script: "jobs/prepare/scripts/prepare.py", arguments: ["--level", "2"] },
    environment: { SEED: "7" },
    inputs: [
      { kind: "file", key: "jobs/prepare/raw/deep/a.csv", path: "payload/raw/deep/a.csv" },
      { kind: "script", path: "scripts/prepare.py" },
    ],
  });
  const other = await put("jobs/prepare-other/other/b.csv", "3,4\n");
  const moved = await post(`/api/tasks/${String(command.body["id"])}/variants`, {
    ...{ name: "prepare other", removedFiles: ["jobs/prepare/raw/deep/a.csv"] },
    addedFiles: [{ path: "payload/other/b.csv", ...other }],
  });
  t.equal(moved.status, 201, said(moved));
  t.match((await parametersOf(String(moved.body["id"]))).inputs, [
    { kind: "file", ...other, path: "payload/other/b.csv" },
    { kind: "script", path: "scripts/prepare.py" },
  ]);
  for (const changes of [
    { removedFiles: ["jobs/prepare/scripts/prepare.py"] },
    { addedFiles: [{ path: "scripts/second.py", ...other }] },
  ])
    t.match(
      await post(`/api/tasks/${String(command.body["id"])}/variants`, {
        ...{ name: "prepare none", ...changes },
      }),
      { status: 400, body: { code: "file_place_unknown" } },
    );
});

t.test("a file of a job is read in the job's version, and no other file is", async (t) => {
  const { inputs } = await parametersOf(first);
  const { key, versionId } = inputs.find((input) => input.key === SCRIPT)!;
  const answer = await post(`/api/jobs/${first}/download`, { key, versionId });
  t.equal(answer.status, 200, said(answer));
  const url = String(answer.body["url"]);
  t.equal(await (await fetchWithCa(running.caPem, url)).text(), "class Net: pass\n");
  const other = await put("jobs/digits/notes.txt", "x");
  for (const [file, who] of [
    [other, ada],
    [{ key, versionId: other.versionId }, ada],
    [{ key, versionId }, stranger],
  ] as const)
    t.match(await post(`/api/jobs/${first}/download`, file, who.platformKey), {
      status: 404,
      body: { code: "not_found" },
    });
});

t.test(
  "a model of a job leaves by no URL where the project's outputs leave by approval",
  async (t) => {
    const agent = await joinAgent(running, "node-a", 2);
    t.teardown(() => agent.close());
    await agent.beat([]);
    const members = await agent.desiredOf(first, 3);
    await agent.bringUp(members);
    const key = "model_out/checkpoint.pt";
    const { versionId } = await agent.upload(members[0]!, key, "weights");
    const file = { key: `jobs/digits/${key}`, versionId };
    t.equal((await post(`/api/jobs/${first}/download`, file)).status, 200);
    const db = new Database(running.config.databaseFile, { timeout: 60_000 });
    t.teardown(() => db.close());
    setLeavesByApproval(db, ada.project, true);
    t.match(await post(`/api/jobs/${first}/download`, file), {
      status: 403,
      body: { code: "export_controlled" },
    });
    const [input] = (await parametersOf(first)).inputs;
    t.match(
      await post(`/api/jobs/${first}/download`, { key: input!.key, versionId: input!.versionId }),
      { status: 200 },
      "what the project uploaded is its own",
    );
  },
);
