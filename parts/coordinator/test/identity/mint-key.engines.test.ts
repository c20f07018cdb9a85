/** Keys are minted in a browser's session, and do no more than their person may in the project. */
import { PEER_HEADER } from "@resontech/contracts/peer-header";
import { randomBytes } from "node:crypto";
import type { InjectOptions } from "fastify";
import t from "tap";
import { findDefaultProject } from "../../src/identity/project-store.ts";
import { SignInHouse } from "../helper/sign-in-house.ts";

t.setTimeout(600_000);
const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const { api } = house;

async function person(username: string) {
  const account = await house.addAccount(username);
  const userId = await house.firstSignIn(account);
  const projectId = findDefaultProject(api.database.read, userId)!;
  return { ...account, userId, projectId, ask: await house.signedIn(userId) };
}
const setRole = (projectId: string, userId: string, role: string | null) =>
  api.commit.run((db) => {
    db.prepare("DELETE FROM project_members WHERE project_id = ? AND user_id = ?").run(
      projectId,
      userId,
    );
    if (role !== null)
      db.prepare("INSERT INTO project_members VALUES (?, ?, ?, 1)").run(projectId, userId, role);
  });
const wish = (projectId: string) => ({
  ...{ name: "laptop", projectId, expiresInDays: 90 },
  scopes: ["storage", "jobs:read", "jobs:write", "keys"],
});
async function withKey(key: string, options: InjectOptions) {
  const reply = await api.app.inject({
    ...options,
    headers: { authorization: `Bearer ${key}`, [PEER_HEADER]: "10.0.0.2" },
  });
  return { status: reply.statusCode, body: reply.json<Record<string, unknown>>() };
}

const anna = await person("anna");
const bert = await person("bert");

t.test("a person mints a key that works, is shown once and stands in the log", async (t) => {
  const minted = await anna.ask("POST", "/api/keys", wish(anna.projectId));
  t.match(minted, {
    status: 201,
    body: { key: /^rsk_dev_/, name: "laptop", projectId: anna.projectId },
  });
  const { id, key, expiresAt } = minted.body as Record<string, string>;
  t.equal(Date.parse(expiresAt!), api.clock.now + 90 * 86_400_000);
  t.match(await withKey(key!, { url: "/api/me" }), {
    body: { credential: "key", user: { id: anna.userId }, projects: [{ id: anna.projectId }] },
  });
  const listed = await anna.ask("GET", "/api/keys");
  t.match(listed.body, [{ id, current: false, scopes: wish("").scopes }]);
  t.notMatch(JSON.stringify(listed.body), key!);
  t.notMatch(api.audit.leaves.join(""), key!);
  t.match(
    api.audit.drafts.filter(({ type }) => type === "key.mint"),
    [
      {
        ...{ phase: "requested", object: { kind: "key", id }, actor: { sub: anna.userId } },
        detail: {
          ...{ expires_in_s: 90 * 86_400, project: anna.projectId },
          scopes: wish("").scopes,
        },
      },
      { phase: "completed" },
    ],
  );
});

t.test("without a fresh second factor none is minted", async (t) => {
  const weak = await house.signedIn(anna.userId, { acr: "1" });
  t.match(await weak("POST", "/api/keys", wish(anna.projectId)), {
    ...{ status: 403, body: { code: "step_up_required" } },
  });
});

t.test("a project of others is not there, as one that never was", async (t) => {
  const foreign = await anna.ask("POST", "/api/keys", wish(bert.projectId));
  t.match(foreign, { status: 404, body: { message: "there is no such project" } });
  t.same(await anna.ask("POST", "/api/keys", wish("p_nothing")), foreign);
  await setRole(bert.projectId, anna.userId, "viewer");
  t.same(await anna.ask("POST", "/api/keys", wish(bert.projectId)), foreign, "nor for a viewer");
  await setRole(bert.projectId, anna.userId, null);
});

t.test("bad wishes are refused by name", async (t) => {
  for (const bad of [
    { expiresInDays: 367 },
    { expiresInDays: 0 },
    { scopes: [] },
    { scopes: ["everything"] },
    { scopes: ["keys", "keys"] },
    { name: "" },
    { name: "a\u001b[2Jb" },
    { name: "x".repeat(65) },
  ])
    t.match(
      await anna.ask("POST", "/api/keys", { ...wish(anna.projectId), ...bad }),
      { status: 400, body: { code: "validation_failed" } },
      JSON.stringify(bad),
    );
});

