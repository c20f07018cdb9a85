import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { FrontAnswer } from "@resontech/contracts/s3-front-protocol";
import { untilClosed } from "@resontech/house/until-closed";
import { pino } from "pino";
import t from "tap";
import { COORDINATOR, S3_FRONT } from "../../src/authorization/caller.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { answerFront } from "../../src/front/answer-front.ts";
import { FrontServer } from "../../src/front/front-server.ts";
import { insertUser } from "../../src/identity/bucket-store.ts";
import { notePendingPair, promotePair } from "../../src/identity/pair-store.ts";
import { S3ResponseError } from "../../src/storage/s3-transport.ts";

// Short: a socket's path may have 107 bytes.
const dir = mkdtempSync(join(tmpdir(), "rtc-"));
const database = openDatabase(join(dir, "coordinator.db"));
t.teardown(() => {
  database[Symbol.dispose]();
  rmSync(dir, { recursive: true, force: true });
});
const user = {
  userId: "u_1",
  username: "alice",
  projectId: "p_1",
  bucket: "alice-1",
  quotaBytes: 1000,
  now: 1,
};
insertUser(database.write, user);
const pair = { bucket: "alice-1", userId: "u_1" };
notePendingPair(database.write, pair, "RTOLD", 1);
promotePair(database.write, pair, "rights");
notePendingPair(database.write, pair, "RTNEW", 1);
insertUser(database.write, {
  ...user,
  userId: "u_2",
  username: "bob",
  projectId: "p_2",
  bucket: "bob-1",
});

const store = {
  usage: async (bucket: string) => {
    if (bucket === "bob-1") throw new S3ResponseError("NoSuchBucket", 404, "");
    return { usedBytes: 42, objects: 1 };
  },
  stat: async (_bucket: string, key: string, versionId?: string) =>
    key === "there" ? { key, versionId: versionId ?? "v", sizeBytes: 7, etag: "" } : null,
  partBytes: async (_bucket: string, _key: string, uploadId: string) =>
    uploadId === "open" ? 5 : null,
};
const answer = answerFront({
  caller: S3_FRONT,
  read: database.read,
  now: Date.now,
  store,
  adminAccessKeyId: "RTADMIN",
});
mkdirSync(join(dir, "front"), { mode: 0o750 });
const path = join(dir, "front", "sock");
const server = await FrontServer.listen(path, answer, pino({ level: "silent" }));
t.teardown(() => server[Symbol.asyncDispose]());

async function askAll(questions: readonly object[]): Promise<FrontAnswer[]> {
  const socket = connect(path);
  socket.write(
    questions.map((question, id) => `${JSON.stringify({ id, ...question })}\n`).join(""),
  );
  const answers: FrontAnswer[] = [];
  for await (const line of createInterface({ input: socket })) {
    answers.push(JSON.parse(line) as FrontAnswer);
    if (answers.length === questions.length) break;
  }
  socket.destroy();
  return answers.sort((a, b) => a.id - b.id);
}

t.test("it says whose key and bucket it is, how full, and how large", async (t) => {
  const answers = await askAll([
    { ask: "principal", accessKeyId: "RTADMIN" },
    { ask: "principal", accessKeyId: "RTOLD" },
    { ask: "principal", accessKeyId: "RTNEW" },
    { ask: "principal", accessKeyId: "RTSTRANGER" },
    { ask: "owner", bucket: "alice-1" },
    { ask: "owner", bucket: "nobody-1" },
    { ask: "bucket", bucket: "alice-1" },
    { ask: "bucket", bucket: "bob-1" },
    { ask: "bucket", bucket: "nobody-1" },
    { ask: "object", bucket: "alice-1", key: "there", versionId: null },
    { ask: "object", bucket: "alice-1", key: "not there", versionId: "v" },
    { ask: "part", bucket: "alice-1", key: "x", uploadId: "open", partNumber: 1 },
    { ask: "part", bucket: "alice-1", key: "x", uploadId: "gone", partNumber: 1 },
    { ask: "outputs", bucket: "alice-1", folder: "jobs/none" },
  ]);
  t.match(answers, [
    { kind: "coordinator", subject: null, bucket: null },
    { kind: "user", subject: "u_1", bucket: { name: "alice-1" } },
    { kind: "user", subject: "u_1" },
    { kind: "unknown", subject: null },
    { owner: "u_1" },
    { owner: null },
    { bucket: { owner: "u_1", quotaBytes: 1000, usedBytes: 42 } },
    { bucket: null },
    { bucket: null },
    { sizeBytes: 7 },
    { sizeBytes: null },
    { sizeBytes: 5 },
    { sizeBytes: null },
    { job: null, isOver: true },
  ]);
});

