/** Every way in has an action of the policy, and asks for it: routes of both sockets as Fastify has them, verbs of agents, questions of the S3 front. */
import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { AGENT_VERBS, agentSubject } from "@resontech/contracts/agent-protocol";
import { OPERATOR_ROUTES } from "@resontech/contracts/operator-routes";
import { KEY_SCOPES, type KeyScope } from "@resontech/contracts/http-identity";
import { FrontQuestion } from "@resontech/contracts/s3-front-protocol";
import Fastify, { type FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import t from "tap";
import { insertSchedule } from "../../src/schedules/schedule-store.ts";
import { busSubjectsOf } from "../../src/authorization/bus-subjects.ts";
import { type Action, ACTIONS } from "../../src/authorization/actions.ts";
import { COORDINATOR, S3_FRONT } from "../../src/authorization/caller.ts";
import { decide } from "../../src/authorization/decide.ts";
import { policiesInForce } from "../../src/authorization/policies-in-force.ts";
import { NODE_PROOFS, type NodeProof } from "../../src/authorization/roles.ts";
import { authorization, authorizedRow } from "../../src/http/authorization.ts";
import { errorReplies } from "../../src/http/error-replies.ts";
import { insertUser } from "../../src/identity/bucket-store.ts";
import { formatPlatformKey, hashPlatformKey } from "../../src/identity/decisions/platform-key.ts";
import { insertKey } from "../../src/identity/key-store.ts";
import { isHeldBy } from "../../src/nodes/registry.ts";
import { DEPLOYMENT, putDeployment } from "../helper/put-deployment.ts";
import type { S3Engine } from "../helper/s3-engine.ts";
import { schemaValidators } from "../../src/http/validation.ts";
import { sampleOf } from "../helper/sample-of-schema.ts";
import { operatorRoutes } from "../helper/operator-routes.ts";
import { makeTestApp } from "../helper/test-app.ts";
import { keyOf } from "./callers.ts";

// No request of these tests gets as far as the object store.
const noEngine = { endpoint: "", region: "", volumePath: t.testdir() } as unknown as S3Engine;
const api = await makeTestApp(t.testdir(), noEngine, {
  limits: { requestsPerMinute: 1_000_000, failuresPerMinute: 1_000_000 },
  // A schema that is wrong ends the start here, and in no process of a customer's.
  schemasCompiled: "at start",
});
t.teardown(() => api.close());
const routes = api.app.declaredRoutes;
const ofOperator = await operatorRoutes();

async function keyFor(user: string, scopes: readonly KeyScope[]): Promise<string> {
  const key = formatPlatformKey("dev", randomBytes(32));
  const handle = { prefix: key.slice(0, 9), last4: key.slice(-4), name: user };
  await api.commit.run((db) => {
    const of = { userId: `u_${user}`, projectId: `p_${user}` };
    insertUser(db, { ...of, username: user, bucket: `${user}-1`, quotaBytes: 1, now: 1 });
    insertKey(db, {
      ...handle,
      ...of,
      id: `k_${user}`,
      hash: hashPlatformKey(key),
      scopes,
      createdAt: 1,
      expiresAt: 1e15,
    });
  });
  return key;
}

type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
async function call(name: string, id: string, key: string | null) {
  const [method, url] = name.replace(/:[a-z]+/g, id).split(" ") as [Method, string];
  const query = url.endsWith("Nvflare")
    ? `?job_id=${id}`
    : url.endsWith("/logs/search")
      ? "?text=loss"
      : "";
  const reply = await api.app.inject({
    ...{ method, url: `${url}${query}` },
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
    ...(method === "POST" && !url.endsWith("/cancel") ? { payload: payloadOf(url) } : {}),
    ...(method === "PUT" && url.includes("/schedules/") ? { payload: { isPaused: true } } : {}),
  });
  // An answer to HEAD has none.
  const body = reply.body === "" ? {} : reply.json<{ code?: string; message?: string }>();
  return { status: reply.statusCode, body };
}

/** What a route refuses without. */
function payloadOf(url: string): object {
  return url.endsWith("/download") ? { key: "k", versionId: "v" } : {};
}

/** Where a schema takes fields that it does not name: paths into it. */
function openParts(schema: unknown, path = ""): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { type, properties, patternProperties, additionalProperties } = schema as Record<
    string,
    unknown
  >;
  const isOpen =
    type === "object" &&
    additionalProperties !== false &&
    patternProperties === undefined &&
    typeof additionalProperties !== "object";
  const inner = Object.entries(schema).flatMap(([name, part]) =>
    openParts(part, `${path}/${name}`),
  );
  return isOpen && properties !== undefined ? [path, ...inner] : inner;
}

