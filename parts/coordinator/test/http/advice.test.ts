/** `GET /api/advice` for the workers of an appliance. What is advised is test/workloads/distributed/decisions. */
import t from "tap";
import type { AdviceReply } from "@resontech/contracts/http-advice";
import { insertUser, noteMade } from "../../src/identity/bucket-store.ts";
import { drawKey } from "../../src/identity/draw-key.ts";
import { insertKey } from "../../src/identity/key-store.ts";
import type { S3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

// No request of these tests gets as far as the object store.
const noEngine = { endpoint: "", region: "", volumePath: t.testdir() } as unknown as S3Engine;
const api = await makeTestApp(t.testdir(), noEngine);
t.teardown(() => api.close());
const { key, row } = drawKey("dev");
await api.commit.run((db) => {
  const of = { userId: "u_alice", projectId: "p_alice" };
  insertUser(db, { ...of, username: "alice", bucket: "alice-1", quotaBytes: 1, now: 1 });
  noteMade(db, "alice-1", 1);
  const scopes = ["jobs:read"] as const;
  insertKey(db, { ...row, ...of, name: "alice", scopes, createdAt: 1, expiresAt: 1e15 });
});

async function ask(query: Record<string, string>) {
  const headers = { authorization: `Bearer ${key}` };
  const reply = await api.app.inject({ url: "/api/advice", headers, query });
  return { status: reply.statusCode, body: reply.json<unknown>() };
}

t.test(
  "an appliance without GPUs advises by the table, and estimates for its processors",
  async (t) => {
    const { status, body } = await ask({ parameters: "7b" });
    t.equal(status, 200);
    const { parameters, devices, notes } = body as AdviceReply;
    t.equal(parameters, 7e9);
    t.match(devices, [
      { model: "cpu", online: 2, mostOnOneNode: 2, memoryMb: 4096, advised: null },
    ]);
    t.match(notes[0], /for GPUs the table alone advises/);
  },
);

t.test("a model is named, with a sequence and a shape of one's own", async (t) => {
  const query = {
    ...{ parameters: "7b", gpuModels: "h100,rtx_4090", sequence: "4096", gpus: "8" },
    ...{ layers: "28", hidden: "3584", heads: "28", vocabulary: "152064" },
  };
  const { body } = await ask(query);
  const { devices, shape, sequence } = body as AdviceReply;
  t.match(shape, { layers: 28, like: null, isVocabularyAssumed: false });
  t.equal(sequence, 4096);
  t.same(
    devices.map(({ model, row, isOfSite }) => [model, row, isOfSite]),
    [
      ["rtx_4090", "several-gpus", false],
      ["h100", "several-gpus", false],
    ],
  );
  t.ok(devices.every(({ estimates }) => estimates.every(({ devices: of }) => of === 8)));
});

t.test("what can't be meant is refused by name, and nothing is guessed", async (t) => {
  const refusals: [Record<string, string>, string, RegExp][] = [
    [{}, "validation_failed", /parameters/],
    [{ parameters: "7x" }, "validation_failed", /"7x" is no count.*write 7b/],
    [{ parameters: "7b", sequence: "0" }, "validation_failed", /sequence/],
    [{ parameters: "7b", sequence: "4k" }, "validation_failed", /sequence/],
    [{ parameters: "7b", gpus: "257" }, "validation_failed", /gpus/],
    [{ parameters: "7b", precision: "fp8" }, "validation_failed", /precision/],
    [{ parameters: "7b", layers: "32" }, "validation_failed", /go together/],
    [{ parameters: "7b", layers: "2", hidden: "4", heads: "8" }, "validation_failed", /heads is 8/],
    [{ parameters: "7b", gpuModels: "h100,h1000" }, "gpu_model_unknown", /"h1000"/],
    [{ parameters: "7b", gpuModels: "," }, "gpu_model_unknown", /""/],
    [{ parameters: "7b", other: "1" }, "validation_failed", /other/],
  ];
  for (const [query, code, message] of refusals)
    t.match(await ask(query), { status: 400, body: { code, message } }, JSON.stringify(query));
});

t.test("the largest numbers that may be asked are answered in whole bytes", async (t) => {
  const { status, body } = await ask({
    ...{ parameters: "100t", gpuModels: "rtx_4090", sequence: "10000000", gpus: "256" },
    ...{ layers: "1000", hidden: "100000", heads: "10000", vocabulary: "10000000" },
    precision: "fp32",
  });
  t.equal(status, 200);
  for (const { missingBytes } of (body as AdviceReply).devices[0]!.estimates)
    t.ok(Number.isSafeInteger(missingBytes) && missingBytes > 0);
});

t.test("nobody asks without a credential", async (t) => {
  t.equal((await api.app.inject({ url: "/api/advice?parameters=7b" })).statusCode, 401);
});
