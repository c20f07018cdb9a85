import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { LogFollower } from "../../src/follow/log-follower.ts";
import type { OwnFact } from "../../src/reporter.ts";
import { CursorFile } from "../../src/sinks/cursor-file.ts";
import { LockedBucket } from "../../src/worm/locked-bucket.ts";
import { callS3, type S3Answer, type S3Call, type S3Store } from "../../src/worm/s3-request.ts";
import { WormCopy } from "../../src/worm/worm-copy.ts";
import { filesOfTree, tilePath } from "@resontech/audit/format/tree/tile-layout";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { keepingFacts } from "../helper/keeping-facts.ts";
import { keyLists, WrittenLog } from "../helper/written-log.ts";
import { silent } from "../helper/silent.ts";
import { until } from "@resontech/audit/testing/until";
import { startS3Engine } from "../helper/s3-engine.ts";
import { freePort } from "@resontech/house/free-port";

const never = new AbortController().signal;
const call = (store: S3Store, options: S3Call): Promise<S3Answer> => callS3(store, options, never);

const untilThere = (store: S3Store, key: string): Promise<void> =>
  until(async () => (await call(store, { method: "GET", key })).status === 200, 60_000);

class Copying {
  readonly facts: OwnFact[] = [];
  readonly copy: WormCopy;
  readonly #follower: LogFollower;

  private constructor(copy: WormCopy, follower: LogFollower) {
    this.copy = copy;
    this.#follower = follower;
  }

  static async of(
    t: Test,
    log: WrittenLog,
    store: S3Store,
    {
      checkpointMs = 50,
      skipDamaged = [],
      onRecord,
    }: { checkpointMs?: number; skipDamaged?: string[]; onRecord?: Promise<void> } = {},
  ): Promise<Copying> {
    const follower = new LogFollower(log.options, silent);
    await follower.start();
    const facts: OwnFact[] = [];
    const copy = await WormCopy.start({
      ...{
        follower,
        log: silent,
        retentionDays: 1,
        checkpointMs,
        skipDamaged,
        pollMs: 10,
        retryMs: 20,
      },
      bucket: new LockedBucket(store),
      cursor: new CursorFile(log.stateDir, "worm"),
      reporter: keepingFacts(facts, onRecord),
    });
    const copying = new Copying(copy, follower);
    t.teardown(() => copying.stop());
    return Object.assign(copying, { facts });
  }

  async stop(): Promise<void> {
    await this.copy[Symbol.asyncDispose]();
    await this.#follower[Symbol.asyncDispose]();
  }
}

/** Every file of the shard's tree and its checkpoint, compared with the log's own. */
async function sameAsLog(t: Test, log: WrittenLog, store: S3Store, slug = "2026"): Promise<void> {
  for (const name of filesOfTree(log.size)) {
    const { body } = await call(store, { method: "GET", key: `${slug}/${tilePath(name)}` });
    if (!body.equals(readFileSync(join(log.logDir, tilePath(name)))))
      t.fail(`${tilePath(name)} is not the log's`);
  }
  const { body } = await call(store, { method: "GET", key: `${slug}/checkpoints/${log.size}` });
  t.same(
    body,
    readFileSync(join(log.logDir, "checkpoint")),
    `the checkpoint of ${log.size} entries`,
  );
}

t.test(
  "the copy holds every file of the tree, goes on after a stop, and follows into the next shard",
  async (t) => {
    const store = await startS3Engine(t);
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await log.append(keyLists(700));
    const first = await Copying.of(t, log, store);
    await untilThere(store, "2026/checkpoints/700");
    await sameAsLog(t, log, store);
    await until(() => first.copy.status.lag === 0);
    t.match(first.copy.status, { state: "running", cursor: { slug: "2026", index: 700 } });
    await first.stop();
    await log.append(keyLists(200));
    const second = await Copying.of(t, log, store);
    await untilThere(store, "2026/checkpoints/900");
    await sameAsLog(t, log, store);
    await second.stop();
    await log.append(keyLists(20));
    const slow = await Copying.of(t, log, store, { checkpointMs: 86_400_000 });
    await untilThere(store, "2026/checkpoints/920");
    await log.append(keyLists(5));
    const closed = log.size;
    await log.open("2027");
    await log.append(keyLists(300));
    await untilThere(store, `2026/checkpoints/${closed}`);
    await untilThere(store, "2027/tile/entries/000");
    t.equal(slow.facts.length, 0);
  },
);

