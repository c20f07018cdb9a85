import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import t from "tap";
import { policiesInForce } from "../../src/authorization/policies-in-force.ts";
import { ApiError } from "../../src/api-error.ts";
import { formatPlatformKey } from "../../src/identity/decisions/platform-key.ts";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine, {
  limits: { failuresPerMinute: 5, requestsPerMinute: 200 },
  join: async () => {
    throw new ApiError("join_token_invalid", "the join token is unknown, used or expired");
  },
});
t.teardown(() => api.close());
const alice = await api.addUser("alice");
const bob = await api.addUser("bob");

const get = async (
  authorization: string | null,
  url = "/api/projects",
  remoteAddress = "10.0.0.1",
) => {
  const headers = authorization === null ? {} : { authorization };
  const reply = await api.app.inject({ url, headers, remoteAddress });
  return { status: reply.statusCode, code: reply.json<{ code?: string }>().code };
};

t.test("what is no credential is told apart", async (t) => {
  const strange = formatPlatformKey("dev", randomBytes(32));
  t.same(await get(null), { status: 401, code: "session_required" });
  t.same(await get("Basic YTpi"), { status: 401, code: "malformed_bearer" });
  t.same(await get("Bearer eyJhbGciOi"), { status: 401, code: "malformed_bearer" });
  t.same(await get("Bearer rsk_live_short"), { status: 401, code: "invalid_api_key" });
  t.same(await get(`Bearer ${strange}`), { status: 401, code: "invalid_api_key" });
  t.same(
    await get(`Bearer ${strange}`),
    { status: 429, code: "rate_limited" },
    "the sixth refusal of one source in a minute",
  );
  t.equal(
    (await get(`Bearer ${alice.platformKey}`)).status,
    200,
    "a good key from the same source is served",
  );
  t.same(
    await get(null, "/api/projects", "10.0.0.2"),
    { status: 401, code: "session_required" },
    "another source is not slowed down",
  );
});

t.test("repeated refusals of one source and reason are one record with a count", async (t) => {
  const failures = api.audit.drafts.filter(({ type }) => type === "auth.failure");
  t.match(
    failures,
    ["session_required", "malformed_bearer", "invalid_api_key", "session_required"].map(
      (reason) => ({ detail: { reason, count: 1 }, actor: { kind: "anonymous" } }),
    ),
    "the first of each at once, the rest when the minute ends",
  );
  t.equal(failures.length, 4);
});

t.test("an expired and a revoked key are refused at once", async (t) => {
  const listed = await api.call(alice, { url: "/api/keys" });
  const [key] = listed.body as unknown as {
    id: string;
    last4: string;
    prefix: string;
    current: boolean;
  }[];
  t.match(key, {
    current: true,
    last4: alice.platformKey.slice(-4),
    prefix: alice.platformKey.slice(0, key!.prefix.length),
  });
  t.notMatch(JSON.stringify(listed.body), alice.platformKey);
  t.match(
    await api.call(bob, { method: "DELETE", url: `/api/keys/${key?.id}` }),
    { status: 404 },
    "another user's key is not there",
  );
  api.clock.now += 31 * 24 * 3600 * 1000;
  t.same(await get(`Bearer ${alice.platformKey}`, "/api/projects", "10.0.0.3"), {
    status: 401,
    code: "invalid_api_key",
  });
  api.clock.now -= 31 * 24 * 3600 * 1000;
  t.match(await api.call(alice, { method: "DELETE", url: `/api/keys/${key?.id}` }), {
    status: 200,
    body: { revoked: true },
  });
  t.same(await get(`Bearer ${alice.platformKey}`, "/api/projects", "10.0.0.4"), {
    status: 401,
    code: "invalid_api_key",
  });
  t.ok(api.audit.names.includes("key.revoke:completed"));
});

t.test(
  "a used join token and a wrong registry password count as refused credentials: one record a minute and source",
  async (t) => {
    // What was asked for by an id of another is on record behind its answer.
    await setImmediate();
    const before = api.audit.drafts.length;
    const wrong = { authorization: `Basic ${Buffer.from("node-a:wrong").toString("base64")}` };
    for (let round = 0; round < 3; round += 1) {
      const login = await api.app.inject({
        url: "/token?service=registry",
        headers: wrong,
        remoteAddress: "10.0.0.20",
      });
      t.match(login, { statusCode: 401, headers: { "www-authenticate": /Basic/ } });
      const join = await api.app.inject({
        ...{ method: "POST", url: "/api/nodes/join", remoteAddress: "10.0.0.21" },
        payload: { token: "rtj_unknown", csr: "none" },
      });
      t.match(join.json(), { code: "join_token_invalid" });
    }
    t.match(api.audit.drafts.slice(before), [
      { type: "auth.failure", detail: { reason: "registry_login_invalid", count: 1 } },
      { type: "auth.failure", detail: { reason: "join_token_invalid", count: 1 } },
    ]);
    t.equal(api.audit.drafts.length, before + 2);
  },
);

