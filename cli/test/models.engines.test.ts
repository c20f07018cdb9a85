/** `resontech models` as a process, and a federated job's checkpoint deployed and called: real coordinator, store, gateway and replica, scripted agent. */
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { joinAgent } from "@resontech/coordinator/testing/join-agent";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { goodBody, goodFiles, upload } from "@resontech/coordinator/testing/workspace";
import { CLEAN } from "@resontech/coordinator/testing/scripted-agent";
import { TestGateway } from "@resontech/inference-gateway/testing/test-gateway";
import { Shell } from "./helper/shell.ts";

t.setTimeout(600_000);
const gateway = await TestGateway.make();
t.teardown(() => gateway[Symbol.asyncDispose]());
const running = await RunningCoordinator.create({ gatewaySha256: gateway.certificateSha256 });
t.teardown(() => running[Symbol.asyncDispose]());
await gateway.open(running);
const dir = mkdtempSync(join(tmpdir(), "rt-cli-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
writeFileSync(join(dir, "ca.crt"), running.caPem);
const user = await running.control("add-user", { username: "ada" });
const agent = await joinAgent(running, "node-a", 4);
t.teardown(() => agent.close());
await gateway.register(agent, 4);
await agent.beat([]);
const env = {
  ...{ HOME: dir, SSL_CERT_FILE: join(dir, "ca.crt"), RESON_BASE_URL: running.url },
  RESON_API_KEY: user.platformKey,
};
const run = (...words: string[]) => Shell.run(env, ...words);
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

t.test("a model comes in, is shown with its digests, and goes", async (t) => {
  t.match(await run("models"), { code: 0, out: "", said: /the hub has no model/ });
  await running.s3.store.put(user.bucketAlias, "models/mini/config.json", "{}", "x/y");
  const from = ["--from", "/models/mini", "--licence", "MIT"];
  t.match(await run("models", "add", "lab/mini@v1", ...from, "--wait"), {
    ...{ code: 0, said: /lab\/mini@v1 has 1 files and is READY/ },
  });
  t.match(await run("models", "add", "lab/mini@v1", ...from), { said: /model_exists/ });
  t.match(await run("models", "ls"), { code: 0, out: /lab\/mini@v1 +READY +MIT +1 +2 bytes / });
  t.match(await run("models", "show", "lab/mini@v1"), {
    ...{ code: 0, out: new RegExp(`config.json +2 bytes +${sha256("{}")}`) },
  });
  t.match(await run("models", "show", "mini"), { said: /model_name_invalid/ });
  t.match(await run("models", "rm", "lab/mini@v1"), { code: 0 });
  t.match(await run("models", "show", "lab/mini@v1"), { said: /not_found/ });
});

t.test("what a federated job left is deployed by its id, and answers", async (t) => {
  await upload(running.s3, user.bucketAlias, "trained", goodFiles());
  const submitted = await running.request("POST", "/api/tasks", user.platformKey, {
    ...goodBody("trained"),
  });
  const id = String(submitted.body["id"]);
  const [server, ...clients] = await agent.desiredOf(id, 3);
  if (server === undefined) throw new Error("no member");
  await agent.bringUp([server, ...clients]);
  await agent.report(server, { kind: "job-started", nvflareJob: "nv-1" }, { kind: "finished" });
  await agent.upload(server, "model_out/checkpoint.pt", "the model");
  await agent.report(server, { kind: "outputs-uploaded", keys: ["model_out/checkpoint.pt"] });
  for (const client of clients) {
    await agent.report(client, { kind: "finished" }, { kind: "outputs-uploaded", keys: [] }, CLEAN);
  }
  await agent.report(server, CLEAN);

  const folder = join(dir, "echo");
  cpSync(join(import.meta.dirname, "..", "..", "examples", "echo"), folder, { recursive: true });
  const yaml = join(folder, "inference.yaml");
  const text = readFileSync(yaml, "utf8");
  writeFileSync(yaml, text.replace("model:", `model:\n  path: "job:${id}"`));
  const keyFile = join(dir, "echo.key");
  const deployed = await run(
    ...["infer", "deploy", folder, "--gpu-models", "cpu", "--key-file", keyFile, "--json"],
  );
  t.equal(deployed.code, 0, deployed.said);
  const { jobId } = JSON.parse(deployed.out) as { jobId: string };
  const [replica] = await agent.desiredOf(jobId, 1);
  const weights = replica?.inputs.find(({ kind }) => kind === "model");
  t.match(weights, { target: "model/checkpoint.pt", sha256: sha256("the model"), sizeBytes: 9 });
  const { urls } = await agent.stage(replica!);
  const url = urls.find((one) => one.id === weights?.id)?.url ?? "";
  t.equal(await (await fetchWithCa(running.caPem, url)).text(), "the model");
  await gateway.answer(agent, jobId);
  const shown = () => running.request("GET", `/api/inference/jobs/${jobId}`, user.platformKey);
  for (let tries = 0; tries < 2_000 && (await shown()).body["status"] !== "RUNNING"; tries++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  t.match((await shown()).body, {
    ...{ status: "RUNNING", weights: { named: `job:${id}`, sha256: sha256("the model") } },
  });
  const words = join(dir, "words.txt");
  writeFileSync(words, "hello");
  const called = await run("infer", "call", jobId, words, "--key-file", keyFile);
  t.match(called, { code: 0, out: /"said": ?"> hello"/ }, called.said);
});
