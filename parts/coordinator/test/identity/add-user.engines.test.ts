import { readFileSync } from "node:fs";
import t from "tap";
import { AuditUnavailable } from "@resontech/audit/producer";
import { insertKey, revokeKey } from "../../src/identity/key-store.ts";
import { bucketNameFor } from "../../src/identity/decisions/user-names.ts";
import { setDisabled } from "../../src/identity/user-access.ts";
import { S3Transport } from "../../src/storage/s3-transport.ts";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine);
t.teardown(() => api.close());

t.test(
  "a user comes with project, versioned bucket, key pair and platform key, each audited",
  async (t) => {
    const alice = await api.addUser("alice");
    t.match(alice.bucket, /^alice-[0-9a-f]{8}$/);
    t.match(alice.platformKey, /^rsk_dev_/);
    t.same(api.audit.names, [
      ...["iam.user.create:requested", "iam.user.create:completed"],
      ...["data.bucket.create:requested", "data.bucket.create:completed"],
      ...["key.bootstrap:requested", "key.bootstrap:completed"],
    ]);
    for (const secret of ["alice", alice.platformKey, alice.secretAccessKey, alice.bucket]) {
      t.notOk(api.audit.leaves.join("").includes(secret), secret);
    }
    const first = await engine.store.put(alice.bucket, "a", "1", "text/plain");
    t.not(first.versionId, "null", "versioned from the first object on");
    t.match((await api.call(alice, { url: "/api/projects" })).body, [
      { id: alice.projectId, name: "default", isDefault: true },
    ]);
    await t.rejects(api.addUser("alice"), { code: "user_exists" });
    await t.rejects(api.addUser("ALICE"), { code: "username_invalid" });
  },
);

t.test("names that would break a bucket or a log are refused", async (t) => {
  for (const name of [
    "",
    "a",
    "1abc",
    "a b",
    "a/b",
    "../x",
    "x".repeat(33),
    "é".repeat(3),
    "a\u0000b",
    "-ab",
  ]) {
    await t.rejects(api.addUser(name), { code: "username_invalid" }, JSON.stringify(name));
  }
  t.equal(bucketNameFor("a.b_c--d", "12345678"), "a-b-c-d-12345678");
});

t.test("a user whose making was cut short is finished by asking again", async (t) => {
  for (const refuseAt of ["data.bucket.create", "key.bootstrap"]) {
    const name = `cut-${refuseAt.replace(".", "-").slice(0, 8)}`.replaceAll(".", "-");
    const requested = api.audit.gate.requested.bind(api.audit.gate);
    api.audit.gate.requested = async (draft, disclosures) => {
      if (draft.type === refuseAt) throw new AuditUnavailable("timeout", "cut");
      return requested(draft, disclosures);
    };
    await t.rejects(api.addUser(name), AuditUnavailable);
    api.audit.gate.requested = requested;
    const made = await api.addUser(name);
    t.match(await api.call(made, { url: "/api/users/storage/bucket" }), {
      status: 200,
      body: { accessKeyId: made.accessKeyId },
    });
    const count = api.database.read
      .prepare("SELECT count(*) AS n FROM users WHERE username = ?")
      .get(name) as { n: number };
    t.equal(count.n, 1);
  }
});

t.test(
  "a kill while a user is being disabled leaves no key pair behind the next start",
  async (t) => {
    const user = await api.addUser("half-disabled");
    await api.commit.run((db) => setDisabled(db, user.userId, 1));
    const pair = { accessKeyId: user.accessKeyId, secretAccessKey: user.secretAccessKey };
    const { endpoint, region, caFile } = engine;
    using transport = new S3Transport({
      endpoint,
      region,
      ca: readFileSync(caFile, "utf8"),
      credentials: pair,
    });
    const put = () => transport.send({ method: "PUT", path: [user.bucket, "a"], body: "1" });
    await t.resolves(put(), "the kill came before the pair was taken away");
    await api.bucketKeys.sweep();
    await t.rejects(put(), { code: "InvalidAccessKeyId" });
  },
);

t.test("a user has at most ten living keys", async (t) => {
  const user = await api.addUser("many-keys");
  const key = (at: number) => ({
    ...{
      id: `k_extra_${at}`,
      hash: Buffer.alloc(32, at),
      prefix: "rsk_dev_xxxx",
      last4: "0000",
      name: "more",
      userId: user.userId,
    },
    ...{
      projectId: user.projectId,
      scopes: ["jobs:read" as const],
      createdAt: api.clock.now,
      expiresAt: api.clock.now + 1000,
    },
  });
  for (let at = 2; at <= 10; at++) await api.commit.run((db) => insertKey(db, key(at)));
  await t.rejects(
    api.commit.run((db) => insertKey(db, key(11))),
    { code: "too_many_keys" },
  );
  await api.commit.run((db) => revokeKey(db, "k_extra_2", api.clock.now));
  await t.resolves(api.commit.run((db) => insertKey(db, key(11))));
});
