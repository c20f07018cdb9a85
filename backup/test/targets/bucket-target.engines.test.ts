/** A bucket of the real object store as target: what a folder does, and what a bucket can refuse. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ensureEngine } from "@resontech/airgap/engines";
import t from "tap";
import { startS3Engine } from "../../../coordinator/test/helper/s3-engine.ts";
import { OpenedBackup } from "../../src/open/open-backup.ts";
import { checkObjects } from "../../src/open/restore-objects.ts";
import { makeRecoveryKey, readRecoveryKey } from "../../src/recovery-key.ts";
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
