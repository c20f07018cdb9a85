/** Each member of a project has a key pair of the own for its bucket, at the real object store. */
import { readFileSync } from "node:fs";
import t from "tap";
import type { AddedUser } from "../../src/identity/add-user.ts";
import { BucketKeys } from "../../src/identity/bucket-keys.ts";
import { linkSource, noteLeft, noteSignIn } from "../../src/identity/people-store.ts";
import { removeMember, setMember } from "../../src/identity/project-store.ts";
import { setDisabled } from "../../src/identity/user-access.ts";
import { type S3Credentials, S3Transport } from "../../src/storage/s3-transport.ts";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine);
t.teardown(() => api.close());
const { endpoint, region } = engine;
const ca = readFileSync(engine.caFile, "utf8");
const { bucketKeys, commit } = api;
const { read } = api.database;

/** @returns `ok` or the engine's code */
async function put(bucket: string, credentials: S3Credentials): Promise<string> {
  using own = new S3Transport({ endpoint, region, ca, credentials });
  try {
    await own.send({ method: "PUT", path: [bucket, "a"], body: "1" });
    return "ok";
  } catch (error) {
    return (error as { code: string }).code;
  }
}
const member = ({ projectId }: AddedUser, { userId }: AddedUser, role: "researcher" | "viewer") =>
  commit.run((db) => setMember(db, projectId, userId, role, 1));
const nothing = () => {};

const lead = await api.addUser("lead");
const anna = await api.addUser("anna");
const bert = await api.addUser("bert");

t.test("two members have a pair each; one who rotates leaves the other's alone", async (t) => {
  await t.rejects(bucketKeys.replace(lead.bucket, anna.userId, nothing), { code: "not_found" });
  await member(lead, anna, "researcher");
  await member(lead, bert, "researcher");
  const [annas, berts] = await Promise.all([
    bucketKeys.replace(lead.bucket, anna.userId, nothing),
    bucketKeys.replace(lead.bucket, bert.userId, nothing),
  ]);
  for (const pair of [lead, annas, berts]) t.equal(await put(lead.bucket, pair), "ok");
  t.equal(await put(anna.bucket, annas), "AccessDenied", "a pair is for one bucket");
  const next = await bucketKeys.replace(lead.bucket, anna.userId, nothing);
  t.equal(await put(lead.bucket, annas), "InvalidAccessKeyId");
  for (const pair of [lead, next, berts]) t.equal(await put(lead.bucket, pair), "ok");
});

t.test("who leaves loses the pair at once, and a viewer has none", async (t) => {
  const annas = await bucketKeys.replace(lead.bucket, anna.userId, nothing);
  const berts = await bucketKeys.replace(lead.bucket, bert.userId, nothing);
  await commit.run((db) => removeMember(db, lead.projectId, anna.userId));
  await bucketKeys.withdraw(lead.bucket, anna.userId, nothing);
  t.equal(await put(lead.bucket, annas), "InvalidAccessKeyId");
  for (const pair of [lead, berts]) t.equal(await put(lead.bucket, pair), "ok");
  await member(lead, anna, "viewer");
  await t.rejects(bucketKeys.replace(lead.bucket, anna.userId, nothing), { code: "not_found" });
});

t.test("a pair that is being made while its member leaves does not outlive that", async (t) => {
  await member(lead, anna, "researcher");
  const making = bucketKeys.replace(lead.bucket, anna.userId, nothing);
  await t.rejects(bucketKeys.replace(lead.bucket, anna.userId, nothing), {
    code: "rotation_in_progress",
  });
  await commit.run((db) => removeMember(db, lead.projectId, anna.userId));
  await bucketKeys.withdraw(lead.bucket, anna.userId, nothing);
  const made = await making.catch(() => null);
  if (made !== null) t.equal(await put(lead.bucket, made), "InvalidAccessKeyId");
  t.equal(await put(lead.bucket, lead), "ok");
});

t.test("a kill between any two steps leaves no stray pair behind the next start", async (t) => {
  await member(lead, anna, "researcher");
  let annas = await bucketKeys.replace(lead.bucket, anna.userId, nothing);
  for (let step = 1; step <= 6; step += 1) {
    let done = 0;
    const made: S3Credentials[] = [];
    const or = async <T>(work: () => Promise<T>): Promise<T> => {
      done += 1;
      if (done === step) throw new Error("killed");
      return await work();
    };
    const killed = new BucketKeys({
      onForgotten: () => {},
      read,
      now: Date.now,
      record: api.audit.record,
      commit: { run: (write: never) => or(() => commit.run(write)) } as never,
      store: {
        setBucketPolicy: (bucket, policy) => or(() => engine.store.setBucketPolicy(bucket, policy)),
      },
      users: {
        create: (pair: S3Credentials) => {
          made.push(pair);
          return or(() => engine.users.create(pair));
        },
        remove: (key: string) => or(() => engine.users.remove(key)),
      } as never,
    });
    await t.rejects(killed.replace(lead.bucket, anna.userId, nothing), { message: "killed" });
    await bucketKeys.sweep();
    const good = [];
    for (const pair of [annas, ...made])
      if ((await put(lead.bucket, pair)) === "ok") good.push(pair);
    t.equal(good.length, 1, `one pair of the member is good after step ${step}`);
    annas = good[0]!;
    t.equal(await put(lead.bucket, lead), "ok", "and the lead's");
  }
});