t.test("no route that changes something takes a field that it does not know", async (t) => {
  const validators = schemaValidators();
  // OpenID Connect Back-Channel Logout 1.0 has other fields ignored.
  const ignores = ["POST /auth/back-channel-logout"];
  const writes = [...routes, ...ofOperator].filter(
    ({ name }) => !/^(GET|HEAD) /.test(name) && !ignores.includes(name),
  );
  t.ok(writes.length > 60, `${writes.length} routes`);
  let tried = 0;
  for (const { name, body } of writes) {
    if (body === null) throw new Error(`${name} has no schema of its body`);
    t.same(openParts(body), [], name);
    const takes = validators({ schema: body, httpPart: "body" } as never) as (
      value: unknown,
    ) => boolean;
    const sample = sampleOf(body);
    const fields = sample === null ? {} : (sample as object);
    // A sample is made of the schema's parts alone; where they depend on each other it may not fit.
    if (!takes(fields)) continue;
    tried += 1;
    t.equal(takes({ ...fields, ofNobody: 1 }), false, `${name} takes nothing more`);
  }
  t.ok(tried > writes.length - 4, `${tried} of ${writes.length} with a sample`);
  const { status, body } = await (async () => {
    const key = await keyFor("rotates", KEY_SCOPES);
    const reply = await api.app.inject({
      ...{ method: "PATCH", url: "/api/users/storage/bucket/rotate-key" },
      headers: { authorization: `Bearer ${key}` },
      payload: { accessKeyId: "mine" },
    });
    return { status: reply.statusCode, body: reply.json<{ code: string }>() };
  })();
  t.match({ status, body }, { status: 400, body: { code: "validation_failed" } });
});

t.test("every route names an action of the policy, or why anybody may call it", async (t) => {
  t.ok(routes.length >= 25, `${routes.length} routes`);
  const printed = api.app.printRoutes({ commonPrefix: false }).match(/\([A-Z, ]+\)/g) ?? [];
  t.equal(routes.length, printed.join().split(",").length, "as many as the router knows");
  for (const { name, access } of routes)
    if ("public" in access) t.ok(access.public.length > 10, name);
    else if ("own" in access) t.ok(access.own.length > 10, name);
    else t.ok(access.action in ACTIONS, name);
  t.same(
    routes.filter(({ access }) => "public" in access).map(({ name }) => name),
    [
      ...["GET /healthz", "GET /readyz", "GET /api/openapi.json"],
      ...["GET /node/v1/:name", "GET /node/v1/blobs/sha256/:digest"],
      "GET /dashboard/downloads/:name",
      ...["GET /auth/sign-in", "GET /auth/step-up", "GET /auth/credential/:kind"],
      ...["GET /auth/callback", "POST /auth/back-channel-logout"],
      ...[
        "GET /",
        "GET /dashboard",
        "GET /dashboard/*",
        "GET /assets/plain.css",
        "GET /assets/:name",
      ],
    ],
  );
  t.same(
    routes.flatMap(({ name, access }) =>
      "credential" in access ? [`${name}: ${access.action}`] : [],
    ),
    ["POST /api/nodes/join: node.join", "GET /metrics: metrics.read", "GET /token: registry.pull"],
  );
});

t.test(
  "every route but these refuses who shows no key, and a key without the scope, before it reads anything",
  async (t) => {
    const bare = await keyFor("bare", []);
    for (const { name, access } of routes) {
      if ("public" in access || "credential" in access) continue;
      const hasBody = !name.startsWith("HEAD");
      t.match(
        await call(name, "x", null),
        { status: 401, body: hasBody ? { code: "session_required" } : {} },
        name,
      );
      if ("own" in access) continue;
      const refused = await call(name, "x", bare);
      const scope = policiesInForce().scopeOf(access.action);
      // What only people do is refused to every key, whatever its scopes.
      const [code, message, policy] =
        scope === null
          ? ["role_required", "this caller may not do this", "no-grant"]
          : ["scope_missing", `this key lacks the scope ${scope}`, "key-scope"];
      t.match(refused, { status: 403, body: hasBody ? { code, message } : {} }, name);
      t.match(api.audit.drafts.at(-1), {
        ...{ type: "auth.refused", actor: { sub: "k_bare", kind: "key" }, on_behalf_of: "u_bare" },
        ...{
          decision: {
            ...{ effect: "deny", policy_ids: [policy] },
            policy_set_sha256: policiesInForce().sha256,
          },
          detail: { reason: code, project: "p_bare" },
        },
      });
    }
  },
);

