import { generateKeyPairSync, hash } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { EVENT_CATALOGUE } from "@resontech/contracts/audit-catalogue";
import { exchangeOnSocket } from "@resontech/frame/exchange-on-socket";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import Database from "better-sqlite3";
import t from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { policiesInForce } from "../src/authorization/policies-in-force.ts";
import { bucketPolicy } from "../src/storage/decisions/bucket-policy.ts";
import { S3ObjectStore } from "../src/storage/object-store.ts";
import { S3ResponseError, S3Transport } from "../src/storage/s3-transport.ts";
import { operatorRoutes } from "./helper/operator-routes.ts";
import { joinAgent } from "./helper/join-agent.ts";
import { RunningCoordinator } from "./helper/running-coordinator.ts";
import { goodBody, goodFiles, upload } from "./helper/workspace.ts";
import { makeSigningRequest } from "./nodes/node-certificates.ts";
import { shippedProgram } from "@resontech/house/shipped-program";

/** Of a release it has what nodes know it by, and no file. */
const releaseDir = t.testdir({
  "release-manifest.json": JSON.stringify({
    ...{ formatVersion: 1, product: "resontech-appliance", version: "0.2.0", sourceDateEpoch: 1 },
    ...{ upgradeFrom: [], diskNeedBytes: 1, phases: [], engines: {}, images: [], blobs: [] },
    tree: [],
  } satisfies ReleaseManifest),
  signed: { "release.json": "the signed statement" },
});
const coordinator = await RunningCoordinator.create({ releaseDir });
t.teardown(() => coordinator[Symbol.asyncDispose]());
const alice = await coordinator.control("add-user", { username: "alice" });
const key = alice.platformKey;
const jobOf = async (id: string) =>
  (await coordinator.get(`/api/tasks/${id}`, key)).body as {
    status: string;
    detail: { state: string; waitingFor: string | null };
  };

t.test("the operator is served on the control socket", async (t) => {
  t.match(alice, { username: "alice", platformKey: /^rsk_dev_/, bucketAlias: /^alice-/ });
  t.match(await coordinator.control("status"), {
    jobs: {},
    nodes: [],
    generation: 1,
    policySet: policiesInForce().sha256,
  });
  t.match(await coordinator.refused("add-user", { username: "alice" }), {
    code: "user_exists",
  });
  const study = { name: "Study", team: "radiology", lead: "alice" };
  t.match(await coordinator.control("project-add", study), { id: /^p_/, name: "Study" });
  t.match(await coordinator.refused("project-add", study), { code: "project_exists" });
  t.match(await coordinator.refused("project-add", { ...study, name: "b", lead: "nobody" }), {
    ...{ code: "not_found" },
  });
  t.match(await coordinator.control("project-list"), {
    projects: [
      { name: "Study", team: "radiology", leads: ["alice"], members: 1, bucket: /^study-/ },
      { name: "default", team: null, leads: ["alice"] },
    ],
  });
  t.match(await coordinator.control("registry-login", { repository: "resontech/fl-cpu" }), {
    password: /.{40}/,
  });
  t.match(await coordinator.control("site-files", { username: "alice", allowed: true }), {
    allowed: true,
  });
  t.match(await coordinator.refused("site-files", { username: "nobody", allowed: true }), {
    code: "not_found",
  });
  t.match(await coordinator.control("maintenance", { forS: 5 }), { until: /Z$/, untold: [] });
});

t.test("each socket answers its own callers alone", async (t) => {
  t.match(await coordinator.get("/api/operator/status", key), {
    ...{ status: 404, body: { code: "not_found" } },
  });
  for (const path of ["/api/tasks", "/auth/sign-in", "/readyz"])
    t.match(
      await exchangeOnSocket(coordinator.config.controlSocket, {
        ...{ method: "GET", path, body: null, timeoutMs: 60_000 },
        headers: { authorization: `Bearer ${key}` },
      }),
      { status: 404 },
      path,
    );
});

/** Whether somebody takes connections there now. */
async function isListening(socket: string): Promise<boolean> {
  const connection = connect(socket);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  connection.once("connect", () => resolve(true)).once("error", () => resolve(false));
  const answer = await promise;
  connection.destroy();
  return answer;
}