t.test("nothing of it can be deleted, overridden or written again before its day", async (t) => {
  const store = await startS3Engine(t);
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(keyLists(300));
  await Copying.of(t, log, store);
  await untilThere(store, "2026/checkpoints/300");
  const key = "2026/tile/entries/000";
  const { headers, body } = await call(store, { method: "GET", key });
  const versionId = String(headers["x-amz-version-id"]);
  const retention = (
    await call(store, { method: "GET", key, query: { retention: "", versionId } })
  ).body.toString("utf8");
  t.match(retention, /<Mode>COMPLIANCE<\/Mode>/);
  const [, until = ""] = /<RetainUntilDate>([^<]+)</.exec(retention) ?? [];
  const days = (Date.parse(until) - Date.now()) / 86_400_000;
  t.ok(days > 0.9 && days <= 1, `locked for ${days} days`);
  const override: Record<string, string> = { "x-amz-bypass-governance-retention": "true" };
  for (const headers of [{}, override])
    t.ok(
      (await call(store, { method: "DELETE", key, query: { versionId }, headers })).status >= 400,
    );
  t.same((await call(store, { method: "GET", key, query: { versionId } })).body, body);
});

t.test(
  "what the bucket has already must be the log's, or the copy stops and says so",
  async (t) => {
    const store = await startS3Engine(t);
    const bucket = new LockedBucket(store);
    await bucket.prepare(never);
    await bucket.keep(
      "2026/tile/0/000",
      Buffer.alloc(8_192, 1),
      new Date(Date.now() + 3_600_000),
      never,
    );
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await log.append(keyLists(300));
    const copying = await Copying.of(t, log, store);
    await until(() => copying.copy.status.state === "failing");
    t.match(copying.copy.status, { cursor: null, error: /2026\/tile\/0\/000 has other bytes/ });
    t.match(copying.facts, [{ type: "audit.sink", detail: { sink: "worm", state: "failing" } }]);
  },
);

/** Writes over a file of the log, as its disk would. */
function damage(path: string, change: (content: string) => string): void {
  chmodSync(path, 0o600);
  writeFileSync(path, change(readFileSync(path, "latin1")), "latin1");
}

t.test(
  "the copy stops before a damaged shard and says so, until it is told to pass it over: then the log says what was lost",
  async (t) => {
    const store = await startS3Engine(t);
    const statusOf = async (key: string): Promise<number> =>
      (await call(store, { method: "GET", key })).status;
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await log.append(keyLists(300));
    const before = await Copying.of(t, log, store);
    // The bucket has the checkpoint a moment before the cursor says so: stopped in between, the copy begins at 256 again.
    await until(() => before.copy.status.cursor?.index === 300);
    await before.stop();
    await log.append(keyLists(700));
    // It believes these 1,000, and not the ten that come: an earlier life of the copy.
    {
      await using follower = new LogFollower(log.options, silent);
      await follower.start();
    }
    const note = readFileSync(join(log.logDir, "checkpoint"));
    await log.append(keyLists(10));
    for (const index of [1, 2])
      damage(join(log.logDir, tilePath({ level: "entries", index, width: 256 })), () => "");
    damage(join(log.logDir, "checkpoint"), (content) => content.replace("\n1010\n", "\n1011\n"));
    await log.open("2027");
    await log.append(keyLists(300));

    const stopped = await Copying.of(t, log, store);
    await until(() => stopped.copy.status.state === "failing");
    t.match(stopped.copy.status, { cursor: { slug: "2026", index: 300 }, error: /entries\/001/ });
    t.match(stopped.facts, [
      { type: "audit.sink", detail: { sink: "worm", state: "failing", cursor: 300 } },
    ]);
    await stopped.stop();

    const passing = await Copying.of(t, log, store, { skipDamaged: ["2026"] });
    await untilThere(store, "2027/checkpoints/300");
    await until(() => passing.copy.status.lag === 0);
    t.match(passing.copy.status, { state: "running", cursor: { slug: "2027", index: 300 } });
    const passed = (where: object): object => ({
      type: "audit.sink",
      detail: { sink: "worm", state: "passed_over", passed: where },
    });
    t.match(passing.facts, [
      passed({ shard: "2026", from: 300, to: 768 }),
      passed({ shard: "2026", from: 1_000, to: undefined }),
    ]);
    t.equal(passing.facts.length, 2, "each is told once");
    await sameAsLog(t, log, store, "2027");
    for (const index of [1, 2]) {
      t.equal(await statusOf(`2026/${tilePath({ level: "entries", index, width: 256 })}`), 404);
      t.equal(
        await statusOf(`2026/${tilePath({ level: 0, index, width: 256 })}`),
        200,
        "its hashes are proven, and kept",
      );
    }
    t.equal(await statusOf(`2026/${tilePath({ level: "entries", index: 3, width: 232 })}`), 200);
    t.same(
      (await call(store, { method: "GET", key: "2026/checkpoints/1000" })).body,
      note,
      "it closes with what was believed last",
    );
  },
);

