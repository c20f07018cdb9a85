/** Pools and calendar over root's socket and the API: what is refused, what stands in the log, and what a stranger is told. */
import { operatorHttpRequest } from "@resontech/contracts/operator-route";
import { OPERATOR_ROUTES, type OperatorVerb } from "@resontech/contracts/operator-routes";
import { pino } from "pino";
import t from "tap";
import { buildControlApp, type ControlAppDeps } from "../../src/control-app.ts";
import { insertUser } from "../../src/identity/bucket-store.ts";
import { drawKey } from "../../src/identity/draw-key.ts";
import { insertKey } from "../../src/identity/key-store.ts";
import { CalendarTable } from "../../src/kernel/calendar-table.ts";
import { PlacementSignal } from "../../src/kernel/placement-signal.ts";
import type { WorkerView } from "../../src/kernel/fleet-view.ts";
import { ShareTable } from "../../src/kernel/share-table.ts";
import { PoolTable } from "../../src/kernel/pool-table.ts";
import { poolParts } from "../../src/pools/pool-parts.ts";
import type { S3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

// No request of these tests gets as far as the object store.
const noEngine = { endpoint: "", region: "", volumePath: t.testdir() } as unknown as S3Engine;
const api = await makeTestApp(t.testdir(), noEngine);
t.teardown(() => api.close());
const { database, commit, audit, clock } = api;
const { read, write } = database;
const now = () => clock.now;
clock.now = Date.parse("2026-12-01T12:00:00Z");
const signal = new PlacementSignal();
const shares = new ShareTable(write, { now, monotonic: now }, signal);
const workers: WorkerView[] = [];
const control = await buildControlApp({
  ...{ read, commit, gate: audit.gate, record: audit.record, now, people: null, approvals: null },
  ...{ keyKind: "dev", quotaBytes: 1, logger: pino({ level: "silent" }) },
  ...poolParts({
    ...{ read, commit, now, workers: () => workers, watch: { affected: () => 2 }, shares },
    uses: () => [{ node: "node-b", use: { cacheInUseBytes: 7 } }],
    pools: new PoolTable(write, { now }, signal),
    calendar: new CalendarTable(write, signal),
  }),
} as Partial<ControlAppDeps> as ControlAppDeps);
t.teardown(() => control.close());

async function keyOf(user: string): Promise<string> {
  const { key, row } = drawKey("dev");
  const of = { userId: `u_${user}`, projectId: `p_${user}` };
  await commit.run((db) => {
    insertUser(db, { ...of, username: user, bucket: `${user}-1`, quotaBytes: 1, now: 1 });
    const scopes = ["jobs:read"] as const;
    insertKey(db, { ...row, ...of, name: user, scopes, createdAt: 1, expiresAt: 1e15 });
  });
  return key;
}
const keys = { alice: await keyOf("alice"), bert: await keyOf("bert") };
for (const node of ["node-a", "node-b", "node-c"])
  write
    .prepare(
      "INSERT INTO nodes (id, certificate_sha256, state, version, joined_at, state_since) VALUES (?, ?, 'READY', 1, 1, 1)",
    )
    .run(node, node);

async function ask(verb: OperatorVerb, asked: object) {
  const { method, path, body } = operatorHttpRequest(OPERATOR_ROUTES[verb], { ...asked });
  const payload = body === null ? {} : { payload: body };
  const reply = await control.inject({ method, url: path, ...payload });
  return { status: reply.statusCode, body: reply.json<Record<string, unknown>>() };
}
async function seen(url: string, user: keyof typeof keys) {
  const headers = { authorization: `Bearer ${keys[user]}` };
  return (await api.app.inject({ url, headers })).body;
}
const at = (hour: number) => new Date(clock.now + hour * 3_600_000).toISOString();
const refused = (status: number, code: string, message: RegExp) => ({
  ...{ status, body: { code, message } },
});

t.test("the nodes of one project's pool keep inputs, and tell how much", async (t) => {
  const before = audit.drafts.length;
  t.match(
    await ask("pool-add", { name: "open", kind: "shared", cacheBytes: 1e9 }),
    refused(400, "validation_failed", /shared pool is of no project/),
  );
  t.match(
    await ask("pool-add", {
      ...{ name: "cardio", kind: "managed", project: "p_alice", cacheBytes: 1e9 },
      nodes: ["node-a", "node-b"],
    }),
    { body: { cacheBytes: 1e9, kept: [{ node: "node-b", bytes: 7 }] } },
  );
  t.match(await ask("pool-set", { id: "cardio", lends: true }), { body: { cacheBytes: 1e9 } });
  t.match(await ask("pool-set", { id: "cardio", cacheBytes: 1 }), { status: 400 });
  t.match(await ask("pool-set", { id: "cardio", cacheBytes: null }), {
    body: { cacheBytes: null },
  });
  t.match(await ask("pool-remove", { id: "cardio" }), { status: 200 });
  t.strictSame(
    audit.drafts
      .slice(before)
      .filter(({ phase }) => phase === "requested")
      .map(({ detail }) => (detail as { cache_bytes: number }).cache_bytes),
    [1e9, 1e9, 0, 0],
  );
});

t.test("a pool is made, changed and removed, each on record", async (t) => {
  const before = audit.drafts.length;
  const made = await ask("pool-add", {
    ...{ name: "cardio", kind: "managed", project: "p_alice", nodes: ["node-a", "node-b"] },
    ...{ lends: true, classes: ["train"] },
  });
  const id = String(made.body["id"]);
  t.match(made, {
    status: 200,
    body: {
      ...{ name: "cardio", kind: "managed", project: { id: "p_alice" }, lends: true },
      ...{ mostRunMinutes: null, classes: ["train"], nodes: ["node-a", "node-b"] },
    },
  });
  t.match(
    await ask("pool-set", {
      ...{ id: "cardio", mostRunMinutes: 60, classes: null },
      ...{ addNodes: ["node-c"], removeNodes: ["node-a"] },
    }),
    { body: { id, lends: true, mostRunMinutes: 60, classes: null, nodes: ["node-b", "node-c"] } },
  );
  t.match(await ask("pool-remove", { id }), { status: 200, body: { id } });
  t.match(await ask("pool-list", {}), { body: { pools: [] } });
  t.match(
    audit.drafts.slice(before).filter(({ phase }) => phase === "requested"),
    [
      {
        type: "admin.pools",
        detail: {
          ...{ change: "made", pool: id, name: "cardio", kind: "managed", project: "p_alice" },
          ...{ lends: true, most_run_minutes: 0, classes: ["train"] },
          added: ["node-a", "node-b"],
        },
      },
      {
        detail: {
          ...{ change: "changed", pool: id, most_run_minutes: 60, classes: [] },
          ...{ added: ["node-c"], removed: ["node-a"] },
        },
      },
      { detail: { change: "removed", pool: id } },
    ],
  );
});

t.test(
  "rules and expected workers stand in the answer, and what does not go together beside them",
  async (t) => {
    const before = audit.drafts.length;
    const shown = (node: string, model: string): WorkerView => ({
      ...{ id: `${node}-0`, node, model, kind: "gpu", device: { kind: "gpu", vendor: "nvidia" } },
      ...{ totalMemoryMb: 1, freeMemoryMb: 1, priceCents: 1, status: "free" },
    });
    workers.push(shown("node-a", "h100"), shown("node-b", "h100-mig-1g.10gb"));
    await commit.run(() => shares.set("p_bert", { guarantee: { h100: 1 } }));
    const made = await ask("pool-add", {
      ...{ name: "parts", kind: "private", project: "p_alice", nodes: ["node-a", "node-b"] },
      ...{ projectWorkers: 3, workerModels: ["h100-mig-1g.10gb"] },
    });
    const warnings = [/^pools leave 0 of h100 for .*p_bert.*, and guarantees want 1$/];
    t.match(made.body, {
      ...{ projectWorkers: 3, workerModels: ["h100-mig-1g.10gb"], warnings },
      unlike: [{ node: "node-a", shows: ["h100"] }],
    });
    t.match(audit.drafts.slice(before).find(({ type }) => type === "admin.pools")?.detail, {
      ...{ project_workers: 3, worker_models: ["h100-mig-1g.10gb"] },
    });
    const own = await seen("/api/pools", "alice");
    t.match(own, /"unlike":\[\{"node":"node-a"/);
    t.match(own, /"warnings":\[\]/, "who else is guaranteed what is not for members");
    t.notMatch(await seen("/api/pools", "bert"), /parts/);
    const lifted = await ask("pool-set", { id: "parts", projectWorkers: null, workerModels: null });
    t.match(lifted.body, { projectWorkers: null, workerModels: null, unlike: [] });
    t.match(await ask("pool-set", { id: "parts", projectWorkers: 0 }), { status: 400 });
    t.match(await ask("pool-set", { id: "parts", workerModels: ["A B"] }), { status: 400 });
    await ask("pool-remove", { id: "parts" });
    await commit.run(() => shares.set("p_bert", { guarantee: {} }));
    workers.length = 0;
  },
);

t.test("what makes no sense is refused before anything is on record", async (t) => {
  await ask("pool-add", { name: "big", kind: "shared", nodes: ["node-a"] });
  const before = audit.drafts.length;
  const add = (change: object) => ask("pool-add", { name: "x", kind: "shared", ...change });
  t.match(await add({ name: "big" }), refused(409, "pool_conflict", /a pool big already/));
  t.match(
    await add({ nodes: ["node-a"] }),
    refused(409, "pool_conflict", /node-a is in the pool big already/),
  );
  t.match(await add({ nodes: ["node-z"] }), refused(404, "not_found", /no node node-z/));
  t.match(await add({ project: "p_alice" }), refused(400, "validation_failed", /of no project/));
  t.match(await add({ kind: "private" }), refused(400, "validation_failed", /name it/));
  t.match(
    await add({ kind: "private", project: "p_none" }),
    refused(404, "not_found", /no project p_none/),
  );
  t.match(await add({ lends: true }), refused(400, "validation_failed", /nothing to lend/));
  t.match(
    await add({ kind: "private", project: "p_alice", lends: true }),
    refused(400, "validation_failed", /private pool lends to nobody/),
  );
  t.match(await add({ name: "No Good" }), { status: 400 });
  t.match(
    await ask("pool-set", { id: "big", removeNodes: ["node-b"] }),
    refused(404, "not_found", /node-b is not in the pool big/),
  );
  t.match(await ask("pool-set", { id: "none" }), refused(404, "not_found", /no pool none/));
  t.equal(audit.drafts.length, before);
});

t.test("two at once: a node goes into one pool, and the second hears it", async (t) => {
  const both = await Promise.all(
    ["one", "two"].map((name) => ask("pool-add", { name, kind: "shared", nodes: ["node-b"] })),
  );
  t.same(new Set(both.map(({ status }) => status)), new Set([200, 409]));
  t.match(
    audit.drafts.filter(({ phase }) => phase === "failed" || phase === "denied"),
    [{ type: "admin.pools" }],
    "what was asked has its outcome",
  );
  for (const name of ["one", "two"]) await ask("pool-remove", { id: name });
});

t.test("an entry of the calendar is announced, moved and called off, each on record", async (t) => {
  const before = audit.drafts.length;
  const added = await ask("calendar-add", {
    ...{ nodes: ["node-c"], from: at(2), until: at(4), reason: "new firmware" },
  });
  const id = String(added.body["id"]);
  t.match(added, {
    status: 200,
    body: {
      ...{ kind: "maintenance", nodes: ["node-c"], pool: null, project: null },
      ...{ from: at(2), until: at(4), reason: "new firmware", affected: 2 },
    },
  });
  t.match(await ask("calendar-set", { id, until: at(5) }), {
    body: { from: at(2), until: at(5), reason: "new firmware" },
  });
  t.match(await ask("calendar-remove", { id }), { status: 200 });
  t.match(await ask("calendar-list", {}), { body: { entries: [] } });
  const drafts = audit.drafts.slice(before).filter(({ phase }) => phase === "requested");
  t.match(drafts, [
    { type: "admin.calendar", detail: { change: "announced", entry: id, nodes: ["node-c"] } },
    { detail: { change: "moved", kind: "maintenance", until: at(5) } },
    { detail: { change: "called-off", entry: id } },
  ]);
  t.notMatch(JSON.stringify(drafts), /firmware/, "what somebody typed is committed");
});

t.test("overlaps, the past and slips of the pen are refused", async (t) => {
  const add = (change: object) =>
    ask("calendar-add", { nodes: ["node-a"], from: at(2), until: at(4), ...change });
  t.match(await add({ from: at(-3), until: at(-1) }), refused(400, "validation_failed", /past/));
  t.match(await add({ until: at(1) }), refused(400, "validation_failed", /before until/));
  t.match(await add({ until: at(24 * 900) }), refused(400, "validation_failed", /two years/));
  for (const from of ["tomorrow", "2026-13-01T00:00Z", "2026-12-01", "2026-12-01T10:00"])
    t.match(await add({ from }), refused(400, "validation_failed", /from is no time/), from);
  t.match(await add({ pool: "big" }), refused(400, "validation_failed", /a pool, or nodes/));
  t.match(await add({ nodes: ["node-z"] }), refused(404, "not_found", /no node node-z/));
  const pool = await ask("calendar-add", { pool: "big", from: at(2), until: at(4) });
  t.equal(pool.status, 200);
  t.match(await add({ from: at(3), until: at(6) }), refused(409, "calendar_conflict", /node-a/));
  t.match(await add({ from: at(4), until: at(6) }), { status: 200 }, "one after the other");
  t.match(await add({ project: "p_alice" }), { status: 200 }, "within what is reserved");
  t.match(
    await add({ project: "p_bert", from: at(3), until: at(5) }),
    refused(409, "calendar_conflict", /already/),
  );
  t.match(
    await ask("pool-remove", { id: "big" }),
    refused(409, "pool_conflict", /of the calendar is of the pool/),
  );
});

t.test("a stranger is told when, and neither whose nor why", async (t) => {
  await ask("pool-add", { name: "hers", kind: "private", project: "p_alice", nodes: ["node-b"] });
  await ask("calendar-add", {
    ...{ pool: "hers", project: "p_alice", from: at(8), until: at(9), reason: "a deadline" },
  });
  for (const url of ["/api/pools", "/api/calendar"]) {
    t.match(await seen(url, "alice"), /hers/, url);
    t.notMatch(await seen(url, "bert"), /hers|p_alice|deadline/, url);
  }
  t.match(await seen("/api/pools", "bert"), /big/, "what is everybody's everybody sees");
  t.match(await seen("/api/calendar", "bert"), /"from":"2026-12-01T20:00:00.000Z"/);
  const headers = { authorization: `Bearer ${keys.alice}` };
  for (const [method, url] of [
    ["POST", "/api/pools"],
    ["DELETE", "/api/pools/hers"],
    ["POST", "/api/calendar"],
  ] as const) {
    const body = method === "DELETE" ? {} : { payload: { name: "x", kind: "shared" } };
    const reply = await api.app.inject({ method, url, headers, ...body });
    t.ok([400, 403].includes(reply.statusCode), `${method} ${url}: ${reply.statusCode}`);
  }
});

t.test("what is over is no more", async (t) => {
  clock.now += 30 * 86_400_000;
  t.match(await ask("calendar-list", {}), { body: { entries: [] } });
  t.match(await ask("pool-remove", { id: "big" }), { status: 200 });
  t.equal(
    write.prepare("SELECT count(*) FROM pool_nodes WHERE node_id = 'node-a'").pluck().get(),
    0,
  );
});