t.test("whoever sees it healthy is answered on root's socket too", async (t) => {
  const { controlSocket, listen } = coordinator.config;
  for (let start = 0; start < 3; start++) {
    await coordinator.stop("SIGKILL");
    const started = coordinator.start();
    // The look follows at once: each moment between the two sockets would count.
    while (!(await isListening(listen.socket)));
    t.ok(await isListening(controlSocket));
    await started;
  }
});

t.test("a node joins by its token, once", async (t) => {
  const made = await coordinator.control("join-token", { node: "node-a", ttlS: 60 });
  const { csrPem } = await makeSigningRequest("whatever");
  const body = { token: made.token, csr: csrPem };
  const joined = await coordinator.request("POST", "/api/nodes/join", undefined, body);
  t.match(joined, {
    status: 200,
    body: {
      node: "node-a",
      certChain: /BEGIN CERTIFICATE/,
      natsUrl: coordinator.config.natsPublicUrl,
    },
  });
  t.match(await coordinator.request("POST", "/api/nodes/join", undefined, body), {
    status: 401,
    body: { code: "join_token_invalid" },
  });
  t.match(
    await coordinator.request("POST", "/api/nodes/join", undefined, { token: "x", csr: "y" }),
    { status: 401 },
  );
  t.match(await coordinator.control("node-list"), [
    { node: "node-a", state: "JOINED", workers: 0 },
  ]);
  t.match(await coordinator.get("/api/nodes", key), { body: { code: "role_required" } });
});

let submitted = "";
t.test("a task is accepted, waits, and outlives kill -9", async (t) => {
  await upload(coordinator.s3, alice.bucketAlias, "digits", goodFiles());
  const reply = await coordinator.request("POST", "/api/tasks", key, goodBody("digits"));
  t.match(reply, { status: 201, body: { status: "QUEUED", name: "digits" } });
  submitted = String(reply.body["id"]);
  t.match(await coordinator.request("POST", "/api/tasks", key, goodBody("digits")), {
    status: 409,
    body: { code: "workspace_busy" },
  });
  for (let kill = 0; kill < 3; kill++) {
    await coordinator.stop("SIGKILL");
    await coordinator.start();
    t.match(await jobOf(submitted), { status: "QUEUED", detail: { state: "QUEUED" } });
  }
  t.match(await coordinator.get("/api/customer/dashboard/jobs", key), {
    body: [{ jobId: submitted, state: "QUEUED" }],
  });
  t.match(
    await coordinator.get(`/api/customer/dashboard/listJobsNvflare?job_id=${submitted}`, key),
    { body: { jobs: [] } },
  );
  t.match(
    await coordinator.get(`/api/customer/dashboard/showStatsNvflare?job_id=${submitted}`, key),
    {
      body: { current_round: null },
    },
  );
  t.match(await coordinator.get("/api/gpu-catalog", key), { status: 200 });
});

t.test("a start gives a bucket of an older program the rights of this one", async (t) => {
  const { bucketAlias: bucket, accessKeyId, secretAccessKey } = alice;
  const { endpoint, region, caFile, store } = coordinator.s3;
  await coordinator.stop("SIGKILL");
  const policy = JSON.parse(
    JSON.stringify(bucketPolicy(bucket, [accessKeyId])).replaceAll(/"s3:[A-Za-z]*Tagging",/g, ""),
  ) as object;
  await store.setBucketPolicy(bucket, policy);
  const db = new Database(coordinator.config.databaseFile);
  db.exec("UPDATE buckets SET rights = NULL");
  db.close();
  using own = new S3Transport({
    endpoint,
    region,
    ca: readFileSync(caFile, "utf8"),
    credentials: { accessKeyId, secretAccessKey },
  });
  await own.send({ method: "PUT", path: [bucket, "tagged"], body: "1" });
  const body = "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>";
  const tag = () =>
    own.send({ method: "PUT", path: [bucket, "tagged"], query: { tagging: "" }, body });
  await t.rejects(tag(), { code: "AccessDenied" });
  await coordinator.start();
  const isAllowed = () =>
    tag().then(
      () => true,
      () => false,
    );
  for (let tries = 0; tries < 1_000 && !(await isAllowed()); tries++) await sleep(50);
  t.ok(await isAllowed());
});

