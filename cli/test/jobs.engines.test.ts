/** `resontech jobs` as a process against the real coordinator: a job is watched and its logs are followed to its end. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import t from "tap";
import { joinAgent } from "@resontech/coordinator/testing/join-agent";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { goodBody, goodFiles, upload } from "@resontech/coordinator/testing/workspace";
import { Shell } from "./helper/shell.ts";

t.setTimeout(600_000);
const running = await RunningCoordinator.create();
t.teardown(() => running[Symbol.asyncDispose]());
const dir = mkdtempSync(join(tmpdir(), "rt-cli-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
writeFileSync(join(dir, "ca.crt"), running.caPem);
const user = await running.control("add-user", { username: "ada" });
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
  await watched.until(/waiting|starting/);
  const members = await agent.desiredOf(id, 3);
  const [server, client] = members as [(typeof members)[0], (typeof members)[0]];
  await agent.bringUp(members);
  await agent.report(server, { kind: "job-started", nvflareJob: "nv-1" });
  await agent.report(server, { kind: "round-started", round: 0, numRounds: 3 });
  await watched.until(/running\n/);
  await watched.until(/round 0 of 3\n/);
  const print = (offset: number, text: string) =>
    agent.tail({
      ...{ job: id, member: client.member, offset, bytes: Buffer.byteLength(text), text },
    });
  await print(0, "epoch one\n");
  await followed.until(/--- site-1 ---\nepoch one\n/);
  await print(10, "\u001b[2Jé two\n");
  await followed.until(/\\u\{1b\}\[2Jé two\n/);

  t.match(await run("jobs", "ls", "--state", "RUNNING"), { code: 0, out: /digits +running +0\/3/ });
  t.match(await run("jobs", "ls", "--state", "-RUNNING"), { code: 0, out: "" });

  t.match(await run("jobs", "use", id), { code: 1, out: "", said: /figures_away: .*Prometheus/ });

  // The coordinator goes away and comes back: nothing is lost, nothing comes twice.
  await running.stop("SIGKILL");
  await running.start();
  t.match(await run("jobs", "cancel", id), { code: 0, said: /asked to stop/ });
  await watched.until(/finishing: user_cancelled\n/);
  t.match(watched.said, /not live: .*; trying again/);

  t.match(await run("jobs", "ls", "--text", "nothing"), { code: 0, out: "" });
  t.match(await run("jobs", "show", id), { code: 0, out: /site-1 +running +node-a +cpu/ });
  t.match(await run("jobs", "files", id), { code: 0, said: /left nothing yet/ });
  watched.kill();
  followed.kill();
});

t.test("a training is advised before it is submitted, by the workers that there are", async (t) => {
  const told = await run("advise", "--parameters", "350m", "--sequence", "128");
  t.match(told, { code: 0, said: /for GPUs the table alone advises/ });
  t.match(told.out, /fits on one GPU +1 to 8 +DDP\n/);
  t.match(told.out, /device +CPU slot \(cpu\) of .*: 2 online, 2 on one node\n/);
  t.match(told.out, /estimate +ours, for 2 slots: /);
  const named = await run("advise", "--parameters", "7b", "--gpu-models", "h100", "--json");
  t.match(JSON.parse(named.out), { devices: [{ model: "h100", row: "several-gpus" }] });
  const refused = { code: 2, out: "", said: /validation_failed: .*"7x" is no count/ };
  t.match(await run("advise", "--parameters", "7x"), refused);
  t.match(await run("advise", "--parameters", "7b", "--gpu-models", "h1"), {
    ...{ code: 2, out: "", said: /gpu_model_unknown/ },
  });
  t.match(await run("advise"), { code: 2, said: /--parameters/ });
  t.match(await run("advise", "--parameters", "7b", "--precision", "fp8"), {
    ...{ code: 2, said: /mixed, fp32, bf16/ },
  });
  t.match(await run("advise", "--help"), { code: 0, out: /Examples:\n +resontech advise/ });
});

t.test("what waits stands in its order, with a sentence why", async (t) => {
  await upload(running.s3, user.bucketAlias, "first", goodFiles());
  await upload(running.s3, user.bucketAlias, "second", goodFiles());
  const submit = async (slug: string, models: string[]) => {
    const task = { ...goodBody(slug), gpuModels: models };
    return String((await running.request("POST", "/api/tasks", key, task)).body["id"]);
  };
  // Both workers are held by the job before.
  const first = await submit("first", ["cpu"]);
  const second = await submit("second", ["cpu"]);
  const until = async (pattern: RegExp) => {
    for (;;) {
      const { out } = await run("queue");
      if (pattern.test(out)) return out;
    }
  };
  const listed = await until(new RegExp(`2 +${second}.*(?=needs|waits|worker)`, "i"));
  t.match(listed, new RegExp(`PLACE +JOB +NAME +CLASS +WAITS +STARTS +FOR\n1 +${first} `));
  const json = (await run("queue", "--json")).out.trim().split("\n");
  t.match(
    json.map((line) => JSON.parse(line) as object),
    [
      { place: 1, id: first, state: "QUEUED", expectedStart: String, noStart: null },
      { place: 2, id: second, state: "QUEUED", waitingFor: String, noStart: "no-end-stated" },
    ],
  );

  const one = await run("queue", second);
  t.match(one.out, /^starts +unknown: a job before it states no time limit$/m);
  t.match(one.out, /^workers +takes 2; 2 of 2 would do when they are free$/m);
  t.match(one.out, /^before it +1 job of \S+$/m);
  t.match(one.out, /^left out +2 busy$/m);
  t.match(
    one.out,
    /^HELD BY +CLASS +WORKERS +FOR +ENDS BY ITSELF\n\S+ +train +2 cpu +.*lets go now/m,
  );
  t.match(JSON.parse((await run("queue", second, "--json")).out), {
    ...{ id: second, state: "QUEUED", placed: null },
    wait: { needs: 2, excluded: [{ why: "busy", workers: 2 }], guarantee: "unset" },
  });
  t.match(await run("queue", "job-0000000000000000"), { code: 1, said: /not_found/ });

  // A limit binds whoever waits, and refuses who alone is more.
  await running.control("share-set", { id: user.project, limit: { cpu: 1 } });
  await upload(running.s3, user.bucketAlias, "wide", goodFiles());
  t.match(await running.request("POST", "/api/tasks", key, goodBody("wide")), {
    status: 403,
    body: {
      code: "share_limit_exceeded",
      message: /needs 2 workers; .* may hold at most 1 of cpu$/,
    },
  });
  await running.control("share-set", { id: user.project, limit: {}, personQueued: 2 });
  t.match(await running.request("POST", "/api/tasks", key, goodBody("wide")), {
    status: 409,
    body: { code: "person_queue_full", message: /^2 jobs of this person wait already in / },
  });
  await running.control("share-set", { id: user.project, personQueued: null });

  await run("jobs", "cancel", first);
  t.match(await run("queue"), { code: 0, out: new RegExp(`1 +${second} `) });
  await run("jobs", "cancel", second);
  t.match(await run("queue"), { code: 0, out: "", said: /no job waits/ });

  // The same inputs as a new job, whatever lies in the folder now.
  await running.s3.store.put(
    user.bucketAlias,
    "jobs/first/scripts/model_def.py",
    "x",
    "text/plain",
  );
  const again = await run("jobs", "resubmit", first);
  t.match(again, { code: 0, out: /^job-\S+\n$/, said: /submitted first once more/ });
  const third = again.out.trim();
  t.not(third, first);
  const inputs = async (id: string) => (await running.get(`/api/jobs/${id}/inputs`, key)).body;
  t.same(await inputs(third), await inputs(first));
  t.match(await run("jobs", "resubmit", first), { code: 1, said: /workspace_busy/ });
  await run("jobs", "cancel", third);

  // The same but for one file and a limit, which run beside it.
  writeFileSync(join(dir, "model_def.py"), "class Net: ...\n");
  const varied = await run(
    ...["jobs", "resubmit", first, "--name", "first 2", "--minutes", "5"],
    ...["--file", `scripts/model_def.py=${join(dir, "model_def.py")}`],
  );
  t.match(varied, { code: 0, out: /^job-\S+\n$/, said: /submitted first 2 once more/ });
  const compared = await run("jobs", "compare", first, varied.out.trim());
  t.match(compared, { code: 0, out: /time limit +none +5 min/ });
  t.match(compared.out, /scripts\/model_def\.py +16 bytes, .* +15 bytes, /);
  t.notMatch(compared.out, /configs\/meta\.json/);
  t.match(await run("jobs", "compare", "--all", first, varied.out.trim()), {
    out: /configs\/meta\.json/,
  });
  const asJson = (await run("jobs", "compare", "--json", first)).out;
  t.match(JSON.parse(asJson), { job: { jobId: first }, parameters: { name: "first" }, series: [] });
  for (const option of ["--file", "--remove"])
    t.match(await run("jobs", "resubmit", first, option, "scripts/none.py"), {
      code: 2,
      said: /the job read no file scripts\/none\.py/,
    });

  // A file comes and one goes; what could be no file of the job is refused before anything is sent.
  writeFileSync(join(dir, "help.py"), "HELP = 1\n");
  const { "shards/shard_0.zip": sites = "" } = goodFiles();
  writeFileSync(join(dir, "more.zip"), sites);
  const more = await run(
    ...["jobs", "resubmit", first, "--name", "first 3"],
    ...["--add", `scripts/help.py=${join(dir, "help.py")}`],
    ...["--add", `shards/more.zip=${join(dir, "more.zip")}`, "--remove", "shards/shard_0.zip"],
  );
  t.match(more, { code: 0, out: /^job-\S+\n$/ });
  const moreInputs = JSON.stringify(await inputs(more.out.trim()));
  t.match(moreInputs, /jobs\/first-3\/scripts\/help\.py/);
  t.match(moreInputs, /jobs\/first-3\/shards\/more\.zip/);
  t.notMatch(moreInputs, /shard_0\.zip/);
  await run("jobs", "cancel", more.out.trim());
  const add = (path: string) =>
    run("jobs", "resubmit", first, "--name", "none", "--add", `${path}=${join(dir, "help.py")}`);
  t.match(await add("notes/help.py"), { code: 2, said: /file_place_unknown: .*\n {2}Add files/ });
  t.match(await add("scripts/model_def.py"), { code: 2, said: /file_named_twice: / });
  t.same(
    await running.s3.store.list(user.bucketAlias, "jobs/none/", 10),
    [],
    "nothing of them was sent",
  );
  await run("jobs", "cancel", varied.out.trim());

  // A version that is gone: its content in a later version will do, another content will not.
  const shard = "jobs/first/shards/shard_0.zip";
  const kept = await running.s3.store.stat(user.bucketAlias, shard);
  const { "shards/shard_0.zip": content = "" } = goodFiles();
  await running.s3.store.put(user.bucketAlias, shard, content, "application/zip");
  await running.s3.store.remove(user.bucketAlias, shard, kept?.versionId);
  const fourth = await run("jobs", "resubmit", first, "--json");
  t.equal(fourth.code, 0, fourth.said);
  const { id } = JSON.parse(fourth.out) as { id: string };
  await run("jobs", "cancel", id);
  const later = await running.s3.store.stat(user.bucketAlias, shard);
  await running.s3.store.remove(user.bucketAlias, shard, later?.versionId);
  await running.s3.store.put(user.bucketAlias, shard, "another", "application/zip");
  t.match(await run("jobs", "resubmit", first), {
    ...{ code: 1, out: "", said: /inputs_gone: 1 of \d+ inputs .*shard_0\.zip\n {2}Upload/ },
  });
  t.match(await run("jobs", "resubmit", "job-none"), { code: 1, said: /not_found/ });
});

t.test("a job is held until another one has ended, and repeats by a calendar", async (t) => {
  const folder = join(dir, "study");
  for (const [path, content] of Object.entries(goodFiles())) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const submit = (...words: string[]) => run("submit", folder, "--gpu-models", "cpu", ...words);
  const earlier = (await submit("--name", "earlier")).out.trim();
  const held = await submit("--name", "later", "--after", `${earlier}:ended`);
  const later = held.out.trim();
  t.match(held, { code: 0, said: new RegExp(`it waits: waits for ${earlier} .earlier. to end`) });
  t.match(await run("queue"), { out: new RegExp(`held +${later} +later .*waits for ${earlier}`) });
  t.match(await submit("--name", "never", "--after", "job-none"), { code: 1, said: /not_found/ });
  t.match(await submit("--name", "never", "--after", `${earlier}:late`), {
    ...{ code: 2, said: /after_invalid/ },
  });
  await run("jobs", "cancel", earlier);
  const third = await run("jobs", "resubmit", earlier, "--name", "third", "--after", later);
  t.match(await run("queue"), { out: new RegExp(`held +${third.out.trim()} +third .*to succeed`) });
  const order = await running.request("GET", `/api/jobs/${later}/order`, key);
  t.match(order.body, {
    after: [{ job: earlier, name: "earlier", when: "ended" }],
    before: [{ name: "third", when: "succeeded", state: "HELD" }],
  });

  const add = (...words: string[]) =>
    run("schedules", "add", "--cron", "0 3 * * *", "--zone", "UTC", ...words);
  t.match(await add(), { code: 2, said: /schedule_of_one/ });
  const added = await add("--job", earlier, "--name", "nightly");
  t.match(added, { code: 0, out: /^s_\w+\n$/, said: /nightly runs next .*T03:00:00/ });
  const schedule = added.out.trim();
  t.match(await run("schedules", "ls"), {
    ...{ code: 0, out: new RegExp(`${schedule} +nightly +0 3 . . . UTC +20.*T03:00`) },
  });
  t.match(await run("schedules", "runs", schedule), { code: 0, out: "", said: /no run yet/ });
  t.match(await run("schedules", "pause", schedule), { code: 0, said: /next paused/ });
  t.match(JSON.parse((await run("schedules", "ls", "--json")).out), { pausedBy: "person" });
  t.match(await run("schedules", "resume", schedule), { code: 0, said: /next 20/ });

  // The time that it waits for has come, and passed while the appliance was off.
  await running.stop("SIGKILL");
  running.changeRows((db) => {
    db.prepare("UPDATE schedules SET next_at = ?").run(Date.now() - 86_400_000);
  });
  await running.start();
  let runs = "";
  while (!/submitted +job-/.test(runs)) runs = (await run("schedules", "runs", schedule)).out;
  const [made] = /job-\w+/.exec(runs)!;
  t.match(await run("jobs", "show", made), { code: 0, out: /earlier/ });
  await run("jobs", "cancel", made);
  await run("jobs", "cancel", later);
  t.match(await run("schedules", "rm", schedule), { code: 0, said: /removed/ });
  t.match(await run("schedules", "ls"), { code: 0, out: "", said: /no schedule/ });
});

t.test("a script becomes several ranks, with the folders that they read", async (t) => {
  const script = join(dir, "train.py");
  writeFileSync(script, "import os\nfolder = os.environ['RESONTECH_CHECKPOINT_DIR']\n");
  mkdirSync(join(dir, "faces"));
  writeFileSync(join(dir, "faces", "a.csv"), "1,2\n");
  const submit = (...words: string[]) => run("submit", script, "--gpu-models", "cpu", ...words);
  const ranks = ["--gpus", "2", "--strategy", "ddp", "--data", join(dir, "faces")];
  const submitted = await submit(...ranks, "--argument=--epochs=3", "--name", "faces");
  t.match(submitted, { code: 0, out: /^job-\S+\n$/, said: /submitted faces/ });
  const id = submitted.out.trim();
  const { body } = await running.request("GET", `/api/jobs/${id}/parameters`, key);
  t.match(body, {
    ...{ kind: "distributed", script: "jobs/faces/scripts/train.py" },
    ...{ arguments: ["--epochs=3"], gpuModels: ["cpu"], ranks: 2, strategy: "ddp" },
  });
  t.match(await run("jobs", "show", id), {
    ...{ code: 0, out: /^ranks +2 in 2 members, 1 worker each; ddp$/m },
  });
  t.match(body["inputs"], [{ path: "payload/faces/a.csv" }, { path: "scripts/train.py" }]);
  await run("jobs", "cancel", id);

  t.match(await submit("--gpus", "2", "--strategy", "zero"), {
    ...{ code: 2, said: /strategy_unknown/ },
  });
  t.match(await submit("--strategy", "ddp"), { code: 2, said: /ranks_of_script/ });
  t.match(await run("submit", join(dir, "faces"), "--gpus", "2"), {
    ...{ code: 2, said: /ranks_of_script/ },
  });
});

t.test("nodes are an administrator's, workers everybody's", async (t) => {
  const admin = await running.control("add-user", { username: "root" });
  running.giveRoles(admin.userId, ["platform-admin"]);
  const as = (...words: string[]) =>
    Shell.run({ ...env, RESON_API_KEY: admin.platformKey }, ...words);
  t.match(await as("nodes"), { code: 0, out: /^NODE +STATE +BUSY.*\nnode-a +ready +\d of 2 / });
  // A key is never an administrator who signed in.
  t.match(await as("nodes", "show", "node-a"), { code: 1, said: /role_required/ });
  t.match(JSON.parse((await as("nodes", "ls", "--json")).out), { node: "node-a", workers: 2 });
  t.match(await run("nodes", "ls"), { code: 1, out: "", said: /role_required|not_permitted/ });
  t.match(await run("nodes", "workers"), { code: 0, out: /node-a +cpu +(free|busy|unavailable) / });
});

t.test("what can't be done says why, with the API's own code", async (t) => {
  t.match(await run("jobs", "watch", "job-none"), { code: 1, said: /not_found: .*/ });
  t.match(await run("jobs", "logs", "-f", "job-none"), { code: 1, said: /not_found: .*/ });
  t.match(await run("jobs", "logs", "job-none"), { code: 1, said: /not_found: .*/ });
  t.match(await run("jobs", "ls", "--limit", "many"), { code: 2 });
});

