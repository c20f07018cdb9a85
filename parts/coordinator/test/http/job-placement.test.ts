/** Where a job is, over the API: each factor of its places, for whoever may read its state. What the kernel knows is test/kernel/node-standings.test.ts. */
import t from "tap";
import { insertUser, noteMade } from "../../src/identity/bucket-store.ts";
import { drawKey } from "../../src/identity/draw-key.ts";
import { insertKey } from "../../src/identity/key-store.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";
import { SimAgent } from "../kernel/sim-agent.ts";
import type { S3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

// No request of these tests gets as far as the object store.
const noEngine = { endpoint: "", region: "", volumePath: t.testdir() } as unknown as S3Engine;
const world = new KernelWorld();
t.teardown(() => world[Symbol.dispose]());
const api = await makeTestApp(t.testdir(), noEngine, { queue: world.parts.queue });
t.teardown(() => api.close());

async function keyOf(user: string): Promise<string> {
  const { key, row } = drawKey("dev");
  const of = { userId: `u_${user}`, projectId: `p_${user}` };
  await api.commit.run((db) => {
    insertUser(db, { ...of, username: user, bucket: `${user}-1`, quotaBytes: 1, now: 1 });
    noteMade(db, `${user}-1`, 1);
    const scopes = ["jobs:read"] as const;
    insertKey(db, { ...row, ...of, name: user, scopes, createdAt: 1, expiresAt: 1e15 });
  });
  return key;
}

t.test("the placement of a job tells each factor of each place, to its people", async (t) => {
  const [alice, bob] = [await keyOf("alice"), await keyOf("bob")];
  world.admit("node-a");
  const agent = new SimAgent(world, "node-a", 2);
  await agent.register();
  const { id } = await world.parts.kernel.submit(world.task("placed"));
  await world.parts.scheduler.cycle();
  api.kernel.views.set(id, {
    ...world.parts.kernel.job(id)!,
    ...{ userId: "u_alice", projectId: "p_alice" },
  });
  const ask = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const reply = await api.app.inject({ url: `/api/jobs/${id}/placement`, headers });
    return { status: reply.statusCode, body: reply.json<Record<string, unknown>>() };
  };
  t.match(await ask(alice), {
    status: 200,
    body: {
      wait: null,
      placed: {
        workers: [{ node: "node-a" }, { node: "node-a" }],
        scores: [
          {
            ...{ node: "node-a", model: "cpu", score: 1 },
            factors: [
              { factor: "uptime", value: null },
              { factor: "tier", value: null },
              { factor: "locality", value: null },
              { factor: "load", value: null },
              { factor: "price", value: 1 },
              { factor: "framework", value: 1 },
            ],
          },
        ],
      },
    },
  });
  const stranger = await ask(bob);
  t.equal(stranger.status, 404);
  t.notMatch(JSON.stringify(stranger.body), /node-a/);
});
