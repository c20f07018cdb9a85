/** A bucket of the real object store as target: what a folder does, and what a bucket can refuse. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ensureEngine } from "@resontech/airgap/engines";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "@resontech/frame/open-database";
import Database from "better-sqlite3";
import t from "tap";
import { startS3Engine } from "@resontech/coordinator/testing/s3-engine";
import { followDatabase, type FollowState } from "../../src/follow/follow-database.ts";
import { OpenedBackup } from "../../src/open/open-backup.ts";
import { checkObjects } from "../../src/open/restore-objects.ts";
import { restoreFollowed } from "../../src/open/restore-followed.ts";
import { makeRecoveryKey, readRecoveryKey, recipientBytes } from "../../src/recovery-key.ts";
import { takeBackup } from "../../src/take/take-backup.ts";
import { BucketTarget } from "../../src/targets/bucket-target.ts";
import { openTarget } from "../../src/targets/open-target.ts";
import { chunked, collected } from "../helper/bytes.ts";

const MIB = 1024 ** 2;

t.test("a backup goes to a bucket, comes back, and leaves no more than it keeps", async (t) => {
  const dir = t.testdir({ work: {}, store: { objects: { a: "a".repeat(100_000), b: "b" } } });
  const engine = await startS3Engine(dir);
  try {
    await engine.store.ensureBucket("backups");
    const file = join(dir, "bucket.json");
    const settings = {
      ...{ endpoint: engine.endpoint, region: engine.region, bucket: "backups" },
      ...{ prefix: "box/acme/", ca: readFileSync(engine.caFile, "utf8"), ...engine.admin },
    };
    writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
    const target = await openTarget(file);
    const made = makeRecoveryKey("box.acme");
    const xattrProgram = await ensureEngine("xattr");
    const take = async (nowMs: number) =>
      await takeBackup({
        ...{ target, keys: made.keys, signingKeyPem: made.signingKeyPem, appliance: "box.acme" },
        ...{ release: "0.9.0", parts: [], workDir: join(dir, "work"), keep: 2, nowMs },
        objects: { folder: join(dir, "store"), below: ["objects"], path: "data/s3", xattrProgram },
        onPart: () => {},
      });
    const nowMs = Date.UTC(2026, 10, 27);
    const ids = [];
    for (const minutes of [0, 1, 2]) ids.push((await take(nowMs + minutes * 60_000)).id);
    const backup = await OpenedBackup.open(target, null, readRecoveryKey(made.sheet));
    t.equal(backup.manifest.id, ids[2]);
    const part = backup.manifest.parts.find(({ kind }) => kind === "objects")!;
    t.same(await checkObjects(backup, part), { count: 2, bytes: 100_001 });
    const left = new Set<string>();
    for await (const path of target.list("backups")) left.add(path.split("/")[1] ?? "");
    t.same([...left].sort(), ids.slice(1));
    await t.rejects(collected(target.get("backups/none")), { code: "backup_missing" });
  } finally {
    await engine.close();
  }
});

t.test("a database is followed into a bucket, and comes back from there", async (t) => {
  const dir = t.testdir({ data: {} });
  const file = join(dir, "data", "c.db");
  const db = openDatabase(file, [
    { ...{ version: 1, name: "a" }, sql: "CREATE TABLE a (b TEXT) STRICT;" },
  ]);
  const engine = await startS3Engine(dir);
  const ended = new AbortController();
  try {
    await engine.store.ensureBucket("backups");
    const target = new BucketTarget({
      ...{ endpoint: engine.endpoint, region: engine.region, bucket: "backups" },
      ...{ ca: readFileSync(engine.caFile, "utf8"), ...engine.admin, prefix: "box/" },
    });
    const made = makeRecoveryKey("box.acme");
    const states: FollowState[] = [];
    const following = followDatabase(
      {
        ...{ file, release: "0.9.0", signingKeyPem: made.signingKeyPem },
        recipient: recipientBytes(made.keys.recipient),
        openTarget: async () => target,
        onState: (state) => void states.push(state),
        onError: (error) => t.fail(error.message),
      },
      ended.signal,
    );
    const isFollowed = (): boolean => (states.at(-1)?.upToMs ?? 0) > 0;
    for (const endsAt = Date.now() + 120_000; !isFollowed(); await sleep(20))
      if (Date.now() > endsAt) throw new Error("it is not followed");
    for (let count = 0; count < 100; count += 1) {
      db.prepare("INSERT INTO a (b) VALUES (?)").run("b".repeat(3_000));
      await sleep(5);
    }
    ended.abort();
    await following;
    const restored = join(dir, "restored.db");
    const limits = { release: "0.9.0", upToMs: null, fromMs: 0 };
    const done = await restoreFollowed(target, readRecoveryKey(made.sheet), restored, limits);
    t.ok((done?.changes ?? 0) > 1);
    const copy = new Database(restored, { readonly: true });
    t.equal(copy.prepare("SELECT sum(length(b)) FROM a").pluck().get(), 300_000);
    copy.close();
  } finally {
    ended.abort();
    db.close();
    await engine.close();
  }
});

t.test("what is larger than a piece goes in pieces, and a cut one leaves nothing", async (t) => {
  const dir = t.testdir({});
  const engine = await startS3Engine(dir);
  try {
    await engine.store.ensureBucket("backups");
    const settings = {
      ...{ endpoint: engine.endpoint, region: engine.region, bucket: "backups" },
      ...{ ca: readFileSync(engine.caFile, "utf8"), ...engine.admin },
    };
    const target = new BucketTarget(settings, 5 * MIB);
    for (const size of [0, 5 * MIB, 5 * MIB + 1, 12 * MIB]) {
      const bytes = randomBytes(size);
      await target.put("objects/ab/one.age", chunked(bytes, 700_000));
      t.ok((await collected(target.get("objects/ab/one.age"))).equals(bytes), `${size} bytes`);
    }
    const cut = async function* (): AsyncGenerator<Uint8Array> {
      yield randomBytes(6 * MIB);
      throw new Error("cut");
    };
    await t.rejects(target.put("objects/ab/two.age", cut()), { message: "cut" });
    await t.rejects(collected(target.get("objects/ab/two.age")), { code: "backup_missing" });
    t.same(await engine.store.listUploads("backups", ""), []);
    for (let count = 0; count < 1_100; count += 1)
      await target.put(`objects/cd/${count}.age`, chunked(Buffer.from("x")));
    let found = 0;
    for await (const _ of target.list("objects")) found += 1;
    t.equal(found, 1_101, "more than one page");
    const other = new BucketTarget({ ...settings, secretAccessKey: "wrong" });
    await t.rejects(collected(other.get("x")), { code: "backup_target", message: /403/ });
    const none = new BucketTarget({ ...settings, bucket: "nobodys" });
    await t.rejects(collected(none.get("x")), { code: "backup_target", message: /NoSuchBucket/ });
  } finally {
    await engine.close();
  }
});

t.test("a file that others may read, or that describes no bucket, is refused", async (t) => {
  const file = join(t.testdir({}), "bucket.json");
  const whole = {
    ...{ endpoint: "https://s3.example:9000", region: "eu", bucket: "backups" },
    ...{ accessKeyId: "a", secretAccessKey: "never shown" },
  };
  writeFileSync(file, JSON.stringify(whole), { mode: 0o644 });
  await t.rejects(openTarget(file), { code: "backup_target", message: /chmod 600/ });
  chmodSync(file, 0o600);
  t.equal((await openTarget(file)).name, "https://s3.example:9000/backups/");
  for (const wrong of [
    { ...whole, endpoint: "http://s3.example" },
    { ...whole, prefix: "../" },
    { ...whole, more: 1 },
    [],
  ]) {
    writeFileSync(file, JSON.stringify(wrong));
    await t.rejects(openTarget(file), { code: "backup_target", message: /describes no bucket/ });
  }
});
