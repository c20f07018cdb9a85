/** `/api/live` through the real front door: who may connect, what he hears, and when it ends. */
import Database from "better-sqlite3";
import type { LiveAnswer } from "@resontech/contracts/live-socket";
import t from "tap";
import type { ApplianceRole } from "../../src/authorization/roles.ts";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { LiveClient } from "../helper/live-client.ts";
import { LOOK_MS } from "../../src/http/routes/live.ts";
import { RunningCoordinator } from "../helper/running-coordinator.ts";

// On a machine where no test has needed Keycloak before, it is made first.
t.setTimeout(600_000);
const running = await RunningCoordinator.create({ identity: true });
t.teardown(() => running[Symbol.asyncDispose]());
const addUser = (username: string) => running.control("add-user", { username });
const ada = await addUser("ada");
const origin = new URL(running.url).origin;
const bearer = { authorization: `Bearer ${ada.platformKey}` };
const open = (headers: Record<string, string>) =>
  LiveClient.open(running.url, running.caPem, headers);
const isOf = (id: number) => (answer: LiveAnswer) => "id" in answer && answer.id === id;

t.test("a program with a key hears a topic, and is refused one that is not its own", async (t) => {
  using live = await open(bearer);
  live.say({ op: "hello" });
  await live.heard(({ op }) => op === "ready");
  live.say({ op: "subscribe", id: 1, topic: { kind: "jobs" } });
  live.say({ op: "subscribe", id: 2, topic: { kind: "nodes" } });
  live.say({ op: "subscribe", id: 3, topic: { kind: "log", job: "job-none" } });
  live.say({ op: "subscribe", id: 4, topic: { kind: "approvals" } });
  live.say({ op: "subscribe", id: 5, topic: { kind: "findings" } });
  t.match(await live.heard(isOf(1)), { op: "told", message: { kind: "reset", missed: null } });
  t.match(await live.heard(isOf(2)), { op: "refused", code: "role_required" });
  t.match(await live.heard(isOf(3)), { op: "refused", code: "not_found" });
  t.match(await live.heard(isOf(4)), { op: "refused", code: "role_required" });
  t.match(await live.heard(isOf(5)), { op: "refused", code: "role_required" });
});

t.test(
  "a request is told to who may see it, and how the appliance does to its administrators",
  async (t) => {
    const bob = await addUser("bob");
    const headersOf = async (userId: string, roles: readonly ApplianceRole[]) => {
      const session = await running.signedIn(userId, { roles });
      return { ask: session, live: { cookie: session["cookie"]!, origin } };
    };
    const sessions = {
      ada: await headersOf(ada.userId, []),
      bob: await headersOf(bob.userId, []),
      officer: await headersOf((await addUser("olga")).userId, ["security-officer"]),
      admin: await headersOf((await addUser("paul")).userId, ["platform-admin"]),
    };
    const listen = async (who: keyof typeof sessions) => {
      const live = await open(sessions[who].live);
      live.say({ op: "hello", csrf: sessions[who].ask["x-rt-csrf"]! });
      await live.heard(({ op }) => op === "ready");
      live.say({ op: "subscribe", id: 1, topic: { kind: "approvals" } });
      live.say({ op: "subscribe", id: 2, topic: { kind: "findings" } });
      await live.heard(isOf(1));
      await live.heard(isOf(2));
      return live;
    };
    using requester = await listen("ada");
    using stranger = await listen("bob");
    using officer = await listen("officer");
    using admin = await listen("admin");
    const isFindings = (answer: LiveAnswer) =>
      answer.op === "told" &&
      answer.message.kind === "change" &&
      answer.message.change.kind === "findings";
    await admin.heard(isFindings);
    for (const other of [requester, stranger])
      t.match(await other.heard(isOf(2)), { op: "refused", code: "role_required" });

    const { body: projects } = await running.get("/api/projects", ada.platformKey);
    const projectId = (projects as unknown as { id: string }[])[0]!.id;
    const made = await fetchWithCa(running.caPem, `${running.url}/api/approvals`, {
      method: "POST",
      headers: { ...sessions.ada.ask, "content-type": "application/json" },
      body: JSON.stringify({ what: { kind: "quota", projectId, bytes: 2 ** 31 }, reason: "more" }),
    });
    t.equal(made.status, 201, await made.clone().text());
    const { id } = (await made.json()) as { id: string };
    const isRequest = (answer: LiveAnswer) =>
      answer.op === "told" &&
      answer.message.kind === "change" &&
      answer.message.change.kind === "approval" &&
      answer.message.change.approval === id;
    for (const who of [requester, officer, admin])
      t.match(await who.heard(isRequest), { message: { change: { state: "requested" } } });
    const withdrawn = await fetchWithCa(
      running.caPem,
      `${running.url}/api/approvals/${id}/withdraw`,
      {
        method: "POST",
        headers: sessions.ada.ask,
      },
    );
    t.equal(withdrawn.status, 200);
    const isOver = (answer: LiveAnswer) =>
      isRequest(answer) && JSON.stringify(answer).includes('"withdrawn"');
    await requester.heard(isOver);
    await officer.heard(isOver);
    t.notOk(stranger.told.some(isRequest), "who may not see the request hears nothing of it");
  },
);

