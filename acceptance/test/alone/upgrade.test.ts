/**
 * A newer bundle on the installed appliance and back again, beneath a running job and an endpoint. The newer release has a migration more. The
 * endpoint is a chat model, deployed from a shell, and called by the unmodified `openai` package for JavaScript before.
 */
import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { runChild } from "@resontech/house/run-child";
import { ChatDeployment } from "@resontech/house/chat-deployment";
import { LocalAppliance, repository } from "@resontech/house/local-appliance";
import { runningMembers } from "@resontech/house/member-containers";
import { ReleaseTree } from "@resontech/house/release-tree";
import { auditReport, isVerified, verdictsOf } from "@resontech/house/verify-audit";
import { SwitchWatch } from "@resontech/house/switch-watch";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
const installed = process.env["RT_TEST_BUNDLE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);
const quickstart = appliance.quickstart();
const api = new ApplianceApi(appliance);
t.teardown(() => api.close());

/** In the job's container: it lasts until the second file is there, however long both switches take. */
const [WAITS, GO_ON] = ["/tmp/waits", "/tmp/go-on"];
const VERSION = "0.9.0";

t.setTimeout(600_000);
const work = mkdtempSync(join(tmpdir(), "rt-upgrade-"));
t.teardown(() => rmSync(work, { recursive: true, force: true }));

const resontech = (...words: string[]) =>
  runChild(join(root, "current", "bin", "resontech"), words, {
    ...{ env: { PATH: process.env["PATH"], ...quickstart }, quiet: true },
  });

type Task = { id: string; status: string; detail: { attempt: number } };

async function task(method: "GET" | "POST", path: string, body?: unknown): Promise<Task> {
  const answer = await api.call(method, path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer.body as Task;
}

async function beginJob(name: string): Promise<string> {
  const script = join(work, "wait.py");
  writeFileSync(
    script,
    `import os, time
open("${WAITS}", "w").close()
while not os.path.exists("${GO_ON}"):
    time.sleep(0.2)
print("waited")
`,
  );
  await resontech("storage", "put", script, `jobs/${name}/scripts/wait.py`);
  const { id } = await task("POST", "/api/tasks", {
    ...{ kind: "command", name, scriptPath: `/jobs/${name}/scripts/wait.py` },
    ...{ gpuModels: ["cpu"], timeLimitMinutes: 10 },
  });
  await until(async () => (await task("GET", `/api/tasks/${id}`)).status === "RUNNING");
  return id;
}

/** The job that waits ends. */
function endWait(): void {
  const roots = runningMembers(appliance.engineSocket).map(({ pid }) => `/proc/${pid}/root`);
  const waiting = roots.find((root) => existsSync(join(root, WAITS)));
  if (waiting === undefined) throw new Error("no job waits");
  writeFileSync(join(waiting, GO_ON), "");
}

function partsWithNodeOptions(): string[] {
  return appliance
    .status()
    .parts.filter(({ pid }) => readFileSync(`/proc/${pid}/environ`).includes("NODE_OPTIONS="))
    .map(({ name }) => name);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 240_000; !(await holds()); ) {
    if (Date.now() > end) throw new Error("it did not come to that");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** A chat streams, and refuses in the API's own form. */
async function assertSpoken(t: Test, chat: ChatDeployment): Promise<void> {
  const { RESON_BASE_URL: base = "", SSL_CERT_FILE: rootCert = "" } = quickstart;
  const client = join(
    repository,
    "parts",
    "inference-gateway",
    "test",
    "openai",
    "clients",
    "call.ts",
  );
  const { stdout } = await promisify(execFile)(process.execPath, [client], {
    env: {
      ...process.env,
      ...{ BASE_URL: `${base}/v1`, API_KEY: chat.key, MODEL: chat.name },
      NODE_EXTRA_CA_CERTS: rootCert,
    },
  });
  const told = JSON.parse(stdout) as { chat: string; streamed: string };
  t.match(told, {
    models: [chat.name],
    chat: /\w/,
    aborted: 3,
    refused: { status: 404, code: "model_not_found", hasId: true },
  });
  t.equal(told.streamed, told.chat, "greedy both times");
}

t.test("a job and an endpoint live through an upgrade and a rollback", async (t) => {
  const tree = ReleaseTree.ofThis(join(work, "tree")).become({
    ...{ version: VERSION, releaseNumber: 2 },
    migration: "CREATE TABLE of_a_test (id INTEGER PRIMARY KEY) STRICT",
  });
  const { bundle } = await tree.build(join(work, "bundle"));
  mkdirSync(join(work, "chat"));
  const chat = await ChatDeployment.make(appliance, join(work, "chat"), {
    ...{ name: `lasting chat ${process.pid}`, slots: 2 },
  });
  const deployed = await chat.deploy();
  await assertSpoken(t, chat);
  const answered = await chat.answer();
  const job = await beginJob(`lasting-${process.pid}`);
  const release = (): string => readlinkSync(join(root, "current"));
  const before = release();

  const watch = SwitchWatch.ofApi(appliance);
  await appliance.upgrade(bundle);
  t.not(release(), before);
  t.same(await chat.answer(), answered, "the model answers as before");
  t.equal((await task("GET", `/api/tasks/${job}`)).status, "RUNNING");
  await appliance.command(["rollback", "--yes"]);
  t.equal(release(), before);
  t.same(await chat.answer(), answered, "and again");
  t.equal((await task("GET", `/api/tasks/${job}`)).status, "RUNNING");
  t.same(partsWithNodeOptions(), [], "no part has what the shell of the upgrade wants of Node");
  const seen = await watch.end();
  t.same(seen.strange, [], "whoever calls meanwhile is told to come again");
  t.comment(JSON.stringify(seen));

  endWait();
  await until(
    async () => !["QUEUED", "RUNNING"].includes((await task("GET", `/api/tasks/${job}`)).status),
  );
  t.match(await task("GET", `/api/tasks/${job}`), { status: "FINISHED", detail: { attempt: 1 } });
  await chat.remove(deployed);
  const report = await auditReport(appliance, work, [
    join(installed, "release.json"),
    join(bundle, "release.json"),
  ]);
  t.ok(isVerified(verdictsOf(report)), JSON.stringify(report.verdicts));
  t.ok(report.binaries.compared > 0);
});
