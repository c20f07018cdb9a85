import { readFile } from "node:fs/promises";
import { LEAST_COST_BYTES } from "@resontech/contracts/storage-cost";
import t from "tap";
import { AuditUnavailable } from "@resontech/audit/producer";
import { insertApproval } from "../../src/approvals/approval-store.ts";
import { grantExport, setLeavesByApproval } from "../../src/storage/export-grants.ts";
import { S3ObjectStore } from "../../src/storage/object-store.ts";
import { S3Transport } from "../../src/storage/s3-transport.ts";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine);
t.teardown(() => api.close());
const alice = await api.addUser("alice");
const bob = await api.addUser("bob");
const ca = await readFile(engine.caFile, "utf8");
const post = (url: string, payload: Record<string, unknown>, user = alice) =>
  api.call(user, { method: "POST", url, payload });
const ownStore = (pair: { accessKeyId: string; secretAccessKey: string }) => {
  const transport = new S3Transport({
    endpoint: engine.endpoint,
    region: engine.region,
    ca,
    credentials: pair,
  });
  t.teardown(() => transport[Symbol.dispose]());
  return new S3ObjectStore(transport);
};

t.test("the bucket is told, with its usage", async (t) => {
  t.match(await api.call(alice, { url: "/api/users/storage/bucket" }), {
    status: 200,
    body: {
      bucketAlias: alice.bucket,
      endpoint: engine.endpoint,
      region: "garage",
      accessKeyId: alice.accessKeyId,
      versioned: true,
    },
  });
  await engine.store.put(alice.bucket, "usage/a", "12345", "text/plain");
  await engine.store.put(alice.bucket, "usage/a", "123", "text/plain");
  t.match(await api.call(alice, { url: "/api/users/storage/usage" }), {
    status: 200,
    body: { usedBytes: 2 * LEAST_COST_BYTES, objects: 1, quotaBytes: 10 * 1024 ** 3 },
  });
  await api.commit.run((db) =>
    db.prepare("UPDATE buckets SET made_at = NULL WHERE name = ?").run(bob.bucket),
  );
  t.match(await api.call(bob, { url: "/api/users/storage/bucket" }), {
    status: 404,
    body: { code: "bucket_missing" },
  });
  await api.commit.run((db) =>
    db.prepare("UPDATE buckets SET made_at = 1 WHERE name = ?").run(bob.bucket),
  );
});

t.test(
  "an upload goes init, PUT, complete, and is in the audit log with one outcome",
  async (t) => {
    const key = "jobs/up/shards/shard_0.zip";
    const before = api.audit.names.length;
    const init = await post("/api/users/storage/upload/init", {
      key,
      size: 11,
      contentType: "application/zip",
    });
    t.equal(init.status, 200);
    const [url] = init.body["urls"] as string[];
    t.match(url, /X-Amz-Expires=900/, "a small upload's URLs live 15 minutes");
    const put = await fetchWithCa(ca, url!, { method: "PUT", body: "hello world" });
    t.equal(put.status, 200);
    const etag = put.headers.get("etag")!.replaceAll('"', "");
    const uploadId = init.body["uploadId"];
    const wrong = { uploadId, key, parts: [{ PartNumber: 1, ETag: "0".repeat(32) }] };
    t.match(await post("/api/users/storage/upload/complete", wrong), {
      status: 400,
      body: { code: "upload_parts_invalid" },
    });
    const gap = { uploadId, key, parts: [{ PartNumber: 2, ETag: etag }] };
    t.match(await post("/api/users/storage/upload/complete", gap), {
      status: 400,
      body: { code: "upload_parts_invalid" },
    });
    const done = await post("/api/users/storage/upload/complete", {
      uploadId,
      key,
      parts: [{ PartNumber: 1, ETag: etag }],
    });
    t.match(done, { status: 200, body: { key, size: 11 } });
    t.equal((await engine.store.stat(alice.bucket, key))?.versionId, done.body["versionId"]);
    const again = await post("/api/users/storage/upload/complete", {
      uploadId,
      key,
      parts: [{ PartNumber: 1, ETag: etag }],
    });
    t.same(again.body, done.body, "a repeat after a lost answer is told the same");
    const unknown = {
      uploadId: "0c5d1f3e-0000-4000-8000-000000000000",
      key,
      parts: [{ PartNumber: 1, ETag: etag }],
    };
    t.match(await post("/api/users/storage/upload/complete", { ...unknown, key: `${key}.other` }), {
      status: 404,
      body: { code: "upload_not_found" },
    });
    t.same(api.audit.names.slice(before), [
      ...["data.upload.init:requested", "data.upload.init:completed"],
      ...["data.upload.complete:requested", "data.upload.complete:failed"],
      ...["data.upload.complete:requested", "data.upload.complete:completed"],
      ...["data.upload.complete:requested", "data.upload.complete:completed"],
      ...["data.upload.complete:requested", "data.upload.complete:failed"],
    ]);
    const leaves = api.audit.leaves.slice(before).join("\n");
    for (const secret of ["shard_0", alice.bucket, "alice", "127.0.0.1", url!.slice(-64)])
      t.notOk(leaves.includes(secret), secret);
  },
);