t.test("a shard that was never read and can't be is passed over as a whole", async (t) => {
  const store = await startS3Engine(t);
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(keyLists(5));
  damage(join(log.logDir, "checkpoint"), () => "no checkpoint\n");
  await log.open("2027");
  await log.append(keyLists(5));
  const stopped = await Copying.of(t, log, store);
  await until(() => stopped.copy.status.state === "failing");
  t.match(stopped.copy.status, {
    cursor: null,
    error: /nothing behind the shard 2026 is handed out/,
  });
  await stopped.stop();
  const passing = await Copying.of(t, log, store, { skipDamaged: ["2026"] });
  await untilThere(store, "2027/checkpoints/5");
  t.match(passing.facts, [
    { detail: { state: "passed_over", passed: { shard: "2026", from: 0 } } },
  ]);
});

t.test(
  "what is passed over of the shard that is written leaves its newest entries to be copied",
  async (t) => {
    const store = await startS3Engine(t);
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await log.append(keyLists(600));
    await using follower = new LogFollower(log.options, silent);
    await follower.start();
    damage(join(log.logDir, tilePath({ level: "entries", index: 1, width: 256 })), () => "");
    const passing = await Copying.of(t, log, store, { skipDamaged: ["2026"] });
    await untilThere(store, "2026/checkpoints/600");
    await log.append(keyLists(200));
    await untilThere(store, "2026/tile/entries/002");
    t.match(passing.facts, [
      { detail: { state: "passed_over", passed: { shard: "2026", from: 256, to: 512 } } },
    ]);
    t.equal(passing.facts.length, 1);
  },
);

t.test(
  "what was passed over at the end of a shard is not tried again while nothing comes behind it",
  async (t) => {
    const store = await startS3Engine(t);
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await log.append(keyLists(300));
    await using follower = new LogFollower(log.options, silent);
    await follower.start();
    damage(join(log.logDir, tilePath({ level: "entries", index: 1, width: 44 })), () => "");
    await log.open("2027");
    const passing = await Copying.of(t, log, store, { skipDamaged: ["2026"] });
    await until(() => passing.copy.status.cursor?.index === 300);
    t.match(passing.copy.status, { state: "running", lag: 0, cursor: { slug: "2026" } });
    t.match(passing.facts, [
      { detail: { state: "passed_over", passed: { shard: "2026", from: 256, to: 300 } } },
    ]);
  },
);

