import { setTimeout as sleep } from "node:timers/promises";
import { LEAST_COST_BYTES } from "@resontech/contracts/storage-cost";
import t from "tap";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { RunningFront } from "./helper/running-front.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
const KIB = 1024;
let counts = 0;
const count = front.store.usage.bind(front.store);
front.store.usage = (bucket) => {
  counts += 1;
  return count(bucket);
};

t.test(
  "after copies of every kind the bucket is not counted again, and its quota holds to the byte",
  async (t) => {
    const user = await front.addUser(100 * KIB);
    const store = front.storeOf(user);
    const own = front.transportOf(user.keys);
    const { versionId } = await store.put(
      user.bucket,
      "source",
      Buffer.alloc(10 * KIB),
      "text/plain",
    );
    t.equal(counts, 1, "for the first write");
    const copy = (key: string, from: string, more = {}, query = {}) =>
      own.send({
        method: "PUT",
        path: [user.bucket, key],
        query,
        headers: { "x-amz-copy-source": `/${user.bucket}/${from}`, ...more },
      });
    await copy("one", "source");
    await copy("two", `source?versionId=${versionId}`);
    const uploadId = await store.createUpload(user.bucket, "parts", "text/plain");
    await copy("parts", "source", {}, { uploadId, partNumber: "1" });
    await copy(
      "parts",
      "source",
      { "x-amz-copy-source-range": `bytes=0-${5 * KIB - 1}` },
      { uploadId, partNumber: "2" },
    );
    const left = 100 * KIB - (await count(user.bucket)).usedBytes;
    await store.put(user.bucket, "rest", Buffer.alloc(left - LEAST_COST_BYTES), "text/plain");
    await store.put(user.bucket, "last", "x", "text/plain");
    t.equal(counts, 1, "nothing was counted again");
    await t.rejects(store.put(user.bucket, "over", "x", "text/plain"), { code: "QuotaExceeded" });
  },
);

t.test("a copy onto itself is a new version: the one before it stays as it was", async (t) => {
  const user = await front.addUser(40 * KIB);
  const store = front.storeOf(user);
  const own = front.transportOf(user.keys);
  const path = [user.bucket, "x"];
  const tagged = { "x-amz-meta-x": "first", "x-amz-tagging": "a=1" };
  const first = await own.send({
    ...{ method: "PUT", path, body: Buffer.alloc(10 * KIB), headers: tagged },
  });
  const before = String(first.headers["x-amz-version-id"]);
  const copy = (headers: Record<string, string>, version = "") =>
    own.send({
      ...{ method: "PUT", path },
      headers: { "x-amz-copy-source": `/${user.bucket}/x${version}`, ...headers },
    });
  const headOf = async (versionId: string) =>
    (await own.send({ method: "HEAD", path, query: { versionId } })).headers;
  const replace = { "x-amz-metadata-directive": "REPLACE", "x-amz-meta-x": "second" };
  const after = String((await copy(replace)).headers["x-amz-version-id"]);
  t.not(after, before);
  t.match(await headOf(before), { "x-amz-meta-x": "first", "x-amz-tagging-count": "1" });
  t.match(await headOf(after), { "x-amz-meta-x": "second", "x-amz-tagging-count": "1" });
  await t.rejects(copy({}), { code: "InvalidRequest" }, "nothing would change");
  const back = String((await copy({}, `?versionId=${before}`)).headers["x-amz-version-id"]);
  t.match(await headOf(back), { "x-amz-meta-x": "first" }, "an old version is brought back");
  // Each of them holds its room.
  const left = 40 * KIB - (await count(user.bucket)).usedBytes;
  await store.put(user.bucket, "y", Buffer.alloc(left), "text/plain");
  await t.rejects(store.put(user.bucket, "z", "x", "text/plain"), { code: "QuotaExceeded" });
  await t.rejects(copy(replace), { code: "QuotaExceeded" });
});

t.test(
  "a source that is replaced by a larger one after it was measured is counted as it was copied",
  async (t) => {
    const user = await front.addUser(200 * KIB);
    const store = front.storeOf(user);
    await store.put(user.bucket, "source", "x", "text/plain");
    const stat = front.store.stat.bind(front.store);
    const measured = Promise.withResolvers<void>();
    front.store.stat = async (...asked) => {
      const found = await stat(...asked);
      measured.resolve();
      front.store.stat = stat;
      process.kill(front.enginePid, "SIGSTOP");
      return found;
    };
    const replaced = measured.promise.then(async () => {
      const put = store.put(user.bucket, "source", Buffer.alloc(50 * KIB), "text/plain");
      await sleep(200);
      process.kill(front.enginePid, "SIGCONT");
      await put;
    });
    const headers = { "x-amz-copy-source": `/${user.bucket}/source` };
    await front
      .transportOf(user.keys)
      .send({ method: "PUT", path: [user.bucket, "copy"], headers });
    await replaced;
    const { usedBytes } = await count(user.bucket);
    await t.rejects(
      store.put(user.bucket, "over", Buffer.alloc(200 * KIB - usedBytes + 1), "text/plain"),
      {
        code: "QuotaExceeded",
      },
    );
    await store.put(user.bucket, "fits", Buffer.alloc(200 * KIB - usedBytes), "text/plain");
  },
);

t.test(
  "the coordinator copies a part of a version that it names, by its own signature alone",
  async (t) => {
    const user = await front.addUser(100 * KIB);
    const { store } = front;
    const text = "the model of round 2";
    const { versionId } = await store.put(user.bucket, "checkpoint", text, "text/plain");
    const uploadId = await store.createUpload(user.bucket, "model", "text/plain");
    const source = { key: "checkpoint", versionId, range: { start: 0, end: text.length - 1 } };
    const etag = await store.copyPart(user.bucket, "model", uploadId, 1, source);
    await store.completeUpload(user.bucket, "model", uploadId, [{ partNumber: 1, etag }]);
    t.equal((await store.stat(user.bucket, "model"))?.sizeBytes, text.length);

    // Its key id stands in every URL that it signs: whoever holds one is told nothing of a source.
    const again = await store.createUpload(user.bucket, "stolen", "text/plain");
    const url = await store.presignPart(user.bucket, "stolen", again, 1, 60);
    const refused = /coordinator copies/;
    for (const from of [
      `/${user.bucket}/checkpoint?versionId=${versionId}`,
      `/${user.bucket}/none`,
    ]) {
      const answer = await fetchWithCa(front.caPem, url, {
        method: "PUT",
        headers: {
          ...{ "x-amz-copy-source": from, "x-amz-copy-source-range": "bytes=0-4" },
          "content-length": "0",
        },
      });
      t.equal(answer.status, 403);
      t.match(await answer.text(), refused, from);
    }
    // Without a range or a version the source would be looked at before the engine has checked the signature.
    const lacking: Record<string, string>[] = [
      { "x-amz-copy-source": `/${user.bucket}/checkpoint?versionId=${versionId}` },
      { "x-amz-copy-source": `/${user.bucket}/none`, "x-amz-copy-source-range": "bytes=0-4" },
    ];
    for (const headers of lacking)
      await t.rejects(
        front.transport.send({
          ...{ method: "PUT", path: [user.bucket, "stolen"], headers },
          query: { uploadId: again, partNumber: "1" },
        }),
        { code: "AccessDenied", message: refused },
      );
  },
);
