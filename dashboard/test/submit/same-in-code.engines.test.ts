/** What the forms show as code is run: by a shell with `resontech` and curl, and by Python with the public client, against the real coordinator. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { joinAgent } from "@resontech/coordinator/testing/join-agent";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { ECHO_SCRIPT, goodBody, goodFiles, upload } from "@resontech/coordinator/testing/workspace";
import { EMBEDDINGS_FILES } from "@resontech/contracts/embeddings-spec";
import type { DeploymentListReply } from "@resontech/contracts/http-inference";
import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import type { SubmitCommandBody } from "@resontech/contracts/http-tasks";
import { clientPython } from "@resontech/house/client-venv";
import { untilFound } from "@resontech/house/until-found";
import { TestGateway } from "@resontech/inference-gateway/testing/test-gateway";
import {
  commandInCode,
  folderInCode,
  predictorInCode,
  variantInCode,
} from "../../src/pages/submit/same-in-code.ts";
import { curlSnippet, embedSnippet, pythonSnippet } from "../../src/pages/inference/snippets.ts";
import { CodeDesk } from "../helper/code-desk.ts";

t.setTimeout(600_000);
const ECHO_YAML = readFileSync(
  join(import.meta.dirname, "../../../examples/echo/inference.yaml"),
  "utf8",
);
/** What the coordinator looks for; the replica has a real model of its own. */
const MODEL = Object.fromEntries(EMBEDDINGS_FILES.needed.map((name) => [`model/${name}`, "{}"]));
const gateway = await TestGateway.make();
t.teardown(() => gateway[Symbol.asyncDispose]());
const running = await RunningCoordinator.create({ gatewaySha256: gateway.certificateSha256 });
t.teardown(() => running[Symbol.asyncDispose]());
await gateway.open(running);
const ada = await running.control("add-user", { username: "ada" });
const python = await clientPython("0.3.0");
// The client takes no folder below one whose name begins with a dot.
const folder = mkdtempSync(join(tmpdir(), "rt-code-"));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const desk = new CodeDesk(folder, running.caPem, {
  ...{ RESON_API_KEY: ada.platformKey, RESON_BASE_URL: running.url },
  ...{ RESON_S3_ACCESS_KEY_ID: ada.accessKeyId, RESON_S3_SECRET_ACCESS_KEY: ada.secretAccessKey },
  ...{ RESON_S3_ENDPOINT: running.s3.endpoint, RESON_DASHBOARD_URL: running.url },
});

let joined: ReturnType<typeof joinNode> | null = null;
const lastId = (printed: string) => /\bjob-[a-z0-9]+\b/.exec(printed)?.[0] ?? `none: ${printed}`;
const parametersOf = async (id: string) =>
  (await running.get(`/api/jobs/${id}/parameters`, ada.platformKey))
    .body as unknown as JobParametersReply;
const cancel = async (id: string) => {
  const { status } = await running.request("POST", `/api/tasks/${id}/cancel`, ada.platformKey, {});
  t.equal(status, 200);
};

t.test("a script with an input file is submitted by either", async (t) => {
  desk.put("train it.py", "print('hello')\n");
  desk.put("a b.csv", "1,2\n");
  const body = (name: string): SubmitCommandBody => ({
    ...{ kind: "command", name, scriptPath: `/jobs/${name}/scripts/train.py` },
    ...{ arguments: ["--it's", "two words"], environment: { SEED: "7" } },
    ...{ inputFolders: [`/jobs/${name}/inputs`], gpuModels: ["cpu"] },
  });
  for (const [name, submit] of [
    [
      "by-shell",
      (of: string) => desk.shell(commandInCode("train it.py", body(of), ["a b.csv"]).shell),
    ],
    [
      "by-python",
      (of: string) =>
        desk.python(python, commandInCode("train it.py", body(of), ["a b.csv"]).python),
    ],
  ] as const) {
    const id = lastId(await submit(name));
    t.match(
      await parametersOf(id),
      {
        ...{ name, arguments: ["--it's", "two words"], environment: { SEED: "7" } },
        inputs: [{ path: "payload/inputs/a b.csv" }, { path: "scripts/train.py" }],
      },
      name,
    );
    await cancel(id);
  }
});