t.test("cancelling ends it, and cancelling again changes nothing", async (t) => {
  t.match(await coordinator.request("POST", `/api/tasks/${submitted}/cancel`, key), {
    status: 200,
  });
  const ended = await jobOf(submitted);
  t.match(ended, {
    status: "FAILED",
    detail: {
      ...{ state: "CANCELLED", reason: "user_cancelled" },
      error: { code: "user_cancelled", message: "alice cancelled the job." },
    },
  });
  t.match(await coordinator.request("POST", `/api/tasks/${submitted}/cancel`, key), {
    status: 200,
    body: { detail: { state: "CANCELLED" } },
  });
  t.match(
    await coordinator.request("POST", "/api/tasks", key, goodBody("digits")),
    { status: 201 },
    "the folder is free again",
  );
});

t.test(
  "the operator lists, renews and revokes keys; a renewed key is the same secret",
  async (t) => {
    const bob = await coordinator.control("add-user", { username: "bob" });
    const [first] = (await coordinator.control("key-list", { username: "bob" })).keys;
    t.match(first, { username: "bob", state: "living", lastUsedAt: null });
    t.notOk(JSON.stringify(first).includes(bob.platformKey));
    const renewed = await coordinator.control("key-renew", { key: first!.key, days: 90 });
    const days = (Date.parse(renewed.expiresAt) - Date.now()) / 86_400_000;
    t.ok(days > 89.9 && days <= 90, `${days}`);
    t.equal((await coordinator.get("/api/keys", bob.platformKey)).status, 200);
    t.match(
      await coordinator.control("key-renew", { key: first!.key.slice(0, 12), days: 30 }),
      { key: first!.key },
      "by its beginning",
    );
    const [other] = (await coordinator.control("key-list", { username: "alice" })).keys;
    t.match(
      await coordinator.refused("key-revoke", { key: "k_" }),
      { code: "id_ambiguous", message: new RegExp(`(${first!.key}|${other!.key}), `) },
      "each of several is named, and none is revoked",
    );
    t.match(await coordinator.refused("key-revoke", { key: "k_zzzz" }), {
      code: "not_found",
      message: /`appliance key ls`/,
    });
    t.equal((await coordinator.get("/api/keys", bob.platformKey)).status, 200);
    t.match(await coordinator.control("key-revoke", { key: first!.key.slice(0, -1) }), {
      key: first!.key,
    });
    t.match(await coordinator.get("/api/keys", bob.platformKey), {
      status: 401,
      body: { code: "invalid_api_key" },
    });
    t.match(
      await coordinator.refused("key-renew", { key: first!.key, days: 1 }),
      { code: "not_found" },
      "revoked for good",
    );
    t.match(await coordinator.refused("key-list", { username: "nobody" }), {
      code: "not_found",
      message: /nobody/,
    });
  },
);

/** What the store says of an upload with a key pair: `ok`, or its error's code. */
async function stores(pair: {
  bucketAlias: string;
  accessKeyId: string;
  secretAccessKey: string;
}): Promise<string> {
  const { endpoint, region, caFile } = coordinator.s3;
  using transport = new S3Transport({
    endpoint,
    region,
    ca: readFileSync(caFile, "utf8"),
    credentials: pair,
  });
  try {
    await new S3ObjectStore(transport).put(pair.bucketAlias, "a", "1", "text/plain");
    return "ok";
  } catch (error) {
    return error instanceof S3ResponseError ? error.code : String(error);
  }
}

t.test("the operator guarantees a project workers, and looks at who has what", async (t) => {
  const { projects } = await coordinator.control("project-list");
  const { project: id } = projects[0]!;
  t.match(await coordinator.control("share-set", { id, guarantee: { cpu: 1 }, weight: 2 }), {
    ...{ id, kind: "project", guarantee: { cpu: 1 }, limit: {}, weight: 2 },
  });
  const { shares } = await coordinator.control("share-list");
  t.match(
    shares.find((share) => share.id === id),
    { guarantee: { cpu: 1 }, held: {} },
  );
  t.match(await coordinator.control("share-set", { id, guarantee: {}, weight: 1 }), {
    guarantee: {},
  });
});

