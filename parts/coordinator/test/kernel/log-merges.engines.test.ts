/** Once a member is over, the parts of its log become one: nobody who reads sees a difference, and the quota does. */
import t, { type Test } from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import type { ReadHandle } from "../../src/db/open-database.ts";
import { StoredLogs } from "../../src/outputs/stored-logs.ts";
import { CoreFixture, eventually } from "./core-fixture.ts";
import { CLEAN } from "./scripted-agent.ts";

const BUCKET = "bucket-a";
const fixture = await CoreFixture.start();
t.teardown(() => fixture.close());
const agent = await fixture.agent("node-a", 2);
const { store } = fixture.s3;

/** A job whose server printed so many parts; `end` cancels it, and `mergeNow` waits for no grace. */
async function printed(slug: string, parts: readonly string[]) {
  const { id } = await fixture.submit(slug);
  const members = await agent.desiredOf(id, 3);
  await agent.bringUp(members);
  const [server] = members as [(typeof members)[0]];
  const folder = `${server.member}-${server.fence.generation}.${server.fence.counter}`;
  for (const [at, text] of parts.entries())
    await agent.upload(server, `${folder}/${String(at).padStart(8, "0")}`, text, "log");
  const end = async (): Promise<void> => {
    await fixture.cancel(id);
    for (const member of members) await agent.report(member, CLEAN);
    await fixture.until(id, "CANCELLED");
  };
  const prefix = `logs/${id}/${folder}`;
  const keys = async (): Promise<string[]> =>
    (await store.list(BUCKET, prefix, 100)).map(({ key }) => key.slice(prefix.length + 1));
  return { id, member: server.member, prefix, end, keys };
}

const storedLogs = () => new StoredLogs(fixture.core.db as unknown as ReadHandle, store);

const waiting = (): number =>
  fixture.core.db.prepare<[], number>("SELECT count(*) FROM log_merges").pluck().get()!;

async function mergeNow(): Promise<void> {
  await fixture.core.commit.run((db) => db.prepare("UPDATE log_merges SET not_before = 0").run());
  await eventually(() => (waiting() === 0 ? true : null), "all logs are merged");
}

async function readAll(t: Test, job: { id: string; member: string }): Promise<string> {
  const whole = await storedLogs().whole({ id: job.id, bucket: BUCKET }, job.member);
  const pieces: Buffer[] = [];
  for await (const piece of whole!.pieces()) pieces.push(piece);
  t.equal(whole!.storedBytes, Buffer.concat(pieces).length);
  return Buffer.concat(pieces).toString();
}

t.test("parts of a member that is over become one object with their bytes", async (t) => {
  const parts = ["first\n", "sécond\n", "third\n"];
  const job = await printed("merged", parts);
  t.equal(waiting(), 0, "while it runs its parts stay");
  await job.end();
  const before = (await store.usage(BUCKET)).usedBytes;
  await mergeNow();
  t.same(await job.keys(), ["to-00000002/00000000"]);
  t.equal(await readAll(t, job), parts.join(""));
  t.ok((await store.usage(BUCKET)).usedBytes < before, "and they count less");
  const logs = storedLogs();
  t.match(await logs.read({ id: job.id, bucket: BUCKET }, job.member, { offset: -6, bytes: 99 }), {
    ...{ text: "third\n", storedBytes: Buffer.byteLength(parts.join("")) },
  });
  const entry = await eventually(
    async () =>
      (await readLeaves(fixture.auditd.logDir)).find(
        ({ type, detail }) => type === "model.output" && detail?.["merged"] === 3,
      ) ?? null,
    "the merged part is on record",
  );
  t.not(entry.actor.kind, "node");
  t.match(entry.detail, { job: job.id, member: job.member, bytes: 20 });
});

t.test("a log of one part is left as it is", async (t) => {
  const job = await printed("one-part", ["all of it\n"]);
  await job.end();
  t.equal(waiting(), 0);
  t.same(await job.keys(), ["00000000"]);
});

t.test("a reader who listed the parts before reads on where they went", async (t) => {
  const job = await printed("read-meanwhile", ["one\n", "two\n", "three\n"]);
  await job.end();
  const whole = await storedLogs().whole({ id: job.id, bucket: BUCKET }, job.member);
  const pieces = whole!.pieces();
  t.equal((await pieces.next()).value?.toString(), "one\n");
  await mergeNow();
  t.equal((await pieces.next()).value?.toString(), "two\n");
  t.equal((await pieces.next()).value?.toString(), "three\n");
});

t.test("a crash between the merged part and the end of the others loses nothing", async (t) => {
  const job = await printed("cut", ["a\n", "b\n", "c\n"]);
  await job.end();
  const [, , third] = await store.list(BUCKET, job.prefix, 100);
  await store.put(BUCKET, `${job.prefix}/to-00000002/00000000`, "a\nb\nc\n", "text/plain");
  t.equal(await readAll(t, job), "a\nb\nc\n", "no byte is read twice");
  await store.remove(BUCKET, `${job.prefix}/00000000`);
  await mergeNow();
  t.same(await job.keys(), ["to-00000002/00000000"]);
  t.equal(await store.stat(BUCKET, third!.key, third!.versionId), null);
  t.equal(await readAll(t, job), "a\nb\nc\n");
});

t.test("logs that were removed meanwhile do not come back", async (t) => {
  const job = await printed("removed", ["a\n", "b\n"]);
  await job.end();
  for (const { key, versionId } of await store.list(BUCKET, job.prefix, 100))
    await store.remove(BUCKET, key, versionId);
  await mergeNow();
  t.same(await job.keys(), []);
});
