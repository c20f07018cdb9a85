/** `resontech jobs` as a process against the real coordinator: a job is watched and its logs are followed to its end. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { joinAgent } from "../../coordinator/test/helper/join-agent.ts";
import { RunningCoordinator } from "../../coordinator/test/helper/running-coordinator.ts";
import { goodBody, goodFiles, upload } from "../../coordinator/test/helper/workspace.ts";
import { Shell } from "./helper/shell.ts";

t.setTimeout(180_000);
const running = await RunningCoordinator.create();
t.teardown(() => running[Symbol.asyncDispose]());
const dir = mkdtempSync(join(tmpdir(), "rt-cli-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
writeFileSync(join(dir, "ca.crt"), running.caPem);
const user = await running.control({ verb: "add-user", username: "ada", admin: false });
if (!user.ok || user.verb !== "add-user") throw new Error("no user");
const agent = await joinAgent(running, "node-a", 2);
t.teardown(() => agent.close());
await agent.beat([]);

const env = {
  ...{ RESON_API_KEY: user.platformKey, RESON_BASE_URL: running.url },
  SSL_CERT_FILE: join(dir, "ca.crt"),
};
const key = user.platformKey;
const run = (...words: string[]) => Shell.run(env, ...words);

t.test("a job is listed, watched, followed and cancelled from a shell", async (t) => {
  t.match(await run("jobs", "ls"), { code: 0, out: "", said: /no job matches/ });
  await upload(running.s3, user.bucketAlias, "digits", goodFiles());
  const submitted = await running.request("POST", "/api/tasks", key, goodBody("digits"));
  const id = String(submitted.body["id"]);
  const watched = new Shell(env, "jobs", "watch", id);
  const followed = new Shell(env, "jobs", "logs", "-f", id);
  await watched.until(/QUEUED|RESERVED|PROVISIONING/);
  const members = await agent.desiredOf(id, 3);
  const [server, client] = members as [(typeof members)[0], (typeof members)[0]];
  await agent.bringUp(members);
  await agent.report(server, { kind: "job-started", nvflareJob: "nv-1" });
  await agent.report(server, { kind: "round-started", round: 0, numRounds: 3 });
  await watched.until(/RUNNING\n/);
  await watched.until(/round 0 of 3\n/);
  const print = (offset: number, text: string) =>
    agent.tail({
      ...{ job: id, member: client.member, offset, bytes: Buffer.byteLength(text), text },
    });
  await print(0, "epoch one\n");
  await followed.until(/--- site-1 ---\nepoch one\n/);
  await print(10, "\u001b[2Jé two\n");
  await followed.until(/\\u\{1b\}\[2Jé two\n/);

  t.match(await run("jobs", "ls", "--state", "RUNNING"), { code: 0, out: /digits +RUNNING +0\/3/ });
  t.match(await run("jobs", "ls", "--state", "-RUNNING"), { code: 0, out: "" });

  // The coordinator goes away and comes back: nothing is lost, nothing comes twice.
  await running.stop("SIGKILL");
  await running.start();
  t.match(await run("jobs", "cancel", id), { code: 0, said: /asked to stop/ });
  await watched.until(/STOPPING: user_cancelled\n/);
  t.match(watched.said, /not live: .*; trying again/);

  t.match(await run("jobs", "ls", "--text", "nothing"), { code: 0, out: "" });
  t.match(await run("jobs", "show", id), { code: 0, out: /site-1 +RUNNING +node-a +cpu/ });
  t.match(await run("jobs", "files", id), { code: 0, said: /left nothing yet/ });
  watched.kill();
  followed.kill();
});

t.test("what can't be done says why, with the API's own code", async (t) => {
  t.match(await run("jobs", "watch", "job-none"), { code: 1, said: /not_found: .*/ });
  t.match(await run("jobs", "logs", "-f", "job-none"), { code: 1, said: /not_found: .*/ });
  t.match(await run("jobs", "logs", "job-none"), { code: 1, said: /not_found: .*/ });
  t.match(await run("jobs", "ls", "--limit", "many"), { code: 2 });
});