t.test("URLs live as long as the size needs, and parts are 50 MiB", async (t) => {
  const init = await post("/api/users/storage/upload/init", {
    key: "jobs/up/shards/large.zip",
    size: 6 * 1024 ** 3,
  });
  const urls = init.body["urls"] as string[];
  t.equal(urls.length, Math.ceil((6 * 1024 ** 3) / (50 * 1024 ** 2)));
  t.match(urls[0], new RegExp(`X-Amz-Expires=${Math.ceil((6 * 1024 ** 3) / 5_000_000)}`));
  const abort = { uploadId: init.body["uploadId"], key: "jobs/up/shards/large.zip" };
  t.match(await post("/api/users/storage/upload/abort", abort), {
    status: 200,
    body: { aborted: true },
  });
  t.match(await post("/api/users/storage/upload/abort", abort), {
    status: 200,
    body: { aborted: false },
  });
  t.equal((await fetchWithCa(ca, urls[0]!, { method: "PUT", body: "late" })).status, 404);
});

t.test("refused uploads", async (t) => {
  const init = (key: string, size = 1) => post("/api/users/storage/upload/init", { key, size });
  for (const key of [
    "/jobs/x",
    "jobs//x",
    "jobs/../x",
    "jobs/x/",
    "jobs/\u0001",
    ".sgwtmp/x",
    "jobs/.sgwtmp/x",
    "jobs/.sgwtmp",
  ]) {
    t.match(
      await init(key),
      { status: 400, body: { code: "upload_key_invalid" } },
      JSON.stringify(key),
    );
  }
  for (const folder of ["model_out", "files_out", "logs", "ckpt"]) {
    t.match(await init(`jobs/x/${folder}/checkpoint.pt`), {
      status: 400,
      body: { code: "path_reserved" },
    });
    const key = `jobs/x/${folder}/checkpoint.pt`;
    const platform = await engine.store.createUpload(alice.bucket, key, "application/octet-stream");
    t.match(await post("/api/users/storage/upload/abort", { uploadId: platform, key }), {
      status: 400,
      body: { code: "path_reserved" },
    });
    t.equal(
      await engine.store.abortUpload(alice.bucket, key, platform),
      true,
      "the platform's upload was still open",
    );
  }
  t.match(await init("jobs/x/a", 600 * 1024 ** 3), {
    status: 400,
    body: { code: "upload_too_large" },
  });
  t.match(await init("jobs/x/a", 11 * 1024 ** 3), {
    status: 403,
    body: { code: "quota_exceeded" },
  });
});

t.test("a folder is listed by pages, read by a URL, and an object removed", async (t) => {
  const keys = ["data/a.bin", "data/b +%.bin", "data/c.bin", "data/deep/d.bin", "top.bin"];
  for (const key of keys) await engine.store.put(alice.bucket, key, `of ${key}`, "text/plain");
  const list = async (query: string) =>
    await api.call(alice, { url: `/api/users/storage/objects?${query}` });
  t.match((await list("")).body, {
    folders: ["data/", "jobs/", "usage/"],
    objects: [{ key: "top.bin" }],
  });
  const found: string[] = [];
  let after: string | null = "";
  while (after !== null) {
    const page = (await list(
      `prefix=data/&limit=2${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`,
    )) as unknown as {
      body: { folders: string[]; objects: { key: string }[]; next: string | null };
    };
    found.push(...page.body.folders, ...page.body.objects.map(({ key }) => key));
    after = page.body.next;
  }
  t.same(found.toSorted(), ["data/a.bin", "data/b +%.bin", "data/c.bin", "data/deep/"]);

  const key = "data/b +%.bin";
  const { body } = await post("/api/users/storage/download", { key });
  const answer = await fetchWithCa(ca, String(body["url"]));
  t.equal(await answer.text(), `of ${key}`);
  t.match(api.audit.drafts.at(-1), { type: "data.download.issue", detail: { bytes: 16 } });
  t.match(await post("/api/users/storage/download", { key: "none" }), { status: 404 });

  const remove = (query: { key: string }) =>
    api.call(alice, { method: "DELETE", url: "/api/users/storage/objects", query });
  t.match(await remove({ key }), { status: 200, body: { key } });
  t.match(await remove({ key }), { status: 404 });
  t.match(await remove({ key: "logs/job-1/x" }), { status: 400, body: { code: "path_reserved" } });
  t.match(await post("/api/users/storage/download", { key }), { status: 404 });
});

