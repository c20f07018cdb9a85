/** `resontech infer` as a process against the real coordinator, the real gateway and a real replica. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { joinAgent } from "@resontech/coordinator/testing/join-agent";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
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
const agent = await joinAgent(running, "node-a", 2);
t.teardown(() => agent.close());
await gateway.register(agent, 2);
await agent.beat([]);

const home = { HOME: dir, SSL_CERT_FILE: join(dir, "ca.crt"), RESON_BASE_URL: running.url };
const env = { ...home, RESON_API_KEY: user.platformKey };
const run = (...words: string[]) => Shell.run(env, ...words);

/** What docs/researcher/predictors.md leads through; its README is not for the appliance. */
const folder = join(import.meta.dirname, "..", "..", "examples", "echo");
const words = join(dir, "words.txt");
writeFileSync(words, "hello");
const keyFile = join(dir, "echo.key");
let id = "";

t.test("a folder is deployed, waited for, and answers whoever has the key", async (t) => {
  t.match(await run("infer", "ls"), { code: 0, out: "", said: /no deployment matches/ });
  const deploying = new Shell(
    env,
    ...["infer", "deploy", folder, "--gpu-models", "cpu", "--key-file", keyFile, "--wait"],
  );
  await deploying.until(/^job-\S+\n$/);
  id = deploying.out.trim();
  await gateway.answer(agent, id);
  t.equal(await deploying.ended, 0, deploying.said);
  t.match(deploying.said, /deployed echo: its key is in .*\n.*it answers\n$/s);
  const key = readFileSync(keyFile, "utf8").trim();
  t.match(key, /^rpk_[\w-]{43}$/);
  t.equal(statSync(keyFile).mode & 0o777, 0o600);
  t.notOk(`${deploying.out}${deploying.said}`.includes(key), "the key is in its file alone");
  t.match(await running.s3.store.stat(user.bucketAlias, "inference_jobs/echo/inference.yaml"), {
    versionId: String,
  });
  t.equal(await running.s3.store.stat(user.bucketAlias, "inference_jobs/echo/README.md"), null);

  t.match(await run("infer", "ls"), { code: 0, out: new RegExp(`${id} +echo +running +1 `) });
  t.match(JSON.parse((await run("infer", "ls", "--json")).out), { id, ready: 1 });
  t.match(await run("jobs", "ls"), { code: 0, out: "" }, "it is no job");

  const top = await run("infer", "top", "--once");
  t.match(top, { code: 0, out: new RegExp(`^DEPLOYMENT.*REQ/S[^]*${id} +echo +HOT`) });
  t.match(JSON.parse((await run("infer", "top", "--once", "--json")).out), {
    ...{ id, serving: { state: "HOT", ready: 1 }, figures: { requestsPerSecond: Number } },
  });
  t.match(await run("infer", "usage"), { code: 0, said: /nobody has called/ });
  const call = await run("infer", "call", id, words, "--key-file", keyFile);
  t.match(call, { code: 0, out: '{"said":"> hello","bytes":5}\n' });
  // The gateway tells what its journal has each second.
  let usage = await run("infer", "usage", "--json");
  for (let tries = 0; tries < 200 && usage.out === ""; tries++) {
    await sleep(250);
    usage = await run("infer", "usage", "--json");
  }
  t.match(JSON.parse(usage.out), { deployment: id, keyId: null, calls: 1, failed: 0 });
  const tensors = ["infer", "call", id, words, "--key-file", keyFile, "--tensors"];
  const kept = join(dir, "said.safetensors");
  t.match(await run(...tensors, kept), {
    ...{ code: 0, out: /^NAME +TYPE +SHAPE OR VALUE\nsaid +JSON +"> hello"\nbytes +JSON +5\n$/ },
  });
  t.ok(statSync(kept).size > 8);
  t.match(await run(...tensors, kept), { code: 1, said: /file_exists/ });
  // A caller needs no platform key.
  const caller = await Shell.run(
    { ...home, RESON_INFERENCE_API_KEY: key },
    ...["infer", "call", id, words],
  );
  t.match(caller, { code: 0, out: /"bytes":5/ });
});

t.test("a new key takes the place of the old one in its file, which is refused", async (t) => {
  const before = readFileSync(keyFile, "utf8").trim();
  t.match(await run("infer", "rotate-key", id, "--key-file", keyFile), { code: 0, out: "" });
  const after = readFileSync(keyFile, "utf8").trim();
  t.not(after, before);
  t.match(await run("infer", "call", id, words, "--key-file", keyFile), { code: 0 });
  t.match(
    await Shell.run({ ...env, RESON_INFERENCE_API_KEY: before }, "infer", "call", id, words),
    { code: 1, out: "", said: /auth_error: .*\n.*rotate-key/ },
  );
  const printed = await run("infer", "rotate-key", id);
  t.match(printed, { code: 0, out: /^rpk_[\w-]{43}\n$/, said: /shown this once/ });
});

t.test("logs of the replica are followed until it is stopped", async (t) => {
  const [member] = await agent.desiredOf(id, 1);
  const followed = new Shell(env, "infer", "logs", "-f", id);
  const text = "loaded \u001b[2J\n";
  const tail = { job: id, member: member!.member, offset: 0 };
  await agent.tail({ ...tail, bytes: Buffer.byteLength(text), text });
  await followed.until(/loaded \\u\{1b\}\[2J\n/);
  t.match(await run("infer", "rm", id), { code: 0, said: /was asked to stop/ });
  t.match(await run("infer", "rm", id), { code: 0 }, "and once more without harm");
  followed.kill();
});

t.test("what can't be done says why", async (t) => {
  t.match(await run("infer", "deploy", join(dir, "none")), { code: 1, said: /path_missing/ });
  t.match(await run("infer", "deploy", dir), {
    ...{ code: 1, said: /folder_invalid: the folder has no inference\.yaml/ },
  });
  t.match(await run("infer", "deploy", folder, "--key-file", keyFile), {
    ...{ code: 1, said: /file_exists/ },
  });
  t.match(await run("infer", "rm", "job-none"), { code: 1, said: /not_found/ });
  t.match(await run("infer", "logs", "job-none"), { code: 1, said: /not_found/ });
  t.match(await run("infer", "call", id, words), { code: 1, said: /key_missing/ });
  t.match(await run("infer", "call", id, dir, "--key-file", keyFile), {
    ...{ code: 1, said: /file_missing/ },
  });
  t.match(await run("infer", "call", id), { code: 2 });
});