t.test(
  "another's row is answered as one that is not there, byte for byte, and is on record as a refusal",
  async (t) => {
    const stranger = await keyFor("stranger", KEY_SCOPES);
    const owner = await keyFor("owner", KEY_SCOPES);
    api.kernel.putRunning({ projectId: "p_owner", userId: "u_owner", bucket: "owner-1" });
    insertSchedule(api.database.write, {
      ...{ id: "s_owner", projectId: "p_owner", userId: "u_owner", keyId: null, name: "nightly" },
      ...{ cron: "0 3 * * *", timeZone: "UTC", task: "{}", jobId: null },
      ...{ nextAt: 1, pausedBy: null, createdAt: 1 },
    });
    api.database.write.exec(
      "INSERT INTO arrays (id, project_id, user_id, name, created_at) VALUES ('a_owner', 'p_owner', 'u_owner', 'fit', 1)",
    );
    await putDeployment(api, { projectId: "p_owner", userId: "u_owner", bucket: "owner-1" });
    // Of what only people do no key has a row: test/approvals/ asks as people.
    const byRow = routes.filter(
      ({ name, access }) =>
        /:id|Nvflare$/.test(name) &&
        (!("action" in access) || policiesInForce().scopeOf(access.action) !== null),
    );
    t.ok(byRow.length >= 8, `${byRow.length} routes`);
    for (const { name } of byRow) {
      const id = name.includes("/keys/")
        ? "k_owner"
        : name.includes("/inference/")
          ? DEPLOYMENT
          : name.includes("/schedules/")
            ? "s_owner"
            : name.includes("/arrays/")
              ? "a_owner"
              : "state-RUNNING";
      const before = api.audit.drafts.length;
      const absent = await call(name, "nothing", stranger);
      t.match(absent, { status: 404, body: { code: "not_found" } }, name);
      await setImmediate();
      t.equal(api.audit.drafts.length, before, `${name} of nobody's leaves nothing`);
      t.same(await call(name, id, stranger), absent, name);
      t.equal(api.audit.drafts.length, before, `${name} is answered before it is on record`);
      await setImmediate();
      const [draft, ...more] = api.audit.drafts.slice(before);
      t.match(draft, {
        ...{ type: "auth.refused", action: name, on_behalf_of: "u_stranger" },
        decision: { effect: "deny", policy_ids: ["no-grant"] },
        outcome: { code: "not_found", status: 404 },
        detail: { reason: "not_found", project: "p_stranger", kind: /^(job|key|approval)$/ },
      });
      t.notMatch(JSON.stringify(draft), /owner/, `${name} tells nothing of the owner`);
      t.same(more, []);
      // No object store answers here, and the job has no member and no row.
      if (name.startsWith("GET") && !/\/logs|\/parameters$/.test(name))
        t.equal((await call(name, id, owner)).status, 200, name);
    }
    const jobs = async (key: string) =>
      (await call("GET /api/customer/dashboard/jobs", "", key)).body as unknown as object[];
    t.same(await jobs(stranger), []);
    t.match(await jobs(owner), [{ jobId: "state-RUNNING" }]);
    const deployed = async (key: string) =>
      (await call("GET /api/inference/jobs", "", key)).body as unknown as { deployments: object[] };
    t.same((await deployed(stranger)).deployments, []);
    t.match((await deployed(owner)).deployments, [{ id: DEPLOYMENT, status: "QUEUED" }]);
    const keys = async (key: string) =>
      (await call("GET /api/keys", "", key)).body as unknown as object[];
    t.match(await keys(owner), [{ id: "k_owner", current: true }]);
    t.equal((await keys(stranger)).length, 1);
    t.match(await call("GET /api/projects", "", owner), { body: [{ id: "p_owner" }] });
  },
);

t.test("a handler that forgets to ask about the row is found out", async (t) => {
  const app = Fastify();
  await app.register(errorReplies);
  const withCaller = async (instance: FastifyInstance) => {
    instance.decorateRequest("caller", null);
    instance.addHook("onRequest", async (request) => {
      request.caller = keyOf();
    });
  };
  await app.register(fp(async () => {}, { name: "request-audit" }));
  await app.register(fp(withCaller, { name: "authentication" }));
  await app.register(authorization);
  const access = { action: "job.read" } as const;
  app.get("/forgetful", { config: { access } }, async () => ({ secret: "a job" }));
  app.get("/careful", { config: { access } }, (request) =>
    authorizedRow(request, "job.read", { userId: "u9", projectId: "p1" }),
  );
  app.get("/other", { config: { access } }, async (request) => {
    await authorizedRow(request, "job.cancel", { userId: "u9", projectId: "p1" });
    return { secret: "a job" };
  });
  t.match((await app.inject("/careful")).json(), { userId: "u9" });
  for (const url of ["/forgetful", "/other"]) {
    const reply = await app.inject(url);
    t.equal(reply.statusCode, 500, url);
    t.notMatch(reply.body, /secret/);
  }
});