t.test("a ready folder is submitted by the shell, a model by Python", async (t) => {
  for (const [path, content] of Object.entries(goodFiles())) desk.put(`my study/${path}`, content);
  desk.put(
    "my_model.py",
    "class Net:\n    pass\n\ndef fl_train(model, env, out_dir, logger=None):\n    return {'weights': {}, 'samples': 1}\n",
  );
  const wishes = {
    name: "A study",
    models: "cpu",
    price: "100",
    minutes: "5",
    pool: "",
    jobClass: "scavenger",
    makesWay: "no",
  } as const;
  const { shell, python: program } = folderInCode("my study", wishes);
  const shelled = lastId(await desk.shell(shell));
  t.match(await parametersOf(shelled), {
    ...{ name: "A study", timeLimitMinutes: 5, class: "scavenger", preemptible: false },
    gpuModels: ["cpu"],
  });
  await cancel(shelled);
  const asked = lastId(await desk.python(python, program));
  t.match(await parametersOf(asked), {
    ...{ name: "A study", gpuModels: ["cpu"], maxPricePerGpuHourCents: 100, rounds: 3 },
  });
  await cancel(asked);
  const nothing = folderInCode("my study", {
    name: "",
    models: "",
    price: "",
    minutes: "",
    pool: "",
    jobClass: "",
    makesWay: "",
  });
  const simple = lastId(await desk.python(python, nothing.python));
  t.match(await parametersOf(simple), { name: "my job", gpuModels: ["cpu"] });
  await cancel(simple);
});

t.test("a job like an earlier one, with files that came, went and changed", async (t) => {
  await upload(running.s3, ada.bucketAlias, "digits", goodFiles());
  const submitted = await running.request(
    ...(["POST", "/api/tasks", ada.platformKey, goodBody("digits")] as const),
  );
  const first = String(submitted.body["id"]);
  const { inputs } = await parametersOf(first);
  desk.put("scripts/model_def.py", "class Net: ...\n");
  desk.put("scripts/help.py", "HELP = 1\n");
  desk.put("shards/more.zip", goodFiles()["shards/shard_0.zip"] ?? "");
  const code = (slug: string) =>
    variantInCode(
      first,
      { name: slug, gpuModels: null, timeLimitMinutes: 5, estimatedMemoryMb: 64 },
      {
        files: [
          { input: "jobs/digits/scripts/model_def.py", key: `jobs/${slug}/scripts/model_def.py` },
        ],
        addedFiles: ["scripts/help.py", "shards/more.zip"].map((path) => ({
          ...{ path, key: `jobs/${slug}/${path}` },
        })),
        removedFiles: ["jobs/digits/shards/shard_0.zip"],
      },
      inputs,
    );
  const made = [
    lastId((await desk.shell(code("by-shell-2").shell)).trim()),
    lastId(await desk.python(python, code("by-python-2").python)),
  ];
  const [shelled, asked] = await Promise.all(made.map(parametersOf));
  t.match(shelled, { gpuModels: null, timeLimitMinutes: 5, estimatedMemoryMb: 64 });
  const paths = (of: JobParametersReply | undefined) =>
    of?.inputs.map(({ kind, key, path }) =>
      kind === "shard" ? key.slice(key.lastIndexOf("/")) : path,
    );
  t.same(paths(shelled), paths(asked));
  t.ok(paths(shelled)?.includes("/more.zip") && paths(shelled)?.includes("scripts/help.py"));
  t.notOk(paths(shelled)?.includes("/shard_0.zip"));
  await Promise.all([first, ...made].map(cancel));
});