t.test("the operator makes a pool and closes its nodes, and takes both back", async (t) => {
  const pool = { name: "cardio", kind: "managed" as const, project: alice.project };
  t.match(await coordinator.control("pool-add", pool), { name: "cardio", lends: false, nodes: [] });
  const { id: poolId } = (await coordinator.control("pool-list")).pools[0]!;
  t.match(await coordinator.control("pool-set", { id: "cardio", lends: true }), { lends: true });
  const from = new Date().toISOString();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const { id } = await coordinator.control("calendar-add", { pool: poolId, from, until });
  t.match(await coordinator.refused("calendar-set", { id, until: "2020-01-01T00:00Z" }), {
    code: "validation_failed",
  });
  t.match(await coordinator.refused("pool-remove", { id: poolId }), { code: "pool_conflict" });
  t.same(await coordinator.control("calendar-remove", { id }), { id });
  t.match(await coordinator.control("calendar-list"), { entries: [] });
  t.same(await coordinator.control("pool-remove", { id: "cardio" }), { id: poolId });
});

t.test("a group gives a role in a project, or asks for one of the whole appliance", async (t) => {
  const [project, group] = [alice.project, "corp/doctors"];
  t.match(await coordinator.control("group-map", { group, project, role: "researcher" }), {
    role: "researcher",
  });
  t.match(await coordinator.control("group-list"), { groups: [{ group, role: "researcher" }] });
  t.match(await coordinator.refused("group-map", { group, project: null, role: "viewer" }), {
    code: "role_without_project",
  });
  t.match(await coordinator.control("group-unmap", { group, project }), { taken: 1 });
  t.match(await coordinator.refused("group-unmap", { group, project }), {
    code: "not_found",
  });
});

t.test(
  "a user who is disabled is refused over the API and at the store, and gets a new key pair when enabled",
  async (t) => {
    const carol = await coordinator.control("add-user", { username: "carol" });
    await coordinator.control("user-quota", { username: "carol", bytes: 1_000_000 });
    t.match(await coordinator.control("user-show", { username: "carol" }), {
      user: {
        username: "carol",
        quotaBytes: 1_000_000,
        isDisabled: false,
        livingKeys: 1,
        livingJobs: 0,
      },
      keys: [{ username: "carol" }],
    });
    await coordinator.control("user-disable", { username: "carol" });
    t.match(await coordinator.get("/api/keys", carol.platformKey), {
      status: 403,
      body: { code: "user_disabled" },
    });
    t.equal(await stores(carol), "InvalidAccessKeyId", "the engine has forgotten the pair");
    t.match(await coordinator.refused("add-user", { username: "carol" }), {
      code: "user_exists",
    });
    const enabled = await coordinator.control("user-enable", { username: "carol" });
    t.not(enabled.accessKeyId, carol.accessKeyId);
    const { accessKeyId, secretAccessKey } = enabled;
    if (accessKeyId === null || secretAccessKey === null) throw new Error("carol has no pair");
    t.equal(await stores({ ...carol, accessKeyId, secretAccessKey }), "ok");
    t.equal((await coordinator.get("/api/keys", carol.platformKey)).status, 200);
    t.match(await coordinator.refused("user-enable", { username: "carol" }), {
      code: "user_enabled",
    });
    t.same(
      (await coordinator.control("user-list")).users.map(
        ({ username, isDisabled }) => `${username} ${isDisabled}`,
      ),
      ["alice false", "bob false", "carol false"],
    );
    const forget = (withBucket: boolean) =>
      coordinator.refused("user-forget", { username: "carol", withBucket });
    t.match(await forget(true), { code: "user_not_disabled" });
    const traces = await coordinator.control("user-traces", { username: "carol" });
    t.match(traces, {
      ...{ username: "carol", hasAccount: false, directory: null },
      bucket: { name: /^carol-/, objects: 1 },
      rows: [{ part: "project" }, { part: "project-founded" }, { part: "platform-key", count: 1 }],
    });
    await coordinator.control("user-disable", { username: "carol" });
    const kept = await coordinator.control("user-forget", { username: "carol", withBucket: false });
    const { username } = kept;
    t.match(kept, { username: /^forgotten-/, bucket: traces.bucket?.name, userId: traces.userId });
    t.match(await coordinator.control("user-forget", { username, withBucket: true }), {
      bucket: null,
    });
    t.match(await coordinator.control("user-traces", { username }), {
      bucket: { name: /^forgotten-/, usedBytes: 0, objects: 0 },
    });
    t.match(await forget(true), { code: "not_found" });
  },
);

