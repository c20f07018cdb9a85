/** A chat model on the installed appliance: deployed from a shell, and called by the unmodified `openai` package for JavaScript. */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import { runChild } from "../../dev/child.ts";
import { LocalAppliance, repository } from "../../dev/local-appliance.ts";
import { llamaPython } from "../../serving/test/helper/llama-python.ts";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);
const quickstart = appliance.quickstart();
const { RESON_BASE_URL: base = "", SSL_CERT_FILE: rootCert = "" } = quickstart;
const client = join(repository, "serving", "test", "openai", "clients", "call.ts");

t.setTimeout(400_000);

t.test("a model in GGUF chats, streams, and refuses in the API's own form", async (t) => {
  const folder = join(t.testdir(), "small chat");
  mkdirSync(join(folder, "model"), { recursive: true });
  cpSync((await llamaPython()).weights, join(folder, "model", "chat.gguf"));
  writeFileSync(
    join(folder, "inference.yaml"),
    "engine: llama.cpp\nmodel: {path: chat.gguf}\ncluster: {device: cpu, max_ongoing_requests: 2}\nllama: {context_tokens: 1024}\n",
  );
  const keyFile = join(folder, "..", "chat.key");
  const resontech = (...words: string[]) =>
    runChild(join(root, "current", "bin", "resontech"), words, {
      env: { PATH: process.env["PATH"], ...quickstart },
    });
  const deployed = JSON.parse(
    await resontech("infer", "deploy", folder, "--key-file", keyFile, "--wait", "--json"),
  ) as { jobId: string };

  const { stdout } = await promisify(execFile)(process.execPath, [client], {
    env: {
      ...process.env,
      ...{ BASE_URL: `${base}/v1`, API_KEY: readFileSync(keyFile, "utf8").trim() },
      ...{ MODEL: "small chat", NODE_EXTRA_CA_CERTS: rootCert },
    },
  });
  const told = JSON.parse(stdout) as { chat: string; streamed: string };
  t.match(told, {
    models: ["small chat"],
    chat: /\w/,
    aborted: 3,
    refused: { status: 404, code: "model_not_found", hasId: true },
  });
  t.equal(told.streamed, told.chat, "greedy both times");
  await resontech("infer", "rm", deployed.jobId);
});
