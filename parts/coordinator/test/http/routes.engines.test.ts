import { Validator } from "@seriousme/openapi-schema-validator";
import fc from "fast-check";
import Fastify from "fastify";
import t from "tap";
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";
import { requestAudit } from "../../src/http/request-audit.ts";
import { asApiError, errorReplies } from "../../src/http/error-replies.ts";
import { peerAddress } from "../../src/http/peer-address.ts";
import { routeDeclarations, UndeclaredRoute } from "../../src/http/route-config.ts";
import { S3ResponseError } from "../../src/storage/s3-transport.ts";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";
import { goodBody, goodFiles, upload } from "../helper/workspace.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine, { limits: { requestsPerMinute: 1_000_000 } });
t.teardown(() => api.close());
const alice = await api.addUser("alice");

type OpenApi = {
  paths: Record<string, Record<string, { responses: Record<string, unknown>; summary?: string }>>;
};

t.test("the OpenAPI document is valid and names every route with its errors", async (t) => {
  const reply = await api.app.inject({ url: "/api/openapi.json" });
  t.equal(reply.statusCode, 200);
  const document = reply.json<OpenApi>();
  const verdict = await new Validator().validate(document);
  t.equal(verdict.valid, true, JSON.stringify(verdict.errors));
  t.ok(Object.keys(document.paths).length >= 20);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      t.type(operation.summary, "string", `${method} ${path}`);
      const isProbe = ["/healthz", "/readyz", "/api/openapi.json"].includes(path);
      t.ok(
        isProbe || ("4XX" in operation.responses && "5XX" in operation.responses),
        `${method} ${path} states its errors`,
      );
    }
  }
});

t.test(
  "a route that declares neither access nor audit event nor answers stops the start",
  async (t) => {
    const app = Fastify();
    await app.register(routeDeclarations);
    const schema = { response: { 200: {} } };
    const access = { public: "a dummy" };
    const dummy = (options: object) => () => app.get("/dummy", options, async () => null);
    t.throws(dummy({ schema, config: { access } }), UndeclaredRoute);
    t.throws(dummy({ schema, config: { audit: { none: "status" } } }), UndeclaredRoute);
    t.throws(dummy({ config: { access, audit: { none: "status" } } }), UndeclaredRoute);
    t.doesNotThrow(dummy({ schema, config: { access, audit: { none: "status" } } }));
  },
);

t.test("a route that declares an event and does not log it is withheld", async (t) => {
  const app = Fastify();
  await app.register(errorReplies);
  await app.register(peerAddress);
  await app.register(requestAudit, {
    gate: api.audit.gate,
    record: api.audit.record,
    commit: api.commit,
    now: () => api.clock.now,
    sourceOf: (request) => request.peer,
  });
  app.decorateRequest("caller", null);
  app.get("/forgetful", { config: { audit: { event: "key.list" } } }, async () => ({
    secret: "the keys",
  }));
  const reply = await app.inject({ url: "/forgetful" });
  t.equal(reply.statusCode, 500);
  t.match(reply.json(), { code: "internal_error" });
  t.notMatch(reply.body, /secret|keys/);
});

t.test("readiness names the part that is away", async (t) => {
  t.match((await api.app.inject({ url: "/readyz" })).json(), {
    ready: true,
    parts: { storage: "ok" },
  });
  const broken = await makeTestApp(`${dir}/broken`, engine, {
    readiness: {
      storage: () => engine.store.ping(),
      audit: () => Promise.reject(new Error("/run/secret/path")),
    },
  });
  t.teardown(() => broken.close());
  const reply = await broken.app.inject({ url: "/readyz" });
  t.equal(reply.statusCode, 503);
  t.same(reply.json(), { ready: false, parts: { storage: "ok", audit: "unavailable" } });
  t.match((await broken.app.inject({ url: "/healthz" })).json(), { status: "ok" });
});

t.test("no body and no query makes the server fail or talk", async () => {
  const known = new Set<string>(Object.keys(ERROR_CATALOGUE));
  const posts = [
    "/api/tasks",
    "/api/users/storage/upload/init",
    "/api/users/storage/upload/complete",
    "/api/users/storage/upload/abort",
  ];
  const field = fc.constantFrom(
    "name",
    "key",
    "size",
    "uploadId",
    "parts",
    "shardsDirPath",
    "workerIds",
    "gpuModels",
    "__proto__",
    "constructor",
  );
  const body = fc.oneof(fc.jsonValue(), fc.dictionary(field, fc.jsonValue()));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...posts), body, async (url, payload) => {
      const reply = await api.app.inject({
        ...{ method: "POST", url, payload: JSON.stringify(payload) },
        headers: {
          authorization: `Bearer ${alice.platformKey}`,
          "content-type": "application/json",
        },
      });
      const answer = reply.json<{ code?: string }>();
      return reply.statusCode >= 400 && reply.statusCode < 500 && known.has(answer.code ?? "");
    }),
    { numRuns: 300 },
  );
  const gets = [
    "/api/customer/dashboard/jobs",
    "/api/customer/dashboard/listJobsNvflare",
    "/api/customer/dashboard/showStatsNvflare",
    "/token",
  ];
  const parameter = fc.constantFrom(
    "limit",
    "offset",
    "job_id",
    "target_job_id",
    "scope",
    "service",
    "x",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...gets),
      fc.dictionary(parameter, fc.string({ unit: "grapheme" })),
      async (url, query) => {
        const reply = await api.app.inject({
          url,
          query,
          headers: { authorization: `Bearer ${alice.platformKey}` },
        });
        return reply.statusCode < 500;
      },
    ),
    { numRuns: 300 },
  );
});

