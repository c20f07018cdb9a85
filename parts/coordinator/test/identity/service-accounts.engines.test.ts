/** Programs of a project sign in by a key of their own: a real Keycloak makes their clients and signs their tokens. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { askKeycloak } from "@resontech/keycloak/address";
import { signClientAssertion } from "@resontech/keycloak/client-assertion";
import { PEER_HEADER } from "@resontech/contracts/peer-header";
import type { InjectOptions } from "fastify";
import { decodeJwt } from "jose";
import t from "tap";
import { findBucketOfProject, noteMade } from "../../src/identity/bucket-store.ts";
import { findDefaultProject } from "../../src/identity/project-store.ts";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { SignInHouse, type SignedInPerson } from "../helper/sign-in-house.ts";

t.setTimeout(600_000);
const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const { api, admin } = house;
const { serviceAccounts } = house.parts;
const issuer = `${house.origin}/realms/resontech`;
const DAY_MS = 86_400_000;

async function person(username: string) {
  const account = await house.addAccount(username);
  const userId = await house.firstSignIn(account);
  const projectId = findDefaultProject(api.database.read, userId)!;
  return { userId, projectId, ask: await house.signedIn(userId) };
}
type Made = { id: string; clientId: string; expiresAt: string; key: KeyObject };
function newPair() {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}
const ALL = ["storage", "jobs:read", "jobs:write"];
async function make(
  ask: SignedInPerson,
  projectId: string,
  scopes: readonly string[] = ALL,
): Promise<Made> {
  const { publicKey, privateKey } = newPair();
  const made = await ask("POST", `/api/projects/${projectId}/service-accounts`, {
    ...{ name: "nightly", scopes, publicKey: publicKey.export({ format: "jwk" }) },
  });
  if (made.status !== 201) throw new Error(JSON.stringify(made));
  return { ...(made.body as unknown as Made), key: privateKey };
}
async function grant({ clientId, key }: Pick<Made, "clientId" | "key">) {
  const pem = key.export({ type: "pkcs8", format: "pem" });
  const { status, text } = await askKeycloak(
    house.keycloak.address,
    "/realms/resontech/protocol/openid-connect/token",
    {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({
        ...{ grant_type: "client_credentials", client_id: clientId },
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: await signClientAssertion(clientId, pem, issuer),
      }).toString(),
    },
  );
  return { status, body: JSON.parse(text) as Record<string, unknown> };
}
const tokenOf = async (made: Made) => String((await grant(made)).body["access_token"]);
async function withToken(token: string, options: InjectOptions) {
  const reply = await api.app.inject({
    ...options,
    headers: { authorization: `Bearer ${token}`, [PEER_HEADER]: "10.0.0.9", ...options.headers },
  });
  return { status: reply.statusCode, body: reply.json<Record<string, unknown>>() };
}
const draftsOf = (type: string) => api.audit.drafts.filter((draft) => draft.type === type);

const anna = await person("anna");
const bert = await person("bert");
const accounts = `/api/projects/${anna.projectId}/service-accounts`;

t.test("a lead makes one; its tokens are good in its project and nowhere else", async (t) => {
  const made = await make(anna.ask, anna.projectId);
  t.match(made, { id: /^sa_/, clientId: `service-account-${made.id}` });
  t.equal(Date.parse(made.expiresAt), api.clock.now + 90 * DAY_MS);
  t.match(draftsOf("iam.service-account.create"), [
    {
      ...{ phase: "requested", actor: { sub: anna.userId }, object: { kind: "user", id: made.id } },
      detail: { project: anna.projectId, expires_in_s: 90 * 86_400 },
    },
    { phase: "completed", outcome: { code: "ok" } },
  ]);
  const { status, body } = await grant(made);
  t.match({ status, body }, { status: 200, body: { refresh_token: undefined } });
  const token = String(body["access_token"]);
  // `expires_in` is counted from the answer, which a second may pass before.
  const { iat = 0, exp } = decodeJwt(token);
  t.equal(exp, iat + 300);
  t.match(await withToken(token, { url: "/api/me" }), {
    status: 200,
    body: {
      ...{ credential: "service-account", roles: [], user: { id: made.id } },
      projects: [{ id: anna.projectId, role: "service-account" }],
    },
  });
  t.match(await withToken(token, { url: "/api/projects" }), { body: [{ id: anna.projectId }] });
  t.match(await withToken(token, { url: "/api/customer/dashboard/jobs" }), {
    status: 200,
    body: [],
  });
  t.match(
    await withToken(token, { url: "/api/projects", headers: { "x-rt-project": bert.projectId } }),
    { status: 404 },
  );

  await t.test("each token is on record once, as the account's own doing", async (t) => {
    const uses = draftsOf("auth.service-account.use");
    t.match(uses, [
      {
        ...{ phase: "fact", object: { kind: "user", id: made.id } },
        actor: {
          ...{ sub: made.id, kind: "user", roles: ["service-account"], azp: made.clientId },
        },
        detail: { project: anna.projectId },
      },
    ]);
    await withToken(await tokenOf(made), { url: "/api/me" });
    t.equal(draftsOf("auth.service-account.use").length, 2);
  });

  await t.test("it may not do what people do", async (t) => {
    const refused: [InjectOptions & { url: string }, string][] = [
      [{ url: "/api/keys" }, "scope_missing"],
      [{ method: "POST", url: "/api/approvals", payload: {} }, "role_required"],
      [{ url: accounts }, "role_required"],
      [{ method: "DELETE", url: `${accounts}/${made.id}` }, "role_required"],
      [{ url: `/api/projects/${anna.projectId}/members` }, "role_required"],
      [{ url: "/api/people" }, "role_required"],
    ];
    for (const [options, code] of refused)
      t.match(await withToken(token, options), { status: 403, body: { code } }, options.url);
    t.match(await withToken(token, { method: "POST", url: "/auth/sign-out" }), { status: 200 });
    t.equal((await withToken(token, { url: "/api/session" })).status, 401);
  });

  await t.test("what it was not given it has not", async (t) => {
    const reader = await tokenOf(await make(anna.ask, anna.projectId, ["jobs:read"]));
    t.match(await withToken(reader, { url: "/api/customer/dashboard/jobs" }), { status: 200 });
    t.match(await withToken(reader, { method: "POST", url: "/api/tasks", payload: {} }), {
      ...{ status: 403, body: { code: "scope_missing" } },
    });
  });
});

t.test("only a lead who has just shown a second factor makes one", async (t) => {
  const body = () => ({
    ...{ name: "x", scopes: ALL, publicKey: newPair().publicKey.export({ format: "jwk" }) },
  });
  const weak = await house.signedIn(anna.userId, { acr: "1" });
  t.match(await weak("POST", accounts, body()), { body: { code: "step_up_required" } });
  t.match(await bert.ask("POST", accounts, body()), { status: 404, body: { code: "not_found" } });
  t.match(await bert.ask("GET", accounts), { status: 404 });
  await api.commit.run((db) =>
    db
      .prepare("INSERT INTO project_members VALUES (?, ?, 'researcher', 1)")
      .run(anna.projectId, bert.userId),
  );
  t.match(await bert.ask("POST", accounts, body()), { status: 404 });
  const auditor = await house.signedIn((await person("audrey")).userId, {
    roles: ["compliance-auditor"],
  });
  t.match(await auditor("GET", accounts), { status: 200 });
  t.match(await auditor("DELETE", `${accounts}/sa_x`), { status: 403 });
});

t.test("a key that is none, or a private one, is refused with a word for it", async (t) => {
  const { publicKey, privateKey } = newPair();
  const good = publicKey.export({ format: "jwk" });
  const bad: [string, object, string][] = [
    ["a private key", privateKey.export({ format: "jwk" }), "validation_failed"],
    ["no point of the curve", { ...good, y: "A".repeat(43) }, "service_account_key_invalid"],
    ["another curve", { ...good, crv: "P-384" }, "validation_failed"],
    ["a password", { kty: "oct", k: "AAAA" }, "validation_failed"],
  ];
  for (const [what, key, code] of bad)
    t.match(
      await anna.ask("POST", accounts, { name: "x", scopes: ALL, publicKey: key }),
      { status: 400, body: { code } },
      what,
    );
  t.match(
    await anna.ask("POST", accounts, { name: "x", scopes: ["keys"], publicKey: good }),
    { status: 400, body: { code: "validation_failed" } },
    "a scope that no program has",
  );
});

t.test("revoked it is refused at once, and Keycloak forgets it with the next sweep", async (t) => {
  const made = await make(anna.ask, anna.projectId);
  const token = await tokenOf(made);
  t.equal((await withToken(token, { url: "/api/me" })).status, 200);
  t.match(await bert.ask("DELETE", `/api/projects/${bert.projectId}/service-accounts/${made.id}`), {
    ...{ status: 404, body: { message: "there is no such service account" } },
  });
  t.match(await anna.ask("DELETE", `${accounts}/${made.id}`), {
    ...{ status: 200, body: { id: made.id, revokedAt: /^2/ } },
  });
  t.match(draftsOf("iam.service-account.revoke"), [
    { phase: "requested", object: { id: made.id }, detail: { project: anna.projectId } },
    { phase: "completed" },
  ]);
  t.match(await withToken(token, { url: "/api/me" }), {
    ...{ status: 401, body: { code: "service_account_over" } },
  });
  const listed = (await anna.ask("GET", accounts)).body as unknown as Made[];
  t.match(
    listed.filter(({ id }) => id === made.id),
    [{ createdBy: { username: "anna" }, lastUsedAt: /^2/, revokedAt: /^2/ }],
    "the list says who made it, when it was used and that it is over",
  );
  await serviceAccounts.sweep();
  t.match(await grant(made), { status: 401, body: { error: "invalid_client" } });
  t.same(await admin.get(`/resontech/clients?clientId=${made.clientId}`), []);
  await serviceAccounts.sweep();
});

t.test("after 90 days it is over, here and at Keycloak", async (t) => {
  const made = await make(anna.ask, anna.projectId);
  const token = await tokenOf(made);
  const before = api.clock.now;
  t.teardown(() => {
    api.clock.now = before;
  });
  api.clock.now = before + 90 * DAY_MS - 1;
  t.equal((await withToken(token, { url: "/api/me" })).status, 200);
  api.clock.now += 1;
  t.match(await withToken(token, { url: "/api/me" }), { body: { code: "service_account_over" } });
  await serviceAccounts.sweep();
  t.match(await grant(made), { status: 401 });
});

t.test("a client that nobody here knows gets in nowhere, and no token after a look", async (t) => {
  const { publicKey, privateKey } = newPair();
  const clientId = "service-account-sa_000000000000000000000000";
  const stray = { clientId, key: privateKey };
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: clientId, alg: "ES256", use: "sig" };
  // As a kill between Keycloak and the table leaves it.
  const { ServiceClients } = await import("../../src/identity/accounts/service-clients.ts");
  await new ServiceClients(house.coordinator).register(
    clientId,
    jwk as unknown as Record<string, string>,
  );
  const { status, body } = await grant(stray);
  t.equal(status, 200);
  t.match(await withToken(String(body["access_token"]), { url: "/api/me" }), {
    ...{ status: 401, body: { code: "invalid_token" } },
  });
  api.clock.now += 3_600_000;
  await serviceAccounts.sweep();
  api.clock.now -= 3_600_000;
  t.match(await grant(stray), { body: { error: "invalid_request" } });
});

t.test("the coordinator's own client makes clients, and changes none", async (t) => {
  const made = await make(anna.ask, anna.projectId);
  const own = await house.coordinator.get();
  const [client] = await own.get<{ id: string }[]>(`/resontech/clients?clientId=${made.clientId}`);
  const [dashboard] = await own.get<{ id: string }[]>(
    "/resontech/clients?clientId=resontech-dashboard",
  );
  for (const { id } of [client!, dashboard!]) {
    const refused = { code: "keycloak_refused", status: 403 };
    await t.rejects(own.put(`/resontech/clients/${id}`, { enabled: false }), refused);
    await t.rejects(own.delete(`/resontech/clients/${id}`), refused);
  }
  await t.rejects(own.post("/resontech/clients", { clientId: "intruder" }), {
    code: "keycloak_refused",
  });
  await t.rejects(
    own.registerClient("resontech", {
      clientId: "intruder",
      protocolMappers: [
        {
          ...{ name: "x", protocol: "openid-connect", config: {} },
          protocolMapper: "oidc-hardcoded-claim-mapper",
        },
      ],
    }),
    { code: "keycloak_refused", status: 403 },
  );
  t.match(await grant(made), { status: 200 });
});

t.test("its jobs are its own, stay when it is over, and can be handed over", async (t) => {
  const made = await make(anna.ask, anna.projectId);
  const other = await make(anna.ask, anna.projectId);
  api.kernel.putRunning({ projectId: anna.projectId, userId: made.id, bucket: "b" });
  const jobs = async (of: Made) =>
    (await withToken(await tokenOf(of), { url: "/api/customer/dashboard/jobs" }))
      .body as unknown as object[];
  t.equal((await jobs(made)).length, 1);
  t.same(await jobs(other), []);
  const handover = { from: made.id, to: anna.userId };
  const path = `/api/projects/${anna.projectId}/handover`;
  t.match(await anna.ask("POST", path, handover), { body: { code: "member_active" } });
  await anna.ask("DELETE", `${accounts}/${made.id}`);
  t.match(await anna.ask("POST", path, handover), { status: 200 });
});

t.test("it brings files by URLs of the API, and gets no key pair", async (t) => {
  const { name } = findBucketOfProject(api.database.read, anna.projectId)!;
  await house.engine.store.ensureBucket(name);
  await api.commit.run((db) => noteMade(db, name, 1));
  const token = await tokenOf(await make(anna.ask, anna.projectId));
  const call = (method: "POST" | "PATCH", url: string, payload: object) =>
    withToken(token, { method, url, payload });
  const key = "jobs/nightly/config.json";
  const begun = await call("POST", "/api/users/storage/upload/init", { key, size: 2 });
  t.match(begun, { status: 200, body: { urls: [/^http/] } });
  const { uploadId, urls } = begun.body as { uploadId: string; urls: string[] };
  const ca = readFileSync(house.engine.caFile, "utf8");
  const put = await fetchWithCa(ca, urls[0]!, { method: "PUT", body: "{}" });
  t.match(
    await call("POST", "/api/users/storage/upload/complete", {
      ...{ key, uploadId, parts: [{ PartNumber: 1, ETag: put.headers.get("etag") }] },
    }),
    { status: 200 },
  );
  t.match(await call("PATCH", "/api/users/storage/bucket/rotate-key", {}), {
    ...{ status: 403, body: { code: "role_required" } },
  });
});

t.test("it is in no list of people, and no name of one", async (t) => {
  const made = await make(anna.ask, anna.projectId);
  const root = await house.signedIn((await person("root")).userId, { roles: ["platform-admin"] });
  const { body } = await root("GET", "/api/people");
  t.notMatch(JSON.stringify(body), made.id);
  t.match(
    await anna.ask("POST", `/api/projects/${anna.projectId}/members`, {
      ...{ username: `service-account:${made.id}`, role: "project-lead" },
    }),
    { status: 404 },
  );
  t.match(
    await root("POST", "/api/approvals", {
      what: { kind: "role", userId: made.id, role: "platform-admin", change: "grant" },
    }),
    { status: 404 },
  );
});

t.test("ten living ones of a project are the most", async (t) => {
  const carla = await person("carla");
  for (let count = 0; count < 10; count += 1) await make(carla.ask, carla.projectId, ["jobs:read"]);
  await t.rejects(make(carla.ask, carla.projectId), /too_many_service_accounts/);
});

t.test("one whose maker gets a duty sees no data, and a lead adopts it or it ends", async (t) => {
  const maker = await person("maker");
  const { projectId } = maker;
  const heir = await person("heir");
  const members = `/api/projects/${projectId}/members`;
  await maker.ask("POST", members, { username: "heir", role: "project-lead" });
  const [kept, left] = [await make(maker.ask, projectId), await make(maker.ask, projectId)];
  const [token, other] = [await tokenOf(kept), await tokenOf(left)];
  const projects = { url: "/api/projects" };
  const usage = { url: "/api/users/storage/objects" };
  await house.signedIn(maker.userId, { roles: ["platform-admin"] });
  t.match(await withToken(token, usage), { status: 403, body: { code: "role_conflict" } });
  t.equal((await withToken(token, projects)).status, 200, "and is good for the rest");
  await serviceAccounts.look();
  t.equal(draftsOf("iam.service-account.orphan").length, 2);
  const its = `/api/projects/${projectId}/service-accounts`;
  const listed = async () =>
    (await heir.ask("GET", its)).body as unknown as { id: string; adoptBy: string | null }[];
  t.ok((await listed()).every(({ adoptBy }) => adoptBy !== null));
  const administrator = await house.signedIn(maker.userId, { roles: ["platform-admin"] });
  t.match(await administrator("POST", `${its}/${kept.id}/adopt`), {
    ...{ status: 403, body: { code: "role_conflict" } },
  });
  t.match(await heir.ask("POST", `${its}/${kept.id}/adopt`), {
    ...{ status: 200, body: { adoptBy: null, answeredBy: { username: "heir" } } },
  });
  t.not((await withToken(token, usage)).status, 403, "who answers for it may see the data");
  api.clock.now += 7 * DAY_MS - 1;
  await serviceAccounts.look();
  t.equal(draftsOf("iam.service-account.end").length, 0);
  api.clock.now += 1;
  await serviceAccounts.look();
  t.match(draftsOf("iam.service-account.end"), [{ object: { id: left.id } }]);
  t.match(await withToken(other, projects), { body: { code: "service_account_over" } });
});