t.test("what can't be read just now is waited for, and not passed over", async (t) => {
  const store = await startS3Engine(t);
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(keyLists(300));
  const checkpoint = join(log.logDir, "checkpoint");
  await log.open("2027");
  await log.append(keyLists(300));
  // A folder in its place: what is read of it is an error that says nothing of the disk.
  renameSync(checkpoint, `${checkpoint}.kept`);
  mkdirSync(checkpoint);
  const copying = await Copying.of(t, log, store, { skipDamaged: ["2026"] });
  await sleep(200);
  t.match(copying.copy.status, { cursor: null }, "nothing behind it is copied");
  rmdirSync(checkpoint);
  renameSync(`${checkpoint}.kept`, checkpoint);
  await untilThere(store, "2027/checkpoints/300");
  await sameAsLog(t, log, store, "2027");
  t.equal((await call(store, { method: "GET", key: "2026/checkpoints/300" })).status, 200);
  t.same(copying.facts, []);
});

t.test(
  "a shard whose checkpoint is gone is damaged, and passed over where that may be",
  async (t) => {
    const store = await startS3Engine(t);
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await log.append(keyLists(300));
    unlinkSync(join(log.logDir, "checkpoint"));
    await log.open("2027");
    await log.append(keyLists(5));
    const passing = await Copying.of(t, log, store, { skipDamaged: ["2026"] });
    await untilThere(store, "2027/checkpoints/5");
    t.match(passing.facts, [
      { detail: { state: "passed_over", passed: { shard: "2026", from: 0 } } },
    ]);
  },
);

t.test(
  "the cursor moves past damage only once auditd has on record what was passed over",
  async (t) => {
    const store = await startS3Engine(t);
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await log.append(keyLists(600));
    damage(join(log.logDir, tilePath({ level: "entries", index: 0, width: 256 })), () => "");
    await log.open("2027");
    await log.append(keyLists(5));
    const onRecord = Promise.withResolvers<void>();
    const copying = await Copying.of(t, log, store, {
      skipDamaged: ["2026"],
      onRecord: onRecord.promise,
    });
    await until(() => copying.facts.length === 1);
    await sleep(100);
    t.match(copying.copy.status, { cursor: null });
    t.equal((await call(store, { method: "GET", key: "2027/checkpoints/5" })).status, 404);
    onRecord.resolve();
    await untilThere(store, "2027/checkpoints/5");
    t.match(copying.copy.status, { state: "running" });
    await copying.stop();
    t.equal(copying.facts.length, 1);
  },
);

t.test(
  "of a shard that was copied and can't be read any more only the rest is said to be passed over",
  async (t) => {
    const store = await startS3Engine(t);
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await log.append(keyLists(300));
    const before = await Copying.of(t, log, store);
    await until(() => before.copy.status.cursor?.index === 300);
    await before.stop();
    for (const name of readdirSync(log.stateDir))
      if (name.endsWith(".seen")) unlinkSync(join(log.stateDir, name));
    damage(join(log.logDir, tilePath({ level: "entries", index: 0, width: 256 })), () => "");
    await log.open("2027");
    const passing = await Copying.of(t, log, store, { skipDamaged: ["2026"] });
    await until(() => passing.facts.length > 0);
    await sleep(100);
    t.match(passing.facts, [
      { detail: { state: "passed_over", passed: { shard: "2026", from: 300 } } },
    ]);
    t.equal(passing.facts.length, 1);
  },
);

t.test("a store that can't lock, or that is away, gets no copy", async (t) => {
  const unlocked = await startS3Engine(t, false);
  await t.rejects(new LockedBucket(unlocked).prepare(never), {
    code: /^worm_(?:not_locked|refused)$/,
  });
  const store = await startS3Engine(t);
  await call(store, { method: "PUT", key: "" });
  await t.rejects(
    new LockedBucket(store).prepare(never),
    { code: "worm_not_locked" },
    "a bucket that was made without a lock",
  );
  const away = { ...store, endpoint: `http://127.0.0.1:${await freePort()}` };
  await t.rejects(new LockedBucket(away).prepare(never), { code: "worm_unreachable" });
  await t.rejects(new LockedBucket({ ...store, secretAccessKey: "wrong" }).prepare(never), {
    code: "worm_refused",
    message: /403/,
  });
});