t.test("a model leaves by no URL where the project's outputs leave by approval", async (t) => {
  const key = "jobs/study/model_out/model.pt";
  const { versionId } = await engine.store.put(alice.bucket, key, "weights", "text/plain");
  const ask = () => post("/api/users/storage/download", { key });
  t.match(await ask(), { status: 200 });
  const guard = (byApproval: boolean) =>
    api.commit.run((db) => setLeavesByApproval(db, alice.projectId, byApproval));
  await guard(true);
  t.match(await ask(), { status: 403, body: { code: "export_controlled" } });
  const { userId, projectId } = alice;
  await api.commit.run((db) => {
    insertApproval(db, {
      ...{ id: "a_1", requesterId: userId, projectId, state: "approved", deciderId: userId },
      what: { kind: "export", jobId: "job-1", files: [] },
      ...{ reason: null, singlePerson: false, createdAt: 1, expiresAt: 2, decidedAt: 1 },
    });
    grantExport(db, {
      ...{ approvalId: "a_1", userId, bucket: alice.bucket, key, versionId },
      until: api.clock.now + 1_000,
    });
  });
  t.match(await ask(), { status: 200 });
  await engine.store.put(alice.bucket, key, "other weights", "text/plain");
  t.match(await ask(), { status: 403 }, "another version is another model");
  await guard(false);
});

t.test("another user's bucket is out of reach", async (t) => {
  await engine.store.put(alice.bucket, "jobs/private/a", "x", "text/plain");
  const bobs = ownStore(bob);
  await t.rejects(bobs.stat(alice.bucket, "jobs/private/a"), {
    name: "S3ResponseError",
    status: 403,
  });
  await t.rejects(bobs.list(alice.bucket, "", 10), { name: "S3ResponseError", status: 403 });
  const body = {
    name: "x",
    shardsDirPath: "/jobs/private/shards",
    trainingScriptsFolderPath: "/jobs/private/scripts",
    trainingConfigFolderPath: "/jobs/private/configs",
    trainingRequirementsFolderPath: "/jobs/private/requirements",
  };
  t.match(
    await post("/api/tasks", body, bob),
    { status: 400, body: { code: "shard_folder_empty" } },
    "a path is always in the own bucket",
  );
});

t.test("rotation shows the new pair once and the old one is dead at once", async (t) => {
  const old = ownStore(alice);
  await old.list(alice.bucket, "", 1000);
  const rotated = await api.call(alice, {
    method: "PATCH",
    url: "/api/users/storage/bucket/rotate-key",
  });
  t.equal(rotated.status, 200);
  await t.rejects(old.list(alice.bucket, "", 1000), { name: "S3ResponseError", status: 403 });
  const pair = rotated.body as { accessKeyId: string; secretAccessKey: string };
  await ownStore(pair).list(alice.bucket, "", 1000);
  t.match(await api.call(alice, { url: "/api/users/storage/bucket" }), {
    body: { accessKeyId: pair.accessKeyId },
  });
  t.equal(api.audit.names.filter((name) => name === "key.bucket.rotate:completed").length, 1);
  t.notOk(api.audit.leaves.join("").includes(pair.secretAccessKey));
  t.notOk(api.logLines.join("").includes(pair.secretAccessKey));
});

t.test("a rotation that a crash cut short is swept at the next start", async (t) => {
  const stray = { accessKeyId: "RTSTRAY", secretAccessKey: "nobody-has-seen-it" };
  await engine.users.create(stray);
  await api.commit.run((db) =>
    db
      .prepare("UPDATE bucket_pairs SET pending_access_key_id = 'RTSTRAY' WHERE bucket = ?")
      .run(bob.bucket),
  );
  await api.bucketKeys.sweep();
  await t.rejects(ownStore(stray).list(bob.bucket, "", 10), {
    name: "S3ResponseError",
    status: 403,
  });
  await ownStore(bob).list(bob.bucket, "", 1000);
  const left = api.database.read
    .prepare("SELECT 1 FROM bucket_pairs WHERE pending_access_key_id IS NOT NULL")
    .all();
  t.same(left, []);
});

t.test("without the audit log nothing happens, and the caller is told why", async (t) => {
  api.audit.refusal = new AuditUnavailable("timeout", "no acknowledgement in 2000 ms");
  t.teardown(() => {
    api.audit.refusal = null;
  });
  const unavailable = { status: 503, body: { code: "audit_unavailable" } };
  t.match(await post("/api/users/storage/upload/init", { key: "jobs/no/a", size: 1 }), unavailable);
  t.same(await engine.store.listUploads(alice.bucket, "jobs/no/"), []);
  t.match(await api.call(alice, { url: "/api/users/storage/bucket" }), unavailable);
  t.match(await api.call(alice, { url: "/api/keys" }), unavailable);
  t.match(
    await api.call(bob, { method: "PATCH", url: "/api/users/storage/bucket/rotate-key" }),
    unavailable,
  );
  await ownStore(bob).list(bob.bucket, "", 1000);
  t.match(
    (await api.app.inject({ url: "/api/tasks/x", headers: {} })).statusCode,
    503,
    "a refused credential is logged first, too",
  );
});

