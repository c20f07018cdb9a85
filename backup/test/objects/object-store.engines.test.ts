/** The real object store's files on a target and back: what a client sees of the restored store is what it saw of the first. */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureEngine } from "@resontech/airgap/engines";
import t from "tap";
import { type S3Engine, startS3Engine } from "@resontech/coordinator/testing/s3-engine";
import { OpenedBackup } from "../../src/open/open-backup.ts";
import { restoreObjects } from "../../src/open/restore-objects.ts";
import { makeRecoveryKey, readRecoveryKey } from "../../src/recovery-key.ts";
import { takeBackup, type TakenBackup } from "../../src/take/take-backup.ts";
import { openTarget } from "../../src/targets/open-target.ts";

const BELOW = ["s3-data", "s3-versions"];
const BUCKET = "u-ann";
const made = makeRecoveryKey("box.acme");
const key = readRecoveryKey(made.sheet);

/** Everything that a client can ask about the bucket. */
async function seen({ store, transport }: S3Engine): Promise<object[]> {
  const all: object[] = [];
  for await (const page of store.versions(BUCKET))
    for (const version of page) {
      const about = { ...version };
      if (version.isMarker) {
        all.push(about);
        continue;
      }
      const query = { versionId: version.versionId };
      const path = [BUCKET, version.key];
      const { body, headers } = await transport.send({ method: "GET", path, query });
      const tags = await transport.send({ method: "GET", path, query: { ...query, tagging: "" } });
      const kept = ["content-type", "last-modified", "etag", "x-amz-meta-site"] as const;
      const said = Object.fromEntries(kept.map((name) => [name, headers[name]]));
      all.push({ ...about, ...said, body: String(body), tags: String(tags.body) });
    }
  const policy = await transport.send({ method: "GET", path: [BUCKET], query: { policy: "" } });
  return [...all, { policy: String(policy.body) }];
}

const lookFor = (folder: string): number => readdirSync(folder, { recursive: true }).length;

t.test("versions, markers, metadata, tags and policies of the store come back", async (t) => {
  const [dir, other] = [t.testdir({ target: {}, work: {} }), t.testdirName + "-other"];
  mkdirSync(other);
  t.teardown(() => rmSync(other, { recursive: true, force: true }));
  const xattrProgram = await ensureEngine("xattr");
  const target = await openTarget(join(dir, "target"));
  const store = join(dir, "store");
  mkdirSync(store);
  const first = await startS3Engine(store);
  let nowMs = Date.UTC(2026, 10, 27);
  const take = async (keep = 9): Promise<TakenBackup> => {
    nowMs += 60_000;
    return await takeBackup({
      ...{ target, keys: made.keys, signingKeyPem: made.signingKeyPem, appliance: "box.acme" },
      ...{ release: "0.9.0", parts: [], workDir: join(dir, "work"), keep, nowMs },
      objects: { folder: store, below: BELOW, path: "data/s3", xattrProgram },
      onPart: () => {},
    });
  };
  const restored = async (name: string): Promise<object[]> => {
    const folder = join(other, name);
    mkdirSync(folder);
    const backup = await OpenedBackup.open(target, null, key);
    const part = backup.manifest.parts.find(({ kind }) => kind === "objects")!;
    await restoreObjects(backup, part, { folder: join(folder, "restored"), xattrProgram });
    const second = await startS3Engine(folder);
    for (const below of BELOW)
      for (const bucket of readdirSync(join(folder, "restored", below)))
        renameSync(join(folder, "restored", below, bucket), join(folder, below, bucket));
    try {
      return await seen(second);
    } finally {
      await second.close();
    }
  };
  try {
    await first.store.ensureBucket(BUCKET);
    const statement = { Effect: "Allow", Principal: "*", Action: "s3:GetObject" };
    const resource = { ...statement, Resource: `arn:aws:s3:::${BUCKET}/open/*` };
    await first.store.setBucketPolicy(BUCKET, { Version: "2012-10-17", Statement: [resource] });
    await first.store.put(BUCKET, "jobs/a/one.txt", "first", "text/plain");
    await first.store.put(BUCKET, "jobs/a/one.txt", "second", "text/plain");
    await first.store.put(BUCKET, "jobs/a/empty", "", "text/plain");
    await first.store.put(BUCKET, "jobs/ä b/ü.bin", Buffer.alloc(300_000, 7), "x/y");
    await first.transport.send({
      ...{ method: "PUT", path: [BUCKET, "tagged"], body: "t" },
      headers: { "x-amz-tagging": "site=north", "x-amz-meta-site": "north" },
    });
    await first.store.put(BUCKET, "gone", "was here", "text/plain");
    await first.store.remove(BUCKET, "gone");
    await first.store.createUpload(BUCKET, "unfinished", "text/plain");
    const before = await seen(first);
    t.equal(before.length, 8, "six versions, a marker, a policy");
    const taken = await take();
    t.ok(taken.objects.writtenBytes >= 300_000);
    t.same(await restored("one"), before);

    const again = await take();
    t.equal(again.objects.writtenBytes, 0, "nothing changed, and nothing was written");
    t.equal(again.objects.count, taken.objects.count);
    await first.store.put(BUCKET, "jobs/a/one.txt", "third", "text/plain");
    await first.transport.send({
      ...{ method: "PUT", path: [BUCKET, "tagged"], query: { tagging: "" } },
      body: "<Tagging><TagSet><Tag><Key>site</Key><Value>south</Value></Tag></TagSet></Tagging>",
    });
    const third = await take();
    t.equal(third.objects.writtenBytes, "third".length, "what is new alone; tags have no bytes");
    t.same(await restored("three"), await seen(first));

    rmSync(join(dir, "work"), { recursive: true });
    mkdirSync(join(dir, "work"));
    t.equal((await take()).objects.writtenBytes, 0, "also where this host knows nothing any more");
    await first.store.remove(BUCKET, "jobs/ä b/ü.bin");
    for await (const page of first.store.versions(BUCKET))
      for (const { key: one, versionId } of page)
        if (one === "jobs/ä b/ü.bin") await first.store.remove(BUCKET, one, versionId);
    const objects = join(dir, "target", "objects");
    const held = lookFor(objects);
    const last = await take(1);
    t.equal(last.removed.length, 4);
    t.ok(lookFor(objects) < held, "what no backup needs is gone");
    t.same(await restored("last"), await seen(first));
  } finally {
    await first.close();
  }
});

