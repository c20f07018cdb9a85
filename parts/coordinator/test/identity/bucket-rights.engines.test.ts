/** Buckets of an older program get the rights of this one at its start, with the pair that they have. */
import { readFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import t from "tap";
import type { AddedUser } from "../../src/identity/add-user.ts";
import { BucketKeys } from "../../src/identity/bucket-keys.ts";
import { RightsRefresh } from "../../src/identity/rights-refresh.ts";
import { bucketPolicy } from "../../src/storage/decisions/bucket-policy.ts";
import { S3ObjectStore } from "../../src/storage/object-store.ts";
import { S3Transport } from "../../src/storage/s3-transport.ts";
import { S3Users } from "../../src/storage/s3-users.ts";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";
import { freePort } from "@resontech/house/free-port";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine);
t.teardown(() => api.close());
const { endpoint, region, caFile, admin } = engine;
const ca = readFileSync(caFile, "utf8");
const TAGS = "<Tagging><TagSet><Tag><Key>site</Key><Value>a</Value></Tag></TagSet></Tagging>";
/** Of the store's calls of this program that set a policy: which buckets. */
const given: string[] = [];
const store = {
  setBucketPolicy: async (bucket: string, policy: object) => {
    given.push(bucket);
    await engine.store.setBucketPolicy(bucket, policy);
  },
};
const { commit } = api;
const { read } = api.database;
// Nobody leaves here.
const record = () => {};
const bucketKeys = new BucketKeys({
  onForgotten: () => {},
  read,
  commit,
  record,
  store,
  users: engine.users,
  now: Date.now,
});

/** As a program before tags and attributes made it. */
async function olderUser(name: string): Promise<AddedUser> {
  const user = await api.addUser(name);
  await makeOlder(user);
  return user;
}

async function makeOlder({ bucket, accessKeyId }: AddedUser): Promise<void> {
  const policy = JSON.parse(JSON.stringify(bucketPolicy(bucket, [accessKeyId]))) as {
    Statement: { Action: string[] }[];
  };
  for (const statement of policy.Statement)
    statement.Action = statement.Action.filter((action) => !/Tagging|Attributes/.test(action));
  await engine.store.setBucketPolicy(bucket, policy);
  await commit.run((db) =>
    db.prepare("UPDATE buckets SET rights = NULL WHERE name = ?").run(bucket),
  );
}

/** Puts tags on an object with the user's own pair. @returns `ok` or the engine's code */
async function tags({ bucket, accessKeyId, secretAccessKey }: AddedUser): Promise<string> {
  const credentials = { accessKeyId, secretAccessKey };
  using own = new S3Transport({ endpoint, region, ca, credentials });
  try {
    await own.send({ method: "PUT", path: [bucket, "a"], body: "1" });
    await own.send({ method: "PUT", path: [bucket, "a"], query: { tagging: "" }, body: TAGS });
    return "ok";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

async function refreshed(keys: BucketKeys = bucketKeys): Promise<void> {
  await using _refresh = new RightsRefresh(keys, pino({ level: "silent" }));
  for (let tries = 0; tries < 2_000; tries++) {
    const { n } = read
      .prepare(
        "SELECT count(*) AS n FROM buckets JOIN bucket_pairs ON bucket = name WHERE rights IS NULL AND access_key_id IS NOT NULL",
      )
      .get() as {
      n: number;
    };
    if (n === 0) return;
    await sleep(50);
  }
}

t.test(
  "an older bucket's own pair may set tags after the start, and the store is asked nothing at the next one",
  async (t) => {
    const [first, second] = [await olderUser("older-a"), await olderUser("older-b")];
    const current = await api.addUser("current");
    t.equal(await tags(first), "AccessDenied", "what the older program allowed");
    await refreshed();
    for (const user of [first, second, current]) t.equal(await tags(user), "ok", user.bucket);
    t.same(
      given.splice(0).sort(),
      [first.bucket, second.bucket].sort(),
      "one made by this program has them already",
    );
    const signal = new AbortController().signal;
    t.same(await bucketKeys.refreshRights(signal), { refreshed: 0, left: 0, error: null });
    t.same(given, []);
  },
);

t.test("a store that is not up yet is waited for, and keeps nothing else waiting", async (t) => {
  const user = await olderUser("older-c");
  const port = await freePort();
  const options = { endpoint: `https://localhost:${port}`, region, ca, credentials: admin };
  using away = new S3Transport(options);
  const keys = new BucketKeys({
    onForgotten: () => {},
    record,
    read,
    commit,
    store: new S3ObjectStore(away),
    users: new S3Users(away),
    now: Date.now,
  });
  const refresh = new RightsRefresh(keys, pino({ level: "silent" }));
  t.teardown(() => refresh[Symbol.asyncDispose]());
  await sleep(300);
  t.equal(await tags(user), "AccessDenied");
  const sockets = new Set<Socket>();
  const door = createServer((socket) => {
    sockets.add(socket);
    const inner = connect(Number(new URL(endpoint).port), "127.0.0.1");
    for (const one of [socket, inner]) one.on("error", () => socket.destroy());
    socket.pipe(inner).pipe(socket);
  }).listen(port);
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    door.close();
  });
  for (let tries = 0; tries < 2_000 && (await tags(user)) !== "ok"; tries++) await sleep(50);
  t.equal(await tags(user), "ok");
});

t.test("one bucket that fails keeps no other from its rights", async (t) => {
  const [broken, whole] = [await olderUser("older-d"), await olderUser("older-e")];
  const failing = {
    setBucketPolicy: async (bucket: string, policy: object) => {
      if (bucket === broken.bucket) throw new Error("the store does not want to");
      await engine.store.setBucketPolicy(bucket, policy);
    },
  };
  const keys = new BucketKeys({
    onForgotten: () => {},
    ...{ read, commit, record, store: failing, users: engine.users },
    now: Date.now,
  });
  t.match(await keys.refreshRights(new AbortController().signal), {
    refreshed: 1,
    left: 1,
    error: /does not want to/,
  });
  t.equal(await tags(whole), "ok");
  await refreshed();
  t.equal(await tags(broken), "ok");
});

t.test(
  "a pair that is replaced meanwhile is the one that has the rights, and a disabled user's bucket gets none",
  async (t) => {
    const [user, disabled] = [await olderUser("older-f"), await olderUser("older-g")];
    await bucketKeys.withdraw(disabled.bucket, disabled.userId, () => {});
    given.length = 0;
    const refresh = refreshed();
    const pair = await bucketKeys.replace(user.bucket, user.userId, () => {});
    await refresh;
    t.equal(await tags({ ...user, ...pair }), "ok");
    t.equal(await tags(user), "InvalidAccessKeyId", "the older pair did not come back");
    t.notOk(given.includes(disabled.bucket));
  },
);