t.test(
  "root's socket has the operator's routes alone, each with an action that the operator may do to every row",
  async (t) => {
    t.ok(ofOperator.length >= 40, `${ofOperator.length} routes`);
    t.same(
      ofOperator.map(({ name }) => name).sort(),
      Object.values(OPERATOR_ROUTES)
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    );
    for (const { name, access } of ofOperator) {
      if (!("action" in access) || "credential" in access) throw new Error(`${name} has no action`);
      t.equal(
        decide({ kind: "operator", person: null }, access.action, "every").effect,
        "allow",
        `${name} is ${access.action}`,
      );
    }
  },
);

t.test(
  "of the operator's routes people have those that they may ask for as well, under the same action",
  async (t) => {
    const ofPeople = new Map(routes.map((route) => [route.name, route]));
    const shared = ofOperator.filter(({ name }) => ofPeople.has(name));
    t.same(shared.map(({ name }) => name).sort(), [
      "GET /api/nodes",
      "GET /api/nodes/:id",
      "POST /api/nodes/:id/drain",
      "POST /api/nodes/:id/undrain",
      "POST /api/projects",
    ]);
    for (const { name, access } of shared) t.same(ofPeople.get(name)?.access, access, name);
    for (const { name } of ofOperator)
      if (!ofPeople.has(name)) t.match(name, /^[A-Z]+ \/api\/operator\//);
    t.same(
      routes.filter(({ name }) => name.includes("/api/operator")),
      [],
    );
  },
);

t.test(
  "every verb of an agent has an action, and a subject that its node alone may publish to",
  async (t) => {
    const { publish, subscribe } = busSubjectsOf({
      kind: "node",
      node: "node-a",
      by: "certificate",
    });
    t.same(publish, ["agent.node-a.>"]);
    t.same(subscribe, ["agent.node-a.hint", "_INBOX_node-a.>"]);
    for (const verb of AGENT_VERBS) {
      const may = (by: NodeProof, node: string) =>
        decide({ kind: "node", node: "node-a", by }, `agent.${verb}`, { node }).effect;
      for (const proof of NODE_PROOFS)
        t.equal(may(proof, "node-a"), proof === "certificate" ? "allow" : "deny", verb);
      t.equal(may("certificate", "node-b"), "deny", verb);
      t.ok(agentSubject("node-a", verb).startsWith("agent.node-a."));
    }
  },
);

t.test("a node acts for the members that it holds, and only by its certificate", async (t) => {
  const held = (node: string, by: NodeProof) =>
    isHeldBy({ kind: "node", node, by }, { node_id: "node-a" });
  t.equal(held("node-a", "certificate"), true);
  t.equal(held("node-b", "certificate"), false);
  t.equal(held("node-a", "join-token"), false);
  t.equal(held("node-a", "pull-password"), false);
});

t.test("every question of the S3 front has an action", async (t) => {
  for (const { properties } of FrontQuestion.anyOf)
    for (const caller of [S3_FRONT, COORDINATOR, keyOf(KEY_SCOPES, "platform-admin")])
      t.equal(
        decide(caller, `front.${properties.ask.const}`, "every").effect,
        caller === S3_FRONT ? "allow" : "deny",
      );
});

/** Rules that stand before their way in: people sign in with the next steps. A way in takes its line away. */
const STILL_TO_COME: readonly Action[] = [];

t.test("every action is asked for by some way in", async (t) => {
  const asked = new Set<Action>([
    ...routes.flatMap(({ access }) => ("action" in access ? [access.action] : [])),
    ...ofOperator.flatMap(({ access }) => ("action" in access ? [access.action] : [])),
    ...AGENT_VERBS.map((verb) => `agent.${verb}` as const),
    ...FrontQuestion.anyOf.map(({ properties }) => `front.${properties.ask.const}` as const),
    // Beside the action of the route or verb itself.
    ...(["role.request", "role.change", "role.decide", "quota.request", "quota.decide"] as const),
    ...(["policy.propose", "policy.change", "policy.decide"] as const),
    ...(["factor.request", "factor.reset", "factor.decide"] as const),
    ...(["export.request", "export.decide", "exports.open"] as const),
    ...(["erasure.request", "erasure.decide", "erasure.order", "hold.set"] as const),
    ...(["lift.request", "lift.decide", "disclosure.request", "disclosure.decide"] as const),
    ...(["image.request", "image.decide", "image.admit"] as const),
    ...(["share.request", "share.decide", "share.lower"] as const),
    ...(["job.inputs.read", "member.act"] as const),
    ...(["job.class.interactive", "job.class.train", "job.class.scavenger"] as const),
    "job.class.system",
  ]);
  t.same(
    (Object.keys(ACTIONS) as Action[]).filter((action) => !asked.has(action)),
    STILL_TO_COME,
  );
});