t.test("what is no connection of ours is refused before it is one", async (t) => {
  const cookie = await running.signedIn(ada.userId);
  for (const [what, headers, status] of [
    ["nobody", {}, 401],
    ["a key from a foreign page", { ...bearer, origin: "https://elsewhere.example" }, 403],
    ["a cookie without an origin", { cookie: cookie["cookie"]! }, 403],
    [
      "a cookie from a foreign page",
      { cookie: cookie["cookie"]!, origin: "https://localhost" },
      403,
    ],
    ["a cookie from a null origin", { cookie: cookie["cookie"]!, origin: "null" }, 403],
  ] as const)
    await t.rejects(open(headers), { message: `status ${status}` }, what);
  const plain = await running.get("/api/live", ada.platformKey);
  t.match(plain, { status: 426, body: { code: "upgrade_required" } });
});

t.test("a page names its CSRF token first, and hears nothing otherwise", async (t) => {
  const cookie = await running.signedIn(ada.userId);
  const headers = { cookie: cookie["cookie"]!, origin };
  {
    using live = await open(headers);
    live.say({ op: "hello", csrf: "wrong" });
    t.match(await live.closed(), { code: 4403 });
  }
  {
    using live = await open(headers);
    live.say({ op: "subscribe", id: 1, topic: { kind: "jobs" } });
    t.match(await live.closed(), { code: 4403 });
  }
  {
    using live = await open(headers);
    t.match(await live.closed(), { code: 4403, reason: "no hello came" });
  }
  using live = await open(headers);
  live.say({ op: "hello", csrf: cookie["x-rt-csrf"]! });
  await live.heard(({ op }) => op === "ready");
  live.sayText("{}");
  t.match(await live.closed(), { code: 4400 });
});

t.test(
  "a session that ends, and a role that changes, end the connection within two seconds",
  async (t) => {
    const end = async (change: (db: Database.Database) => void) => {
      const cookie = await running.signedIn(ada.userId, { roles: ["platform-admin"] });
      using live = await open({ cookie: cookie["cookie"]!, origin });
      live.say({ op: "hello", csrf: cookie["x-rt-csrf"]! });
      await live.heard(({ op }) => op === "ready");
      const db = new Database(running.config.databaseFile, { timeout: 60_000 });
      change(db);
      db.close();
      t.match(await live.closed(), { code: 4401 });
    };
    t.ok(LOOK_MS.cookie <= 1_000, "a second is left for the look itself");
    await end((db) => db.prepare("DELETE FROM sessions").run());
    await end((db) => db.prepare("UPDATE sessions SET roles = '[]'").run());
  },
);

t.test("a key that is revoked ends its connection", async (t) => {
  using live = await open(bearer);
  live.say({ op: "hello" });
  await live.heard(({ op }) => op === "ready");
  const db = new Database(running.config.databaseFile, { timeout: 60_000 });
  db.prepare("UPDATE platform_keys SET revoked_at = 1").run();
  db.close();
  t.match(await live.closed(), { code: 4401 });
});
