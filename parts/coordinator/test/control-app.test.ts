import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";
import { operatorHttpRequest, PERSON_HEADER } from "@resontech/contracts/operator-route";
import { OPERATOR_ROUTES, type OperatorVerb } from "@resontech/contracts/operator-routes";
import type { PlanFacts } from "@resontech/contracts/operator-scheduler";
import { exchangeOnSocket } from "@resontech/frame/exchange-on-socket";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import t, { type Test } from "tap";
import { buildControlApp, type ControlAppDeps } from "../src/control-app.ts";
import { type Plan, plan, type Snapshot } from "../src/kernel/decisions/placement.ts";
import { PlanFiles } from "../src/kernel/plan-files.ts";
import { PlanRecorder } from "../src/kernel/plan-recorder.ts";
import { PlanReplays } from "../src/kernel/plan-replays.ts";
import { runFleetHistory } from "./kernel/histories/fleet-history.ts";
import { PlacementSignal } from "../src/kernel/placement-signal.ts";
import { ShareTable } from "../src/kernel/share-table.ts";
import { UserViews } from "../src/control/user-views.ts";
import { listenOnSocket } from "../src/http/listen-on-socket.ts";
import type { S3Engine } from "./helper/s3-engine.ts";
import { makeTestApp } from "./helper/test-app.ts";

// No request of these tests gets as far as the object store.
const noEngine = { endpoint: "", region: "", volumePath: t.testdir() } as unknown as S3Engine;
const people = await makeTestApp(t.testdir(), noEngine);
t.teardown(() => people.close());

/** On the same database and log as people's API. */
async function openControl(t: Test, overrides: Partial<ControlAppDeps> = {}) {
  const { database, commit, audit, clock, kernel, bucketKeys, passwords } = people;
  const { read } = database;
  const now = () => clock.now;
  const lines: string[] = [];
  const parts: Partial<ControlAppDeps> = {
    ...{ read, commit, gate: audit.gate, record: audit.record, now, bucketKeys, passwords },
    ...{ people: null, approvals: null, keyKind: "dev", quotaBytes: 1024 ** 3 },
    kernel,
    users: new UserViews(read, now),
    nodes: {
      list: () => [],
      find: () => null,
      cordon: () => {},
    },
    invite: async () => ({ token: "rtj_x", expiresAt: clock.now }),
    health: async () => ({ loopLagMs: 7 }) as never,
    logger: pino({ level: "info" }, { write: (line: string) => void lines.push(line) }),
    ...overrides,
  };
  const app = await buildControlApp(parts as ControlAppDeps);
  t.teardown(() => app.close());
  return { app, lines };
}

async function ask(app: FastifyInstance, verb: OperatorVerb, asked: object, person?: string) {
  const { method, path, body } = operatorHttpRequest(OPERATOR_ROUTES[verb], { ...asked });
  const reply = await app.inject({
    ...{ method, url: path, headers: person === undefined ? {} : { [PERSON_HEADER]: person } },
    ...(body === null ? {} : { payload: body }),
  });
  return { status: reply.statusCode, body: reply.json<Record<string, unknown>>() };
}

t.test(
  "each request is answered by its schema, and a fault inside tells nothing of it",
  async (t) => {
    const { app } = await openControl(t, {
      maintain: () => Promise.reject(new Error("/var/lib/secret.db is locked")),
    });
    t.match(await ask(app, "status", {}), {
      ...{ status: 200, body: { jobs: {}, health: { loopLagMs: 7 } } },
    });
    t.match(await ask(app, "join-token", { node: "n", ttlS: 0 }), {
      status: 400,
      body: {
        ...{ code: "validation_failed", message: /ttlS must be >= 1/ },
        hint: ERROR_CATALOGUE.validation_failed.hint,
      },
    });
    const extra = await app.inject({
      ...{ method: "POST", url: "/api/operator/users/ada/disable", payload: { extra: 1 } },
    });
    t.match({ status: extra.statusCode, body: extra.json() }, { status: 400 });
    t.match(await ask(app, "user-show", { username: "no/body" }), {
      ...{ status: 404, body: { code: "not_found", message: "there is no user no/body" } },
    });
    t.match(await ask(app, "node-drain", { id: "node-z" }), {
      ...{ status: 404, body: { code: "not_found", message: "there is no node node-z" } },
    });
    const failed = await ask(app, "maintenance", { forS: 60 });
    t.match(failed, { status: 500, body: { code: "internal_error" } });
    t.notMatch(JSON.stringify(failed), /secret/);
  },
);