t.test("an upload over the quota is refused with a record", async (t) => {
  const before = api.audit.drafts.length;
  const reply = await api.call(bob, {
    method: "POST",
    url: "/api/users/storage/upload/init",
    payload: { key: "jobs/a/big", size: 11 * 1024 ** 3 },
  });
  t.match(reply, { status: 403, body: { code: "quota_exceeded" } });
  t.match(api.audit.drafts.slice(before), [
    {
      ...{ type: "data.object.refused", phase: "fact", detail: { code: "quota_exceeded" } },
      decision: { effect: "deny", policy_ids: ["bucket-quota"] },
    },
  ]);
});

t.test("a key can't mint a key, and the attempt is logged", async (t) => {
  t.match(await api.call(bob, { method: "POST", url: "/api/keys", payload: { name: "more" } }), {
    status: 403,
    body: { code: "session_only" },
  });
  t.match(api.audit.drafts.at(-1), {
    ...{ type: "auth.refused", detail: { reason: "session_only" }, on_behalf_of: bob.userId },
    decision: { effect: "deny", policy_ids: ["key-by-session"] },
  });
});

t.test("a key without the scope is refused", async (t) => {
  await api.commit.run((db) =>
    db
      .prepare(`UPDATE platform_keys SET scopes = '["jobs:read"]' WHERE user_id = ?`)
      .run(bob.userId),
  );
  t.match(await api.call(bob, { url: "/api/keys" }), {
    status: 403,
    body: { code: "scope_missing" },
  });
  t.match(await api.call(bob, { url: "/api/projects" }), { status: 200 });
  await api.commit.run((db) =>
    db
      .prepare(`UPDATE platform_keys SET scopes = '["jobs:read","nodes:read"]' WHERE user_id = ?`)
      .run(bob.userId),
  );
  t.match(await api.call(bob, { url: "/api/nodes" }), {
    status: 403,
    body: { code: "role_required" },
  });
  await api.commit.run((db) =>
    db
      .prepare("INSERT INTO role_holders (user_id, role) VALUES (?, 'platform-admin')")
      .run(bob.userId),
  );
  t.match(await api.call(bob, { url: "/api/nodes" }), { status: 200, body: [{ node: "node-a" }] });
  await api.commit.run((db) =>
    db.prepare("DELETE FROM role_holders WHERE user_id = ?").run(bob.userId),
  );
  const refused = api.audit.drafts.filter(({ type }) => type === "auth.refused");
  t.same(
    refused.slice(-2).map(({ detail, decision }) => {
      const { policy_set_sha256, ...rest } = decision!;
      t.equal(policy_set_sha256, policiesInForce().sha256);
      return { ...detail, ...rest };
    }),
    [
      {
        reason: "scope_missing",
        project: bob.projectId,
        effect: "deny",
        policy_ids: ["key-scope"],
      },
      {
        reason: "role_required",
        project: bob.projectId,
        effect: "deny",
        policy_ids: ["admin-role"],
      },
    ],
  );
});

t.test(
  "keys are nowhere in the clear: not in the database, not in the log, not in the audit log",
  async (t) => {
    const stored = JSON.stringify(api.database.read.prepare("SELECT * FROM platform_keys").all());
    for (const text of [stored, api.logLines.join(""), api.audit.leaves.join("")]) {
      t.notOk(text.includes(alice.platformKey) || text.includes(bob.platformKey));
    }
    const used = api.database.read
      .prepare("SELECT last_used_at FROM platform_keys WHERE user_id = ?")
      .get(bob.userId) as {
      last_used_at: number;
    };
    t.ok(used.last_used_at >= api.clock.now - 120_000);
  },
);

t.test(
  "no key and no address can flood the API; those who share an address don't share their limit; probes count against nobody",
  async (t) => {
    const [carol, dave] = [await api.addUser("carol"), await api.addUser("dave")];
    const limitedAfter = async (key: string | null, url: string): Promise<number | null> => {
      for (let count = 1; count <= 230; count++)
        if ((await get(key, url, "10.0.0.9")).status === 429) return count;
      return null;
    };
    t.equal(await limitedAfter(null, "/healthz"), null);
    t.equal(await limitedAfter(null, "/readyz"), null);
    t.equal(await limitedAfter(null, "/api/openapi.json"), 201);
    t.equal(
      (await get(`Bearer ${carol.platformKey}`, "/api/projects", "10.0.0.9")).status,
      200,
      "the address is used up, the key is not",
    );
    const left = await limitedAfter(`Bearer ${carol.platformKey}`, "/api/projects");
    t.ok(left !== null && left <= 200, `${left}`);
    t.equal(
      (await get(`Bearer ${dave.platformKey}`, "/api/projects", "10.0.0.9")).status,
      200,
      "another key of the same address",
    );
  },
);

t.test("what is not there is a 404 with a hint, inference included", async (t) => {
  for (const url of [
    "/api/inference/jobs/x",
    "/nowhere",
    "/api/tasks/%00",
    `/api/tasks/${"x".repeat(500)}`,
  ]) {
    const reply = await api.app.inject({
      url,
      headers: { authorization: `Bearer ${bob.platformKey}` },
    });
    t.ok(reply.statusCode === 404 || reply.statusCode === 400, `${url}: ${reply.statusCode}`);
    t.match(reply.json(), { code: /./, hint: /./, message: /./ });
  }
});