t.test("a backup that was cut leaves the one before whole, and the next removes it", async (t) => {
  const dir = t.testdir({ target: {}, work: {}, store: { objects: { a: "a".repeat(50_000) } } });
  const target = await openTarget(join(dir, "target"));
  const xattrProgram = await ensureEngine("xattr");
  let nowMs = Date.UTC(2026, 10, 27);
  const take = async (cutAt: number | null): Promise<TakenBackup> => {
    nowMs += 60_000;
    let puts = 0;
    const cut: typeof target = {
      name: target.name,
      get: (path) => target.get(path),
      list: (folder) => target.list(folder),
      remove: (path) => target.remove(path),
      put: async (path, content) => {
        if (puts++ === cutAt) throw new Error("cut");
        await target.put(path, content);
      },
    };
    return await takeBackup({
      ...{ target: cut, keys: made.keys, signingKeyPem: made.signingKeyPem },
      ...{ appliance: "box.acme", release: "0.9.0", parts: [], workDir: join(dir, "work") },
      objects: { folder: join(dir, "store"), below: ["objects"], path: "data/s3", xattrProgram },
      ...{ keep: 2, nowMs, onPart: () => {} },
    });
  };
  const whole = await take(null);
  writeFileSync(join(dir, "store", "objects", "b"), "b");
  for (const at of [0, 1, 2, 3]) {
    await t.rejects(take(at), { message: "cut" });
    const backup = await OpenedBackup.open(target, null, key);
    t.equal(backup.manifest.id, whole.id, `cut before file ${at}`);
  }
  const next = await take(null);
  const left = readdirSync(join(dir, "target", "backups")).sort();
  t.same(left, [whole.id, next.id], "nothing of the cut ones is left");
  t.equal(statSync(join(dir, "target", "backups")).mode & 0o077, 0, "and nobody else may look");
});

t.test("a target of another appliance, or of another recovery key, is left alone", async (t) => {
  const dir = t.testdir({ target: {}, work: {}, store: {} });
  const take = async (appliance: string, by = made): Promise<TakenBackup> =>
    await takeBackup({
      ...{ target: await openTarget(join(dir, "target")), appliance, release: "0.9.0", parts: [] },
      ...{ keys: by.keys, signingKeyPem: by.signingKeyPem, workDir: join(dir, "work"), keep: 1 },
      objects: {
        ...{ folder: join(dir, "store"), below: [], path: "data/s3" },
        xattrProgram: await ensureEngine("xattr"),
      },
      ...{ nowMs: Date.now(), onPart: () => {} },
    });
  await take("box.acme");
  await t.rejects(take("other.acme"), { code: "backup_target_taken" });
  const another = makeRecoveryKey("box.acme");
  await t.rejects(take("box.acme", another), { code: "backup_target_taken" });
  await t.rejects(openTarget(join(dir, "not-mounted")), { code: "backup_target" });
});
