/** `/api/live` through the real front door: who may connect, what he hears, and when it ends. */
import Database from "better-sqlite3";
import type { LiveAnswer } from "@resontech/contracts/live-socket";
import t from "tap";
import { LiveClient } from "../helper/live-client.ts";
import { RunningCoordinator } from "../helper/running-coordinator.ts";

t.setTimeout(120_000);
const running = await RunningCoordinator.create({ identity: true });
t.teardown(() => running[Symbol.asyncDispose]());
const addUser = async (username: string) => {
  const reply = await running.control({ verb: "add-user", username, admin: false });
  return reply as unknown as { userId: string; platformKey: string };
};
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
  t.match(await live.heard(isOf(1)), { op: "told", message: { kind: "reset", missed: null } });
  t.match(await live.heard(isOf(2)), { op: "refused", code: "role_required" });
  t.match(await live.heard(isOf(3)), { op: "refused", code: "not_found" });
});

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
    t.match(await live.closed, { code: 4403 });
  }
  {
    using live = await open(headers);
    live.say({ op: "subscribe", id: 1, topic: { kind: "jobs" } });
    t.match(await live.closed, { code: 4403 });
  }
  {
    using live = await open(headers);
    t.match(await live.closed, { code: 4403, reason: "no hello came" });
  }
  using live = await open(headers);
  live.say({ op: "hello", csrf: cookie["x-rt-csrf"]! });
  await live.heard(({ op }) => op === "ready");
  live.sayText("{}");
  t.match(await live.closed, { code: 4400 });
});

t.test(
  "a session that ends, and a role that changes, end the connection within two seconds",
  async (t) => {
    const end = async (change: (db: Database.Database) => void) => {
      const cookie = await running.signedIn(ada.userId, { roles: ["platform-admin"] });
      using live = await open({ cookie: cookie["cookie"]!, origin });
      live.say({ op: "hello", csrf: cookie["x-rt-csrf"]! });
      await live.heard(({ op }) => op === "ready");
      const db = new Database(running.config.databaseFile, { timeout: 5_000 });
      change(db);
      db.close();
      const at = Date.now();
      t.match(await live.closed, { code: 4401 });
      t.ok(Date.now() - at < 2_000);
    };
    await end((db) => db.prepare("DELETE FROM sessions").run());
    await end((db) => db.prepare("UPDATE sessions SET roles = '[]'").run());
  },
);

t.test("a key that is revoked ends its connection", async (t) => {
  using live = await open(bearer);
  live.say({ op: "hello" });
  await live.heard(({ op }) => op === "ready");
  const db = new Database(running.config.databaseFile, { timeout: 5_000 });
  db.prepare("UPDATE platform_keys SET revoked_at = 1").run();
  db.close();
  t.match(await live.closed, { code: 4401 });
});
