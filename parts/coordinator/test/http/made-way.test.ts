/** What the page of a job says of whom it made way for: nothing of a project whose jobs the reader may not read. */
import t from "tap";
import { insertUser } from "../../src/identity/bucket-store.ts";
import { drawKey } from "../../src/identity/draw-key.ts";
import { insertKey } from "../../src/identity/key-store.ts";
import type { S3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

// No request of these tests gets as far as the object store.
const noEngine = { endpoint: "", region: "", volumePath: t.testdir() } as unknown as S3Engine;
const api = await makeTestApp(t.testdir(), noEngine);
t.teardown(() => api.close());

async function keyOf(user: string): Promise<string> {
  const { key, row } = drawKey("dev");
  const of = { userId: `u_${user}`, projectId: `p_${user}` };
  await api.commit.run((db) => {
    insertUser(db, { ...{ ...of, username: user, bucket: `${user}-1`, quotaBytes: 1, now: 1 } });
    insertKey(db, {
      ...{ ...row, ...of, name: user, scopes: ["jobs:read"] },
      ...{ createdAt: 1, expiresAt: 1e15 },
    });
  });
  return key;
}

const key = await keyOf("alice");
await keyOf("bob");
api.kernel.putRunning({ projectId: "p_alice", userId: "u_alice", bucket: "alice-1" });
const [id] = api.kernel.views.keys();
const view = api.kernel.views.get(id!)!;

async function madeWay() {
  const headers = { authorization: `Bearer ${key}` };
  const url = `/api/customer/dashboard/jobs/${id}`;
  const reply = await api.app.inject({ method: "GET", url, headers });
  return reply.json<{ madeWay: unknown }>().madeWay;
}

t.test("a job that made way for nobody says nothing of it", async (t) => {
  t.equal(await madeWay(), null);
});

t.test("the other project has a name where its jobs may be read", async (t) => {
  const waits = { ...view, state: "QUEUED" as const };
  const at = Date.UTC(2026, 0, 1);
  const told = { at: "2026-01-01T00:00:00.000Z", afterRound: 3, expectedStart: null };
  const by = (user: string) => ({ projectId: `p_${user}`, userId: `u_${user}` });
  api.kernel.views.set(id!, { ...waits, madeWay: { at, by: by("alice"), afterRound: 3 } });
  t.match(await madeWay(), { ...told, project: { id: "p_alice", name: String } });
  api.kernel.views.set(id!, { ...waits, madeWay: { at, by: by("bob"), afterRound: 3 } });
  t.same(await madeWay(), { ...told, project: null });
  api.kernel.views.set(id!, { ...waits, madeWay: { at, by: null, afterRound: null } });
  t.same(await madeWay(), { ...told, afterRound: null, project: null });
});