t.test(
  "a script becomes an array of jobs, which is shown and cancelled from a shell",
  async (t) => {
    const script = join(dir, "fit.py");
    writeFileSync(script, "print('fits')\n");
    const grid = ["--grid", "lr=0.1,0.01", "--grid", "depth=2,4"];
    const made = await run("submit", script, ...grid, "--array", "%2", "--gpu-models", "cpu");
    t.match(made, { code: 0, said: /submitted 4 jobs of fit: resontech arrays show a_/ });
    const id = made.out.trim();
    const shown = await run("arrays", "show", id);
    t.match(shown, { code: 0, said: /^fit: 4 wait$/m });
    t.match(
      shown.out,
      /^POINT +lr +depth +STATE +JOB\n0 +0\.1 +2 .*\n1 +0\.1 +4 .*\n2 +0\.01 +2 +waiting/,
    );
    t.match(await run("arrays", "ls"), { code: 0, out: new RegExp(`${id} +fit +4 +4 wait +ada`) });
    const { body } = await running.request("GET", `/api/arrays/${id}`, key);
    const points = body["points"] as { job: { id: string; name: string; outputPath: string } }[];
    t.match(points[3], { job: { name: "fit 3", outputPath: "/jobs/fit-3", state: "HELD" } });
    const { body: parameters } = await running.request(
      ...(["GET", `/api/jobs/${points[3]!.job.id}/parameters`, key] as const),
    );
    t.match(parameters, {
      arguments: ["--lr=0.01", "--depth=4"],
      environment: { RESONTECH_ARRAY_INDEX: "3", RESONTECH_ARRAY_COUNT: "4" },
    });

    const stranger = await running.control("add-user", { username: "eve" });
    const asked = await running.request("GET", `/api/arrays/${id}`, stranger.platformKey);
    t.equal(asked.status, 404, "it is nobody else's");
    const theirs = await running.request("GET", "/api/arrays", stranger.platformKey);
    t.same(theirs.body, { arrays: [] });
    const stopped = await running.request(
      ...(["POST", `/api/arrays/${id}/cancel`, stranger.platformKey] as const),
    );
    t.equal(stopped.status, 404);

    t.match(await run("arrays", "cancel", id), { code: 0, said: /4 jobs were asked to stop/ });
    t.match(await run("arrays", "show", id), { code: 0, said: /^fit: 4 did not succeed$/m });
    t.match(await run("submit", script, "--array", "9-3"), { code: 1, said: /3 before 9/ });
    t.match(await run("submit", script, "--array", "all"), { code: 2, said: /array_unreadable/ });
    const unranked = await run("submit", script, "--array", "0-1", "--strategy", "ddp");
    t.match(unranked, { code: 2, said: /ranks_of_script/ });
  },
);