/** What comes back until the connection is cut. */
async function said(...lines: object[]): Promise<unknown[]> {
  const socket = connect(path);
  socket.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const answers: unknown[] = [];
  for await (const line of createInterface({ input: socket })) {
    answers.push(JSON.parse(line));
    if (answers.length === lines.length) break;
  }
  socket.destroy();
  return answers;
}

t.test(
  "a front of another release names its versions first, and fields that are not known here are passed over",
  async (t) => {
    const question = { id: 7, ask: "owner", bucket: "alice-1", ofANewerRelease: { deep: true } };
    t.same(await said({ hello: { min: 1, max: 9 }, ofANewerRelease: 1 }, question), [
      { hello: "agreed", protocol: 3 },
      { id: 7, ok: true, ask: "owner", owner: "u_1" },
    ]);
    t.match(await said({ hello: 1 }), [{ hello: "agreed", protocol: 1 }]);
  },
);

t.test("a front without a common version is told so, and answered nothing", async (t) => {
  const refused = await said(
    { hello: { min: 4, max: 5 } },
    { id: 7, ask: "owner", bucket: "alice-1" },
  );
  t.match(refused, [
    {
      hello: "refused",
      code: "protocol_unsupported",
      message: /speaks front protocol 4 to 5, the coordinator 1 to 3: upgrade the coordinator/,
    },
  ]);
  t.equal(refused.length, 1);
});

t.test("a front that hears it is told which pairs are gone, an older one is not", async (t) => {
  const heard = async (max: number): Promise<unknown[]> => {
    const socket = connect(path);
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value as string) as unknown;
    socket.write(`${JSON.stringify({ hello: { min: 1, max } })}\n`);
    const hello = await next();
    server.forget(["RTGONE"]);
    socket.write(`${JSON.stringify({ id: 9, ask: "owner", bucket: "alice-1" })}\n`);
    const told = [hello, await next()];
    socket.destroy();
    return told;
  };
  t.match(await heard(3), [{ protocol: 3 }, { forget: ["RTGONE"] }]);
  t.match(await heard(2), [{ protocol: 2 }, { id: 9, owner: "u_1" }]);
});

t.test("no other service is answered", async (t) => {
  const other = answerFront({
    caller: COORDINATOR,
    read: database.read,
    now: Date.now,
    store,
    adminAccessKeyId: "RTADMIN",
  });
  await t.rejects(other({ id: 1, ask: "owner", bucket: "alice-1" }), { code: "role_required" });
});

t.test(
  "who sends no question is cut off; the socket is its group's, and its folder closed to others",
  async (t) => {
    for (const line of [
      "hello",
      '{"id":1,"ask":"secret"}',
      `{"id":1,"ask":"owner","bucket":"${"x".repeat(20_000)}"}`,
    ]) {
      const socket = connect(path);
      socket.write(`${line}\n`);
      await untilClosed(socket.resume());
    }
    t.equal(statSync(path).mode & 0o777, 0o660);
    mkdirSync(join(dir, "open"));
    chmodSync(join(dir, "open"), 0o755);
    await t.rejects(
      FrontServer.listen(join(dir, "open", "sock"), answer, pino({ level: "silent" })),
      /closed to others/,
    );
  },
);