t.test("nothing that a caller writes stands in a leaf in clear", async (t) => {
  const canary = "canary7f3a";
  const before = api.audit.leaves.length;
  const text = `${canary} text`;
  const path = `/jobs/${canary}/shards`;
  const headers = {
    authorization: `Bearer ${alice.platformKey}`,
    "user-agent": canary,
    "x-request-id": canary,
    "x-forwarded-for": canary,
    "idempotency-key": canary,
  };
  const bodies: Record<string, Record<string, unknown>> = {
    "/api/tasks": {
      ...{
        name: text,
        shardsDirPath: path,
        trainingScriptsFolderPath: path,
        trainingConfigFolderPath: path,
      },
      ...{ trainingRequirementsFolderPath: path, modelFolderPath: path, workerIds: [canary] },
    },
    "/api/users/storage/upload/init": {
      key: `jobs/${canary}/a`,
      size: 1,
      contentType: `text/${canary}`,
    },
    "/api/users/storage/upload/complete": {
      key: `jobs/${canary}/a`,
      uploadId: canary,
      parts: [{ PartNumber: 1, ETag: canary }],
    },
    "/api/users/storage/upload/abort": { key: `jobs/${canary}/a`, uploadId: canary },
    "/api/nodes/join": { token: canary, csr: canary },
    "/api/keys": { name: canary },
  };
  const document = (await api.app.inject({ url: "/api/openapi.json" })).json<OpenApi>();
  for (const [template, methods] of Object.entries(document.paths)) {
    for (const method of Object.keys(methods)) {
      const url = `${template.replace(/\{[^}]+\}/g, canary)}?job_id=${canary}&service=${canary}&account=${canary}`;
      const payload = bodies[template];
      await api.app.inject({
        method: method.toUpperCase() as "GET",
        url,
        headers,
        ...(payload === undefined ? {} : { payload }),
      });
      await api.app.inject({
        method: method.toUpperCase() as "GET",
        url,
        headers: { ...headers, authorization: `Bearer rsk_${canary}` },
      });
    }
  }
  await upload(engine, alice.bucket, canary, goodFiles());
  const accepted = await api.call(alice, {
    method: "POST",
    url: "/api/tasks",
    payload: goodBody(canary),
    headers: { "user-agent": canary },
  });
  t.equal(accepted.status, 201);
  const leaves = api.audit.leaves.slice(before);
  t.ok(leaves.length > 10);
  t.notMatch(leaves.join("\n"), /canary7f3a/i);
  t.notMatch(api.logLines.join("\n"), new RegExp(alice.platformKey));
});

t.test("a store that can't serve now is told as such, not as a failure of ours", async (t) => {
  // As the S3 front answers while it can't record: nothing of the request has reached the engine.
  const away = new S3ResponseError("ServiceUnavailable", 503, "the audit log takes no records");
  t.match(asApiError(away), { code: "storage_unavailable", status: 503 });
  t.equal(asApiError(new S3ResponseError("InternalError", 500, "x")), null);
});

t.test("a failure of ours shows its request id and nothing else", async (t) => {
  api.kernel.jobs = () => {
    throw new Error("SQLITE_CORRUPT: /var/lib/secret.db");
  };
  const reply = await api.call(alice, { url: "/api/customer/dashboard/jobs" });
  t.match(reply, { status: 500, body: { code: "internal_error" } });
  t.notMatch(JSON.stringify(reply.body), /SQLITE|secret/);
  t.ok(String(reply.body["message"]).includes(String(reply.headers["x-request-id"])));
  t.ok(
    api.logLines.some((line) => line.includes("SQLITE_CORRUPT")),
    "the log has the cause",
  );
});

t.test("job images are listed with their packages", async (t) => {
  const reply = await api.app.inject({
    url: "/api/images",
    headers: { authorization: `Bearer ${alice.platformKey}` },
  });
  t.equal(reply.statusCode, 200);
  t.match(reply.json(), [
    { profile: "fl-cpu", pythonVersion: "3.11.2", packages: [{ name: "numpy", version: "2.3.1" }] },
  ]);
});