t.test("when the object store is away the answer says so without its insides", async (t) => {
  const gone = new S3Transport({
    endpoint: "https://localhost:1",
    region: "garage",
    ca,
    credentials: engine.admin,
  });
  const away = await makeTestApp(`${dir}/away`, engine, { store: new S3ObjectStore(gone) });
  t.teardown(() => away.close());
  const carol = await away.addUser("carol");
  const reply = await away.call(carol, { url: "/api/users/storage/usage" });
  t.match(reply, { status: 503, body: { code: "storage_unavailable" } });
  t.notMatch(JSON.stringify(reply.body), /ECONNREFUSED|localhost|:1\b|at /);
});

t.test("what fills a folder is told by its folders and by kind", async (t) => {
  const put = (key: string, text: string) =>
    engine.store.put(alice.bucket, key, text, "text/plain");
  await put("fill/a/one", "1");
  await put("fill/a/two", "x".repeat(10_000));
  await put("fill/b", "1");
  await put("fill/b", "2");
  const sizes = await api.call(alice, { url: "/api/users/storage/sizes?prefix=fill/" });
  t.same(sizes.body, {
    folders: [{ key: "fill/a/", sizeBytes: 10_000 + LEAST_COST_BYTES, objects: 2 }],
    kinds: {
      ...{ objects: 10_000 + 2 * LEAST_COST_BYTES, olderVersions: LEAST_COST_BYTES },
      logs: 0,
    },
  });
  t.match(await api.call(alice, { url: "/api/users/storage/sizes?prefix=fill" }), { status: 400 });
});

t.test("an older version is read, and becomes the newest again", async (t) => {
  const key = "restored/scan.txt";
  const first = await engine.store.put(alice.bucket, key, "first", "text/plain");
  await engine.store.put(alice.bucket, key, "second", "text/plain");
  await engine.store.put(alice.bucket, `${key}.other`, "begins alike", "text/plain");
  await engine.store.remove(alice.bucket, key);
  const versions = async () =>
    (await api.call(alice, { url: `/api/users/storage/versions?key=${key}` })).body as unknown as {
      versionId: string;
      sizeBytes: number;
      isLatest: boolean;
      isRemoval: boolean;
    }[];
  t.match(await versions(), [
    { isLatest: true, isRemoval: true },
    { sizeBytes: 6, isLatest: false },
    { sizeBytes: 5, versionId: first.versionId, isRemoval: false },
  ]);
  const read = await post("/api/users/storage/download", { key, versionId: first.versionId });
  t.equal(await (await fetchWithCa(ca, read.body["url"] as string)).text(), "first");
  t.match(await post("/api/users/storage/download", { key }), { status: 404 });

  const earlier = api.audit.drafts.length;
  const restored = await post("/api/users/storage/restore", { key, versionId: first.versionId });
  t.match(restored, { status: 200, body: { key, sizeBytes: 5 } });
  // The verifier compares it with what the S3 door saw: an upload that nobody announced is somebody else's.
  t.match(
    api.audit.drafts.slice(earlier).filter(({ type }) => type === "data.upload.complete"),
    [
      { phase: "requested", detail: { parts: 1, upload_sha256: /^[0-9a-f]{64}$/ } },
      { phase: "completed" },
    ],
  );
  const now = await post("/api/users/storage/download", { key });
  t.equal(await (await fetchWithCa(ca, now.body["url"] as string)).text(), "first");
  const after = await versions();
  t.equal(after.length, 4, "all versions stay");
  t.match(after[0], { isLatest: true, versionId: restored.body["versionId"] });

  t.match(await post("/api/users/storage/restore", { key, versionId: "01ABSENT" }), {
    status: 404,
  });
  const output = "jobs/x/model_out/a.pt";
  t.match(await post("/api/users/storage/restore", { key: output, versionId: "v" }), {
    body: { code: "path_reserved" },
  });
  t.match(await api.call(bob, { url: `/api/users/storage/versions?key=${key}` }), { status: 404 });
  const quota = (bytes: number) =>
    api.commit.run((db) =>
      db.prepare("UPDATE buckets SET quota_bytes = ? WHERE name = ?").run(bytes, alice.bucket),
    );
  await quota(1);
  t.match(await post("/api/users/storage/restore", { key, versionId: first.versionId }), {
    body: { code: "quota_exceeded" },
  });
  await quota(10 * 1024 ** 3);
});