t.test("shares are set in part, on record, and never beyond what stands above them", async (t) => {
  const { database, audit } = people;
  const { app } = await openControl(t, {
    shares: new ShareTable(
      database.write,
      { now: () => 1, monotonic: () => 1 },
      new PlacementSignal(),
    ),
  });
  database.write.exec(`
    INSERT INTO users (id, username, is_admin, created_at) VALUES ('u_lead', 'lead', 0, 1);
    INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('p_lung', 'u_lead', 'lung', 0, 1);
  `);
  const project = "p_lung";
  const before = audit.drafts.length;
  const set = await ask(app, "share-set", {
    id: project,
    guarantee: { h100: 2, cpu: 4 },
    weight: 2,
  });
  t.match(set, {
    status: 200,
    body: {
      id: project,
      kind: "project",
      parent: "o_own",
      guarantee: { h100: 2, cpu: 4 },
      weight: 2,
    },
  });
  t.match(audit.drafts.slice(before), [
    {
      ...{ type: "admin.shares", phase: "requested" },
      detail: {
        share: project,
        guarantee: [
          { model: "cpu", workers: 4 },
          { model: "h100", workers: 2 },
        ],
        weight: "2",
      },
    },
  ]);
  const limited = await ask(app, "share-set", { id: project, limit: { cpu: 8 } });
  t.match(limited.body, { guarantee: { h100: 2 }, limit: { cpu: 8 }, weight: 2 }, "the rest stays");

  const isAnySet = database.read.prepare("SELECT count(*) FROM shares").pluck();
  await ask(app, "share-set", { id: "o_own", limit: { cpu: 9 } });
  t.equal(isAnySet.get(), 2);
  await ask(app, "share-set", { id: "o_own", limit: {} });
  t.equal(isAnySet.get(), 1, "a share that says nothing is none");

  const over = await ask(app, "share-set", { id: "o_own", guarantee: { h100: 1 } });
  t.match(over, {
    status: 400,
    body: {
      code: "validation_failed",
      message: /o_own is guaranteed 1 worker of h100, .* guaranteed 2/,
    },
  });
  const { body } = await ask(app, "share-list", {});
  t.match(
    body,
    { shares: [{ id: "o_own", kind: "organisation", guarantee: {} }] },
    "nothing was changed",
  );
  t.match(await ask(app, "share-set", { id: "p_none", weight: 1 }), {
    ...{
      status: 404,
      body: { code: "not_found", message: /no organisation, team or project p_none/ },
    },
  });
  // Each fits alone: two operators at once, and the one that comes second hears it.
  database.write.exec(
    "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('p_heart', 'u_lead', 'heart', 0, 1)",
  );
  await ask(app, "share-set", { id: "o_own", guarantee: { h100: 3 } });
  await ask(app, "share-set", { id: project, guarantee: {} });
  const both = await Promise.all(
    [project, "p_heart"].map((id) => ask(app, "share-set", { id, guarantee: { h100: 2 } })),
  );
  t.same(new Set(both.map(({ status }) => status)), new Set([200, 400]));
  const guaranteed = database.read
    .prepare("SELECT count(*) FROM shares WHERE guarantee LIKE '%h100%' AND id <> 'o_own'")
    .pluck();
  t.equal(guaranteed.get(), 1);
  // Two changes of one share: both hold.
  await Promise.all([
    ask(app, "share-set", { id: "p_heart", weight: 3 }),
    ask(app, "share-set", { id: "p_heart", limit: { cpu: 5 } }),
  ]);
  const now = await ask(app, "share-list", {});
  const heart = (now.body as { shares: { id: string }[] }).shares.find(
    ({ id }) => id === "p_heart",
  );
  t.match(heart, { weight: 3, limit: { cpu: 5 } });

  for (const bad of [{ guarantee: { cpu: -1 } }, { weight: 0 }, { limit: { "a b": 1 } }])
    t.match(await ask(app, "share-set", { id: project, ...bad }), { status: 400 });
});

t.test("the person who asks is in the log as a commitment, and in no line", async (t) => {
  const { app, lines } = await openControl(t);
  const before = people.audit.drafts.length;
  await ask(app, "join-token", { node: "n", ttlS: 5 }, "anna (sudo: root)");
  await ask(app, "join-token", { node: "n", ttlS: 5 });
  const [byAnna, byNobody] = people.audit.drafts
    .slice(before)
    .filter(({ phase }) => phase === "requested");
  t.match(byAnna, {
    ...{ type: "iam.node.join-token", action: "POST /api/operator/nodes/tokens" },
    actor: { sub: "operator", kind: "operator", sid: /^[0-9a-f]{64}$/ },
  });
  t.same(byNobody?.actor, { sub: "operator", kind: "operator" });
  t.equal(byAnna?.src?.addr, undefined, "a request of this host has no address");
  for (const person of ["", "a\u001b", "x".repeat(161)])
    t.match(await ask(app, "status", {}, person), {
      ...{ status: 400, body: { code: "validation_failed", message: /person/ } },
    });
  await ask(app, "user-show", { username: "ada-lovelace" });
  t.notMatch(lines.join(""), /anna|ada-lovelace/);
});

t.test(
  "what people signed is handed out byte for byte, with and without a second person",
  async (t) => {
    const signed = (by: string) => ({ by, salt: "a".repeat(64), token: "ab-_.cd.ef" });
    const proof = { approval: "a_1", requested: signed("u_1"), approved: signed("u_2") };
    for (const given of [proof, { ...proof, approved: null }]) {
      const { app } = await openControl(t, { approvals: { proof: () => given } });
      const { status, body } = await ask(app, "approval-proof", { approval: "a_1" });
      t.same({ status, body }, { status: 200, body: { proof: given } });
    }
  },
);