t.test("who has a duty has no bucket and no key; the host takes a member out", async (t) => {
  const aude = { username: "aude", duty: "compliance-auditor" } as const;
  const { userId } = await coordinator.control("add-person", { ...aude });
  t.equal((await coordinator.control("add-person", { ...aude })).userId, userId, "made once");
  t.match(await coordinator.refused("add-user", { username: "aude" }), {
    code: "user_exists",
  });
  t.match(await coordinator.control("user-show", { username: "aude" }), {
    user: { bucket: null, quotaBytes: null, isAdmin: false, livingKeys: 0 },
    keys: [],
  });
  t.match(await coordinator.refused("user-quota", { username: "aude", bytes: 1 }), {
    code: "bucket_missing",
  });
  const project = alice.project;
  const led = { name: "Of an auditor", lead: "aude" };
  t.match(await coordinator.refused("project-add", led), { code: "duties_conflict" });
  t.match(await coordinator.refused("member-remove", { username: "bob", project }), {
    code: "not_found",
  });
  t.match(await coordinator.refused("member-remove", { username: "alice", project }), {
    code: "last_lead",
  });
  t.match(await coordinator.refused("restore-administrator", { username: "bob" }), {
    code: "identity_unavailable",
  });
});

t.test(
  "the operator sees a job's state and nothing that its owner wrote, and stops it with a reason that the owner reads",
  async (t) => {
    const slug = "ward-seven";
    await upload(coordinator.s3, alice.bucketAlias, slug, goodFiles());
    const id = String(
      (await coordinator.request("POST", "/api/tasks", key, goodBody(slug))).body["id"],
    );
    const { jobs } = await coordinator.control("job-list", { living: true, limit: 100 });
    t.match(
      jobs.find(({ job }) => job === id),
      { username: "alice", state: "QUEUED", attempt: 0 },
    );
    const shown = await coordinator.control("job-show", { job: id });
    t.notMatch(JSON.stringify([jobs, shown]), slug);
    t.match(await coordinator.control("job-show", { job: id.slice(0, 12) }), { job: { job: id } });
    t.match(
      await coordinator.control("job-cancel", {
        job: id.slice(0, -2),
        reason: "disks are changed",
      }),
      { state: "CANCELLED" },
    );
    t.match(await jobOf(id), {
      detail: { error: { code: "operator_cancelled", message: /disks are changed/ } },
    });
    t.match(await coordinator.refused("job-cancel", { job: "job-none", reason: "x" }), {
      code: "not_found",
    });
  },
);

t.test("a node is drained and given back", async (t) => {
  t.match(await coordinator.control("node-list"), [
    { node: "node-a", drained: null, workers: 0, busy: 0 },
  ]);
  t.match(await coordinator.control("node-drain", { id: "node-a" }), { members: 0 });
  t.match(await coordinator.control("node-show", { id: "node-a" }), {
    node: { drained: "drained by the operator" },
    members: [],
    workers: [],
  });
  // The person of the host goes along with any request.
  await coordinator.askControl("node-undrain", { id: "node-a" }, "karla (sudo: root)");
  t.match(await coordinator.control("node-list"), [{ drained: null }]);
  t.match(await coordinator.refused("node-drain", { id: "node-z" }), {
    code: "not_found",
  });
});