t.test("a predictor is deployed by either, and is called by what its page shows", async (t) => {
  desk.put("FOLDER/inference.yaml", ECHO_YAML);
  desk.put("FOLDER/scripts/echo_serve.py", ECHO_SCRIPT);
  const { agent, keep } = await node();
  // The client makes a blank of a name a hyphen.
  const asking = desk.python(
    python,
    predictorInCode({ name: "by python", models: "cpu", pool: "" }).python,
  );
  const asked = await Promise.race([deployedAs(/^by[ -]python$/), asking.then(lastId)]);
  await gateway.answer(agent, asked);
  await keep(asked);
  t.equal(lastId(await asking), asked, "it waited until the deployment answered");

  const deploying = desk.shell(
    predictorInCode({ name: "by shell", models: "cpu", pool: "" }).shell,
  );
  const id = await Promise.race([deployedAs(/^by shell$/), deploying.then(lastId)]);
  await gateway.answer(agent, id);
  await keep(id);
  t.equal(lastId(await deploying), id);
  const key = await desk.shell("cat predict.key");
  const endpoint = `${running.url}/inference/${id}`;
  const env = { RESON_INFERENCE_API_KEY: key.trim() };
  desk.put("photo.png", "not quite a photo");
  t.match(JSON.parse(await desk.shell(curlSnippet(endpoint), env)), { bytes: 17 });
  t.match(await desk.python(python, pythonSnippet(endpoint), env), /'bytes': 17/);
});

t.test("texts become vectors by what the page of a deployment shows", async (t) => {
  const { agent, keep } = await node();
  const files = { "inference.yaml": "engine: embeddings\ncluster: {device: cpu}\n", ...MODEL };
  for (const [path, content] of Object.entries(files))
    await running.s3.store.put(
      ...([ada.bucketAlias, `inference_jobs/embeds/${path}`, content, "text/plain"] as const),
    );
  const { status, body } = await running.request(
    ...(["POST", "/api/inference/jobs", ada.platformKey] as const),
    { name: "embeds", jobPath: "/inference_jobs/embeds", gpuModels: ["cpu"] },
  );
  t.equal(status, 201, JSON.stringify(body));
  const embeds = String(body["jobId"]);
  await gateway.answerEmbeddings(agent, embeds);
  await keep(embeds);
  const key = String(body["apiKey"]);
  await untilFound("a gateway that has heard of it", async () => {
    const { status: told } = await running.get(`/inference/${embeds}/v1/models`, key);
    return told === 200;
  });
  const texts = ["it's", 'two "words"\tand $HOME'];
  const answer = await desk.shell(embedSnippet(`${running.url}/inference/${embeds}`, texts), {
    RESON_INFERENCE_API_KEY: key,
  });
  const { data } = JSON.parse(answer) as { data: { embedding: number[] }[] };
  t.same(
    data.map(({ embedding }) => embedding.length),
    [384, 384],
    "a vector of each text",
  );
});

/** The one node, which runs what is placed there and keeps its leases as a real agent does. Jobs before its time wait, and go when they are cancelled. */
function node(): ReturnType<typeof joinNode> {
  return (joined ??= joinNode());
}

async function joinNode() {
  const agent = await joinAgent(running, "node-a", 3);
  t.teardown(() => agent.close());
  await gateway.register(agent, 3);
  let held: Awaited<ReturnType<typeof agent.desiredOf>> = [];
  const beats = setInterval(() => void agent.beat(held).catch(() => {}), 2_000);
  t.teardown(() => clearInterval(beats));
  await agent.beat([]);
  const keep = async (job: string) => {
    held = [...held, ...(await agent.desiredOf(job, 1))];
  };
  return { agent, keep };
}

async function deployedAs(name: RegExp): Promise<string> {
  for (;;) {
    const { body } = await running.get("/api/inference/jobs?limit=100", ada.platformKey);
    const { deployments } = body as unknown as DeploymentListReply;
    const found = deployments.find((one) => name.test(one.name));
    if (found !== undefined) return found.id;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