t.test("a kill after the member left, and while a user is disabled, is made good", async (t) => {
  await member(lead, bert, "researcher");
  const berts = await bucketKeys.replace(lead.bucket, bert.userId, nothing);
  await commit.run((db) => removeMember(db, lead.projectId, bert.userId));
  t.equal(await put(lead.bucket, berts), "ok", "the kill came before the pair was taken away");
  await bucketKeys.sweep();
  t.equal(await put(lead.bucket, berts), "InvalidAccessKeyId");
  await commit.run((db) => setDisabled(db, bert.userId, 1));
  await bucketKeys.withdrawAll(bert.userId, nothing);
  t.equal(await put(bert.bucket, bert), "InvalidAccessKeyId");
});

t.test("a pair stops when the platform keys of its person do, and the log says so", async (t) => {
  const source = (username: string, kind: "storage" | "broker") => ({
    ...{ name: username, subject: username, kind },
  });
  const [dora, emil] = [await api.addUser("dora"), await api.addUser("emil")];
  for (const user of [dora, emil]) await member(lead, user, "researcher");
  const doras = await bucketKeys.replace(lead.bucket, dora.userId, nothing);
  const emils = await bucketKeys.replace(lead.bucket, emil.userId, nothing);
  const begun = api.clock.now;
  t.teardown(() => {
    api.clock.now = begun;
  });
  await commit.run((db) => {
    linkSource(db, dora.userId, source("corp", "storage"));
    linkSource(db, emil.userId, source("uni", "broker"));
    noteSignIn(db, emil.userId, begun);
  });
  const withdrawn = () =>
    api.audit.drafts.filter(({ type }) => type === "key.bucket.withdraw").map((one) => one.detail);
  const keyOf = async (user: AddedUser) => (await api.call(user, { url: "/api/me" })).status;

  await bucketKeys.sweep();
  for (const pair of [doras, emils]) t.equal(await put(lead.bucket, pair), "ok");
  t.same(withdrawn(), []);

  await commit.run((db) => noteLeft(db, dora.userId, api.clock.now));
  t.equal(await keyOf(dora), 403);
  await bucketKeys.sweep();
  t.equal(await put(lead.bucket, doras), "InvalidAccessKeyId");
  t.equal(await put(dora.bucket, dora), "InvalidAccessKeyId", "in the own project as well");
  t.equal(await put(lead.bucket, emils), "ok");
  const left = { user: dora.userId, reason: "left" };
  t.same(withdrawn(), [left, left]);

  api.clock.now = begun + 7 * 86_400_000 - 1;
  await bucketKeys.sweep();
  t.equal(await put(lead.bucket, emils), "ok");
  api.clock.now += 1;
  t.equal(await keyOf(emil), 403);
  await bucketKeys.sweep();
  t.equal(await put(lead.bucket, emils), "InvalidAccessKeyId");
  t.match(withdrawn().at(-1), { user: emil.userId, reason: "unseen" });
  t.equal(await put(lead.bucket, lead), "ok", "nobody else is touched");

  await commit.run((db) => noteSignIn(db, emil.userId, api.clock.now));
  const rotated = await api.call(emil, {
    ...{ method: "PATCH", url: "/api/users/storage/bucket/rotate-key" },
  });
  t.equal(await put(emil.bucket, rotated.body as unknown as S3Credentials), "ok", "who is back");
  const count = withdrawn().length;
  await bucketKeys.sweep();
  t.equal(withdrawn().length, count);
});

t.test("a member's key means the project's bucket, and rotates the own pair alone", async (t) => {
  await member(lead, anna, "researcher");
  await commit.run((db) =>
    db
      .prepare("UPDATE platform_keys SET project_id = ? WHERE user_id = ?")
      .run(lead.projectId, anna.userId),
  );
  await bucketKeys.withdraw(lead.bucket, anna.userId, nothing);
  const bucket = { url: "/api/users/storage/bucket" };
  t.match(await api.call(anna, bucket), {
    ...{ status: 200, body: { bucketAlias: lead.bucket, accessKeyId: null } },
  });
  const rotated = await api.call(anna, { method: "PATCH", url: `${bucket.url}/rotate-key` });
  t.equal(await put(lead.bucket, rotated.body as unknown as S3Credentials), "ok");
  t.equal(await put(lead.bucket, lead), "ok");
  t.match(await api.call(anna, bucket), { body: { accessKeyId: rotated.body["accessKeyId"] } });
  t.match(await api.call(lead, bucket), { body: { accessKeyId: lead.accessKeyId } });
  t.match(api.audit.drafts.at(-3), { type: "key.bucket.rotate", object: { id: lead.userId } });
  const init = await api.call(anna, {
    ...{ method: "POST", url: "/api/users/storage/upload/init", payload: { key: "b", size: 1 } },
  });
  t.match((init.body["urls"] as string[])[0], `/${lead.bucket}/b`);
});

t.test("a project's bucket that the engine lacks is made with the first pair", async (t) => {
  const carla = await api.addUser("carla");
  await commit.run((db) => {
    const values = { name: "study-1234", project: "p_study", now: 1, user: carla.userId };
    db.prepare(
      "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES (@project, @user, 'study', 0, @now)",
    ).run({ project: values.project, user: values.user, now: values.now });
    db.prepare(
      "INSERT INTO buckets (name, project_id, log_id, quota_bytes, created_at) VALUES (@name, @project, @project, 1000, @now)",
    ).run({ name: values.name, project: values.project, now: values.now });
    setMember(db, "p_study", carla.userId, "project-lead", 1);
    db.prepare("UPDATE platform_keys SET project_id = 'p_study' WHERE user_id = ?").run(
      carla.userId,
    );
  });
  t.match(await api.call(carla, { url: "/api/users/storage/bucket" }), { status: 404 });
  const rotated = await api.call(carla, {
    ...{ method: "PATCH", url: "/api/users/storage/bucket/rotate-key" },
  });
  t.equal(await put("study-1234", rotated.body as unknown as S3Credentials), "ok");
  t.ok(api.audit.names.includes("data.bucket.create:completed"));
});
