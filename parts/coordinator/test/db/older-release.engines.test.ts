/** A database of the release before projects, with a user, a key, a bucket and a job: all of it goes on working, at the real object store. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { migrate } from "@resontech/frame/migrate";
import Database from "better-sqlite3";
import t from "tap";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { formatPlatformKey, hashPlatformKey } from "../../src/identity/decisions/platform-key.ts";
import { bucketPolicy } from "../../src/storage/decisions/bucket-policy.ts";
import { S3Transport } from "../../src/storage/s3-transport.ts";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const pair = { accessKeyId: "RTOLD", secretAccessKey: "a-secret-of-the-older-release" };
const platformKey = formatPlatformKey("dev", randomBytes(32));
const user = { platformKey, userId: "u_1", projectId: "p_1", bucket: "anna-1", ...pair };

await engine.store.ensureBucket("anna-1");
await engine.users.create(pair);
await engine.store.setBucketPolicy("anna-1", bucketPolicy("anna-1", [pair.accessKeyId]));
mkdirSync(join(dir, "app"));
const before = new Database(join(dir, "app", "coordinator.db"));
migrate(before, MIGRATIONS.slice(0, 11));
before.exec(`
  INSERT INTO users (id, username, is_admin, created_at) VALUES ('u_1', 'anna', 0, 1), ('u_2', 'bert', 0, 1);
  UPDATE users SET disabled_at = 2 WHERE id = 'u_2';
  INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('p_1', 'u_1', 'default', 1, 1), ('p_2', 'u_2', 'default', 1, 1);
  INSERT INTO buckets (name, owner_id, quota_bytes, created_at, access_key_id, rights) VALUES ('anna-1', 'u_1', 1000000, 1, 'RTOLD', 'of then');
  INSERT INTO buckets (name, owner_id, quota_bytes, created_at, retired_access_key_id) VALUES ('bert-1', 'u_2', 5, 1, 'RTGONE');
  INSERT INTO jobs (id, sequence, project_id, user_id, name, slug, bucket, output_root, state, version, desired, state_since, selection, only_mine,
      image, min_clients, resumable, warnings, shard_count, shard_uncompressed_bytes, audit_op, audit_index, audit_leaf, created_at)
    VALUES ('job-1', 1, 'p_1', 'u_1', 'n', 'n', 'anna-1', 'jobs/n', 'SUCCEEDED', 3, 'run', 1, '{}', 0, '{}', 1, 1, '[]', 1, '[1]', 'op', 1, 'leaf', 1);
`);
before
  .prepare(
    `INSERT INTO platform_keys (id, hash, prefix, last4, name, user_id, project_id, scopes, created_at, expires_at)
     VALUES ('k_1', ?, 'rsk_dev_', ?, 'first key', 'u_1', 'p_1', '["storage","jobs:read"]', 1, 9e15)`,
  )
  .run(hashPlatformKey(platformKey), platformKey.slice(-4));
before.close();

const api = await makeTestApp(join(dir, "app"), engine);
t.teardown(() => api.close());
const call = (url: string, method: "GET" | "PATCH" = "GET") => api.call(user, { url, method });

t.test("the key, the bucket and its pair are good, and the job is there", async (t) => {
  t.match(await call("/api/users/storage/bucket"), {
    ...{ status: 200, body: { bucketAlias: "anna-1", accessKeyId: "RTOLD", quotaBytes: 1000000 } },
  });
  t.same((await call("/api/projects")).body, [
    {
      id: "p_1",
      name: "default",
      isDefault: true,
      exportsByApproval: false,
      refusesNonFinite: false,
      createdAt: "1970-01-01T00:00:00.001Z",
    },
  ]);
  t.match(api.database.read.prepare("SELECT bucket, project_id FROM jobs").all(), [
    { bucket: "anna-1", project_id: "p_1" },
  ]);
  t.same(api.database.write.pragma("foreign_key_check"), []);
  t.match(api.audit.drafts.at(-1), { object: { kind: "bucket", id: "u_1" } }, "named as before");
});

t.test("its pair is given the rights of now, and can be replaced", async (t) => {
  const { endpoint, region } = engine;
  const ca = readFileSync(engine.caFile, "utf8");
  const list = async (credentials: typeof pair) => {
    using own = new S3Transport({ endpoint, region, ca, credentials });
    await own.send({ method: "GET", path: ["anna-1"], query: { "list-type": "2" } });
  };
  await t.resolves(list(pair));
  await api.bucketKeys.sweep();
  const { left } = await api.bucketKeys.refreshRights(new AbortController().signal);
  t.equal(left, 0);
  await t.resolves(list(pair));
  const rotated = await call("/api/users/storage/bucket/rotate-key", "PATCH");
  await t.resolves(list(rotated.body as typeof pair));
  await t.rejects(list(pair), { code: "InvalidAccessKeyId" });
});

t.test("what a disabled user's bucket had left over is swept", async (t) => {
  t.same(api.database.read.prepare("SELECT * FROM bucket_pairs WHERE user_id = 'u_2'").all(), []);
});
