import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { AuditUnavailable } from "@resontech/audit/producer";
import { REGISTRY_TOKEN_ISSUER } from "@resontech/contracts/coordinator-config";
import { renderRegistryConfig } from "@resontech/registry/registry-config";
import t from "tap";
import { RegistryTokens } from "../../src/identity/registry-tokens.ts";
import { ensureEngine } from "@resontech/airgap/engines";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";
import { freePort } from "@resontech/house/free-port";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const ca = readFileSync(engine.caFile, "utf8");
const service = "registry.test";
const tokens = new RegistryTokens({
  service,
  keyPem: readFileSync(engine.keyFile, "utf8"),
  certPem: readFileSync(engine.certFile, "utf8"),
  now: Date.now,
});
const api = await makeTestApp(`${dir}/app`, engine, { registryTokens: tokens });
t.teardown(() => api.close());

const port = await freePort();
mkdirSync(`${dir}/images`);
writeFileSync(
  `${dir}/registry.json`,
  renderRegistryConfig({
    listen: `127.0.0.1:${port}`,
    publicUrl: `https://localhost:${port}`,
    storageDir: `${dir}/images`,
    certFile: engine.certFile,
    keyFile: engine.keyFile,
    token: {
      realm: "https://localhost:8000/token",
      service,
      issuer: REGISTRY_TOKEN_ISSUER,
      rootCertBundle: engine.caFile,
    },
  }),
);
const registry = spawn(await ensureEngine("registry"), ["serve", `${dir}/registry.json`], {
  stdio: "ignore",
});
const exited = once(registry, "exit");
t.teardown(async () => {
  registry.kill("SIGTERM");
  await exited;
});
const ask = (path: string, token: string | null, method = "GET") =>
  fetchWithCa(ca, `https://localhost:${port}${path}`, {
    method,
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
  });
for (let attempt = 0; attempt < 100; attempt++) {
  if (
    await ask("/v2/", null).then(
      () => true,
      () => false,
    )
  )
    break;
  await new Promise((resolve) => setTimeout(resolve, 50));
}

const login = (username: string, password: string) =>
  api.app.inject({
    url: `/token?service=${service}&scope=repository:resontech/fl-cpu:pull`,
    headers: {
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
    },
  });

t.test(
  "a one-use password becomes a token that pulls its one repository from the real registry",
  async (t) => {
    t.equal((await ask("/v2/", null)).status, 401);
    const issued = api.passwords.issue("resontech/fl-cpu", { node: "node-a", member: "m-1" });
    const reply = await login(issued.username, issued.password);
    t.equal(reply.statusCode, 200, reply.body);
    const { token } = reply.json<{ token: string }>();
    t.equal(
      (await ask("/v2/resontech/fl-cpu/manifests/latest", token)).status,
      404,
      "admitted: the image is not there",
    );
    t.equal(
      (await ask("/v2/resontech/other/manifests/latest", token)).status,
      401,
      "another repository",
    );
    t.equal(
      (await ask("/v2/resontech/fl-cpu/blobs/uploads/", token, "POST")).status,
      405,
      "no push",
    );
    t.match(api.audit.drafts.at(-1), {
      type: "key.registry.token",
      actor: { sub: "node-a", kind: "node" },
      detail: { member: "m-1" },
      object: { kind: "node", id: "node-a" },
    });
    t.notMatch(api.audit.leaves.at(-1), /fl-cpu/);
    t.equal(
      (await login(issued.username, issued.password)).statusCode,
      401,
      "the password is used up",
    );
  },
);

t.test(
  "a person's password is good as often as a client asks, and for as long as was said",
  async (t) => {
    const issued = api.passwords.issue("resontech/fl-cpu", {}, 600);
    for (let turn = 0; turn < 3; turn++)
      t.equal((await login(issued.username, issued.password)).statusCode, 200);
    t.match(api.audit.drafts.at(-1), {
      actor: { sub: "operator", kind: "operator" },
      object: { kind: "node", id: "operator" },
    });
    t.equal((await login(issued.username, "guess")).statusCode, 401);
    api.clock.now += 601_000;
    t.equal((await login(issued.username, issued.password)).statusCode, 401);
  },
);

t.test("a password is not used up by a request that the audit log could not take", async (t) => {
  const issued = api.passwords.issue("resontech/fl-cpu", { node: "node-a" });
  api.audit.refusal = new AuditUnavailable("timeout", "auditd does not answer");
  t.equal((await login(issued.username, issued.password)).statusCode, 503);
  api.audit.refusal = null;
  t.equal((await login(issued.username, issued.password)).statusCode, 200);
  t.equal((await login(issued.username, issued.password)).statusCode, 401);
});

t.test("wrong, late and missing passwords are refused with a challenge", async (t) => {
  const issued = api.passwords.issue("resontech/fl-cpu", { node: "node-a" });
  const wrong = await login(issued.username, "guess");
  t.equal(wrong.statusCode, 401);
  t.match(wrong.headers["www-authenticate"], /^Basic/);
  t.strictSame(wrong.json(), {
    errors: [
      { code: "UNAUTHORIZED", message: "the user name or the password is not valid, or no longer" },
    ],
  });
  const push = await api.app.inject({
    url: `/token?service=${service}&scope=repository:resontech/fl-cpu:pull,push`,
  });
  t.match(push.json(), {
    errors: [{ code: "UNAUTHORIZED", message: /read-only, nobody can push/ }],
  });
  const odd = await api.app.inject({ url: `/token?service=${"x".repeat(300)}` });
  t.match(odd.json(), { errors: [{ code: "UNSUPPORTED" }] }, "whatever is wrong with it");
  api.clock.now += 5 * 60_000;
  t.equal((await login(issued.username, issued.password)).statusCode, 401);
  t.equal((await api.app.inject({ url: "/token" })).statusCode, 401);
  t.equal(
    (await api.app.inject({ url: "/token", headers: { authorization: "Basic %%%" } })).statusCode,
    401,
  );
});