t.test("an image of one's own is admitted and removed, and a key that admits some", async (t) => {
  const digest = `sha256:${"c".repeat(64)}`;
  const program = { command: ["/serve"], directory: "/", environment: {} };
  t.match(
    await coordinator.control("image-add", {
      ...{ name: "mine", digest, sizeBytes: 9, program },
      admission: { by: "digest", said: digest },
    }),
    { image: { name: "mine", digest } },
  );
  t.match(await coordinator.control("image-list"), { images: [{ name: "mine" }] });
  t.match(await coordinator.control("image-remove", { name: "mine" }), { digest });
  const { publicKey } = generateKeyPairSync("ed25519");
  const pem = publicKey.export({ format: "pem", type: "spki" });
  const { sha256 } = await coordinator.control("image-trust", { pem });
  t.match(await coordinator.control("image-keys"), { keys: [{ sha256 }] });
  t.match(await coordinator.control("image-distrust", { key: sha256.slice(0, 12) }), { sha256 });
});

t.test("a node is ordered to bring the appliance's own release", async (t) => {
  const agent = await joinAgent(coordinator, "node-b", 0);
  t.teardown(() => agent.close());
  const release = `0.2.0-${hash("sha256", "the signed statement").slice(0, 12)}`;
  const order = { nodes: ["node-b"], except: [] };
  t.match(await coordinator.control("node-upgrade", order), {
    release,
    ordered: [],
    leftOut: [{ node: "node-b" }],
  });
  agent.release = "0.1.0-aaaaaaaaaaaa";
  await agent.register(0);
  t.match(await coordinator.control("node-upgrade", { ...order, nodes: null }), {
    release,
    ordered: ["node-b"],
    leftOut: [],
  });
  t.match((await agent.beat([])).upgrade, { release });
  t.match(await coordinator.control("node-releases"), {
    releases: [{ node: "node-b", release: agent.release, upgrade: { state: "begun", release } }],
  });
  agent.release = release;
  await agent.register(0);
  t.match(await coordinator.control("node-releases"), {
    releases: [{ release, upgrade: { state: "done" } }],
  });
  t.match(await coordinator.control("node-upgrade", order), { ordered: [], current: ["node-b"] });
  t.match(await coordinator.refused("node-upgrade", { ...order, nodes: ["node-z"] }), {
    ...{ code: "not_found" },
  });
  await coordinator.control("node-remove", { id: "node-b" });
});

t.test("a node is rid of its work and removed", async (t) => {
  t.match(await coordinator.control("node-evict", { id: "node-a" }), { members: 0 });
  await coordinator.control("node-remove", { id: "node-a" });
  t.same(await coordinator.control("node-list"), []);
});

t.test("without auditd nothing is accepted, and then again", async (t) => {
  await coordinator.auditd.stop("SIGKILL");
  await upload(coordinator.s3, alice.bucketAlias, "later", goodFiles());
  const refused = await coordinator.request("POST", "/api/tasks", key, goodBody("later"));
  t.match(refused, { status: 503, body: { code: "audit_unavailable" } });
  t.match(await coordinator.get("/readyz"), {
    status: 503,
    body: { parts: { audit: "unavailable", storage: "ok" } },
  });
  t.equal(
    (await coordinator.get(`/api/tasks/${submitted}`, key)).status,
    200,
    "status is still told",
  );
  await coordinator.auditd.start();
  for (
    let attempt = 0;
    attempt < 100 && (await coordinator.get("/readyz")).status !== 200;
    attempt++
  )
    await sleep(100);
  t.match(await coordinator.request("POST", "/api/tasks", key, goodBody("later")), { status: 201 });
});

t.test("a signal stops it in order", async (t) => {
  t.equal(await coordinator.stop("SIGTERM"), 0, coordinator.output);
  t.notMatch(
    coordinator.output.split('"msg":"stopping"').at(-1),
    /"level":(50|60)/,
    "nothing failed on the way down",
  );
});

t.test("what was decided is kept by its kind, and names nobody", async (t) => {
  const db = new Database(coordinator.config.databaseFile, { readonly: true });
  t.teardown(() => db.close());
  const seen = db
    .prepare<[], { question: string; times: number }>("SELECT question, times FROM decisions_seen")
    .all();
  const submitted = seen.filter(
    ({ question }) =>
      question.startsWith('{"action":"job.submit"') && question.includes('"asked":"rows"'),
  );
  t.ok(submitted.length > 0 && submitted[0]!.times >= 2, JSON.stringify(submitted));
  const text = JSON.stringify(seen);
  for (const named of [alice.userId, alice.project, "node-a", key])
    t.notOk(text.includes(named), named);
});

