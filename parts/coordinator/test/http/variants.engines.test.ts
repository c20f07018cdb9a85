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