t.test("a shell that is signed in mints none", async (t) => {
  const { provider } = house.parts;
  const readAccessToken = provider.readAccessToken.bind(provider);
  // As a token of the device grant is read: cli/test/sign-in.browser.test.ts has a real one.
  provider.readAccessToken = async () => ({
    ...{ kind: "person", subject: anna.subject, sid: "s", acr: "2" },
    ...{ authenticatedAt: Date.now(), roles: [] },
  });
  const reply = await withKey(`ey${randomBytes(8).toString("hex")}.a.b`, {
    ...{ method: "POST", url: "/api/keys", payload: wish(anna.projectId) },
  });
  provider.readAccessToken = readAccessToken;
  t.match(reply, { status: 403, body: { code: "session_only" } });
  t.match(api.audit.drafts.at(-1), { type: "auth.refused", detail: { reason: "session_only" } });
});

t.test("ten living keys are the most", async (t) => {
  const carla = await person("carla");
  for (let count = 0; count < 10; count += 1)
    t.equal((await carla.ask("POST", "/api/keys", wish(carla.projectId))).status, 201);
  t.match(await carla.ask("POST", "/api/keys", wish(carla.projectId)), {
    ...{ status: 409, body: { code: "too_many_keys" } },
  });
  t.match(api.audit.drafts.at(-1), { type: "key.mint", phase: "denied" });
  const [first] = (await carla.ask("GET", "/api/keys")).body as unknown as { id: string }[];
  t.match(await carla.ask("DELETE", `/api/keys/${first!.id}`), { status: 200 });
  t.equal((await carla.ask("POST", "/api/keys", wish(carla.projectId))).status, 201);
});

t.test("a key follows what its person is in the project, and ends with it", async (t) => {
  const { projectId } = bert;
  await setRole(projectId, anna.userId, "researcher");
  const minted = await anna.ask("POST", "/api/keys", wish(projectId));
  const key = String(minted.body["key"]);
  api.kernel.putRunning({ projectId, userId: bert.userId, bucket: "b" });
  const task = { url: "/api/tasks/state-RUNNING" };
  const jobs = { url: "/api/customer/dashboard/jobs" };
  const states = { url: "/api/job-states" };
  t.match(await withKey(key, task), { status: 404 }, "a colleague's job");
  t.same((await withKey(key, jobs)).body, []);
  t.same((await withKey(key, states)).body, []);
  await setRole(projectId, anna.userId, "project-lead");
  t.match(await withKey(key, task), { status: 200 });
  t.match((await withKey(key, jobs)).body, [{ jobId: "state-RUNNING" }]);
  await setRole(projectId, anna.userId, "viewer");
  t.match(await withKey(key, task), { status: 403, body: { code: "role_required" } });
  t.match((await withKey(key, states)).body, [{ id: "state-RUNNING", state: "RUNNING" }]);
  t.match((await withKey(key, { url: "/api/job-states/state-RUNNING" })).status, 200);
  t.notMatch(JSON.stringify((await withKey(key, states)).body), /running|jobs/, "states alone");
  t.match(await withKey(key, { url: "/api/users/storage/bucket" }), { status: 403 });
  await setRole(projectId, anna.userId, null);
  t.match(await withKey(key, states), { status: 401, body: { code: "invalid_api_key" } });
});

t.test("a session names its project, and no other than its own", async (t) => {
  await setRole(bert.projectId, anna.userId, "researcher");
  const list = async () =>
    ((await anna.ask("GET", "/api/projects")).body as unknown as { id: string }[])
      .map(({ id }) => id)
      .sort();
  t.same(await list(), [anna.projectId, bert.projectId].sort());
  const withHeader = async (project: string) =>
    await anna.ask("GET", "/api/me", undefined, { "x-rt-project": project });
  t.equal((await withHeader(bert.projectId)).status, 200);
  t.match(await withHeader("p_nothing"), { status: 404, body: { code: "not_found" } });
  await setRole(bert.projectId, anna.userId, null);
  t.match(await withHeader(bert.projectId), { status: 404 });
  t.same(await list(), [anna.projectId]);
});