t.test("policies that leave something open stop the start", async (t) => {
  const app = dirname(shippedProgram("coordinator"));
  const broken = t.testdir({ node_modules: t.fixture("symlink", join(app, "node_modules")) });
  for (const name of ["coordinator.mjs", "policies"])
    cpSync(join(app, name), join(broken, name), { recursive: true });
  const agents = join(broken, "policies", "cedar", "agents.cedar");
  const text = readFileSync(agents, "utf8");
  writeFileSync(agents, text.slice(0, text.indexOf('@id("member-of-node")')));
  await t.rejects(coordinator.start(join(broken, "coordinator.mjs")), /is not ready/);
  t.match(
    coordinator.output,
    /no policy permits anybody member\.act.*"code":"policy_set_invalid"/s,
  );
});

t.test(
  "the log holds each operation with exactly one outcome, and no name or secret",
  async (t) => {
    await coordinator.auditd.stop();
    const leaves = await readLeaves(coordinator.auditd.logDir);
    const byOp = Map.groupBy(
      leaves.filter(({ phase }) => phase !== "fact"),
      ({ op }) => op,
    );
    for (const [op, events] of byOp) {
      const phases = events.map(({ phase }) => phase);
      t.equal(
        phases.filter((phase) => phase === "requested").length,
        1,
        `${events[0]?.type} ${op}: ${phases.join()}`,
      );
      t.equal(phases.length, 2, `${events[0]?.type} ${op}: ${phases.join()}`);
    }
    const undrained = leaves.filter(
      ({ type, detail }) =>
        type === "iam.node.change" && JSON.stringify(detail) === '{"change":"undrained"}',
    );
    t.match(undrained[0], {
      phase: "requested",
      actor: { sub: "operator", kind: "operator", sid: /^[0-9a-f]{64}$/ },
    });
    t.same(
      leaves
        .filter(({ type, phase }) => type === "iam.node.change" && phase === "completed")
        .map(({ op }) => byOp.get(op)?.find(({ phase }) => phase === "requested")?.detail),
      [
        ...[{ change: "drained" }, { change: "undrained" }],
        {
          change: "upgrade-ordered",
          release: `0.2.0-${hash("sha256", "the signed statement").slice(0, 12)}`,
        },
        ...[{ change: "removed" }, { change: "evicted" }, { change: "removed" }],
      ],
    );
    const types = new Set(leaves.map(({ type }) => type));
    const expected: AuditEvent["type"][] = [
      ...([
        "iam.user.create",
        "data.bucket.create",
        "key.bootstrap",
        "iam.node.join-token",
        "iam.node.join",
      ] as const),
      ...([
        "job.submit",
        "job.accepted",
        "job.queued",
        "job.cancel",
        "job.cancelled",
        "admin.control",
        "admin.maintenance",
      ] as const),
      ...(["admin.coordinator.start", "auth.failure"] as const),
    ];
    for (const type of expected) t.ok(types.has(type), type);
    for (const { name, audit } of await operatorRoutes())
      if ("event" in audit) t.ok(types.has(audit.event), name);
    for (const type of types) t.ok(type in EVENT_CATALOGUE);
    const text = JSON.stringify(leaves);
    for (const secret of [
      "alice",
      "carol",
      "digits",
      "ward-seven",
      "disks are changed",
      "karla",
      "127.0.0.1",
      key,
      alice.secretAccessKey,
    ])
      t.notOk(text.includes(secret), secret);
  },
);

t.test("a wrong configuration stops the start and names the key", async (t) => {
  const { spawn } = await import("node:child_process");
  const server = shippedProgram("coordinator");
  const child = spawn(process.execPath, [server, "--config", "/nowhere/coordinator.json"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = await once(child, "close");
  t.equal(code, 1);
  t.match(output, /nowhere\/coordinator\.json: can't be read/);
});
