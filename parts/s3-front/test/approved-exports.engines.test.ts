/** Where a project's outputs leave by approval alone: nothing goes out that was not released, to whom, and until when. */
import t from "tap";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { RunningFront } from "./helper/running-front.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
const user = await front.addUser();
const own = front.transportOf(user.keys);
front.coordinator.addJob(user, "jobs/p", "SUCCEEDED");
const key = "jobs/p/model_out/checkpoint.pt";
const put = (name: string, text: string) =>
  front.store.put(user.bucket, name, text, "application/octet-stream");
const first = await put(key, "weights");
await put("jobs/p/files_out/training_log.txt", "epoch 1");
await put("ckpt/j_1/state.pt", "state");
await put("mine/model_out/x.pt", "of no job");
const get = async (name: string, query: Record<string, string> = {}) =>
  (await own.send({ method: "GET", path: [user.bucket, name], query })).body.toString();
const refused = {
  code: "ExportApprovalRequired",
  status: 403,
  message: /dashboard\/approvals/,
};

t.test("as long as nobody asked for it, outputs are read as before", async (t) => {
  t.equal(await get(key), "weights");
});

t.test("from then on an output is read by no way, and all else is", async (t) => {
  front.coordinator.leaveByApproval(user, true);
  await t.rejects(get(key), refused);
  await t.rejects(get(key, { versionId: first.versionId }), refused);
  await t.rejects(get("ckpt/j_1/state.pt"), refused);
  await t.rejects(own.send({ method: "HEAD", path: [user.bucket, key] }), {
    ...{ name: "S3ResponseError", status: 403 },
  });
  const presigned = await front.storeOf(user).presignGet(user.bucket, key, first.versionId, 60);
  const answer = await fetchWithCa(front.caPem, presigned);
  t.equal(answer.status, 403);
  t.match(await answer.text(), /<Code>ExportApprovalRequired</);
  const copy = {
    ...({ method: "PUT", path: [user.bucket, "mine/copy"] } as const),
    headers: { "x-amz-copy-source": `${user.bucket}/${key}` },
  } as const;
  await t.rejects(own.send(copy), refused);
  t.equal(await get("jobs/p/files_out/training_log.txt"), "epoch 1");
  t.equal(await get("mine/model_out/x.pt"), "of no job");
  const issued = await front.store.presignGet(user.bucket, key, first.versionId, 60);
  t.equal(
    await (await fetchWithCa(front.caPem, issued)).text(),
    "weights",
    "the platform reads it",
  );
  const [record] = (await front.leaves()).filter(({ type }) => type === "data.object.refused");
  t.match(record, {
    detail: { code: "ExportApprovalRequired", status: 403 },
    decision: { effect: "deny", policy_ids: ["output-approval"] },
  });
});

t.test("a released version is read by whoever asked, until its time is over", async (t) => {
  const other = await front.addUser();
  front.coordinator.release(other, key, first.versionId, Date.now() + 60_000);
  await t.rejects(get(key), refused, "somebody else's release");
  front.coordinator.release(user, key, first.versionId, Date.now() + 600_000);
  t.equal(await get(key), "weights");
  t.equal(await get(key, { versionId: first.versionId }), "weights");
  const second = await put(key, "other weights");
  await t.rejects(get(key), refused, "the newest is another");
  await t.rejects(get(key, { versionId: second.versionId }), refused);
  t.equal(await get(key, { versionId: first.versionId }), "weights");
  front.coordinator.aheadMs = 601_000;
  await t.rejects(get(key, { versionId: first.versionId }), refused, "its time is over");
  front.coordinator.aheadMs = 0;
});

t.test("nobody who can say, nothing that leaves", async (t) => {
  await front.coordinator.stop();
  await t.rejects(get(key), { name: "S3ResponseError", status: 503 });
  await front.coordinator.start();
  front.coordinator.leaveByApproval(user, false);
  t.equal(await get(key), "other weights");
});