t.test("root's socket has no page, no sign-in and nothing of people's data", async (t) => {
  const { app } = await openControl(t);
  for (const url of [
    ...["/", "/dashboard", "/auth/sign-in", "/auth/callback", "/api/me", "/api/tasks"],
    ...["/api/jobs", "/api/keys", "/api/nodes/join", "/metrics", "/token", "/healthz"],
  ])
    t.match(await app.inject(url), { statusCode: 404 }, url);
});

t.test(
  "the front door has no route of the operator, and believes nobody's word for a person",
  async (t) => {
    const headers = { [PERSON_HEADER]: "anna" };
    for (const { method, path } of Object.values(OPERATOR_ROUTES)) {
      const url = path.replaceAll(/:[A-Za-z]+/g, "x");
      const reply = await people.app.inject({ method, url, headers });
      t.equal(reply.statusCode, path.startsWith("/api/operator/") ? 404 : 401, `${method} ${url}`);
    }
    await setImmediate();
    for (const { actor } of people.audit.drafts.filter(({ type }) => type === "auth.failure"))
      t.same(actor, { sub: "anonymous", kind: "anonymous" });
  },
);

/** In a folder of its own, 0700; a socket's path has room for 107 bytes alone. */
function socketPath(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), "rt-control-"));
  t.teardown(() => rmSync(dir, { recursive: true }));
  return join(dir, "control");
}

t.test("the socket is root's alone, and outlives a body without an end", async (t) => {
  const path = socketPath(t);
  const { app } = await openControl(t);
  await listenOnSocket(app, path, "owner");
  t.equal(statSync(path).mode & 0o777, 0o600);
  const post = (body: string | null, to = "/api/operator/users") =>
    exchangeOnSocket(path, {
      method: body === null ? "GET" : "POST",
      path: to,
      body,
      timeoutMs: 60_000,
    });
  const { status, text } = await post(JSON.stringify({ username: "x".repeat(600_000) }));
  t.match({ status, body: JSON.parse(text) }, { status: 413, body: { code: "body_too_large" } });
  t.match(await post("not json"), { status: 400, text: /malformed_body/ });
  t.match(await post(null, "/api/operator/status"), { status: 200 });
});

t.test("a folder that lets others in stops the start", async (t) => {
  const path = socketPath(t);
  chmodSync(join(path, ".."), 0o750);
  const { app } = await openControl(t);
  await t.rejects(listenOnSocket(app, path, "owner"), /0700/);
});

t.test("recorded plans are listed and made again; what is not there says so", async (t) => {
  const files = new PlanFiles(join(t.testdir(), "plan-records"));
  const planRecorder = new PlanRecorder({
    ...{ files, release: "1.2.3", monotonic: () => 0 },
    onError: (error) => t.fail(String(error)),
  });
  let at = 0;
  const noted: { snapshot: Snapshot; planned: Plan }[] = [];
  for (const seed of [1, 2])
    runFleetHistory(seed, 12, (snapshot) => {
      const planned = plan(snapshot);
      noted.push({ snapshot, planned });
      return planned;
    });
  for (const { snapshot, planned } of noted) {
    planRecorder.note(snapshot, planned, (at += 1_000));
    await planRecorder.idle();
  }
  await planRecorder.close();
  const planReplays = new PlanReplays(files);
  const { app } = await openControl(t, { planRecorder, planReplays, version: "1.2.4" });
  const { status, body } = await ask(app, "plan-list", { limit: 2 });
  t.equal(status, 200);
  t.match(body, { recording: "ok", unread: [], plans: [{ release: "1.2.3", missed: 0 }, {}] });
  const all = (await ask(app, "plan-list", { limit: 1_000 })).body["plans"] as PlanFacts[];
  const placing = all.find(({ decisions }) => decisions.placements.length > 0)!;
  const { job, workers } = placing.decisions.placements[0]!;
  const replay = await ask(app, "plan-replay", { plan: placing.plan, job });
  t.match(replay, {
    status: 200,
    body: { plan: placing, replayedBy: "1.2.4", isSame: true, replayed: null, job: { job } },
  });
  t.match((replay.body["job"] as { told: string[] }).told[0], workers.join(", "));
  const about = (await ask(app, "plan-list", { limit: 1_000, job })).body["plans"] as PlanFacts[];
  t.ok(about.some((one) => one.plan === placing.plan) && about.length < all.length);
  t.match(await ask(app, "plan-replay", { plan: 99_999 }), {
    ...{ status: 404, body: { code: "plan_not_recorded" } },
  });
  t.match(await ask(app, "plan-replay", { plan: placing.plan, job: "nobodys" }), {
    ...{ status: 404, body: { code: "not_found" } },
  });
  const [file] = await files.list();
  const bytes = readFileSync(file!.path);
  bytes[bytes.length - 3]! ^= 1;
  writeFileSync(file!.path, bytes);
  t.match(await ask(app, "plan-replay", { plan: all[0]!.plan }), {
    ...{ status: 409, body: { code: "plan_record_damaged" } },
  });
});
