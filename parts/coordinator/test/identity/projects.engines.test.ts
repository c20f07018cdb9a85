/** Projects and their members as people ask for them: with a real Keycloak, the real door of policies and the real object store. */
import { readFileSync } from "node:fs";
import { PEER_HEADER } from "@resontech/contracts/peer-header";
import type { InjectOptions } from "fastify";
import t from "tap";
import { findDefaultProject } from "../../src/identity/project-store.ts";
import { setDisabled } from "../../src/identity/user-access.ts";
import { type S3Credentials, S3Transport } from "../../src/storage/s3-transport.ts";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { SignInHouse } from "../helper/sign-in-house.ts";

t.setTimeout(600_000);
const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const { api } = house;

async function person(username: string, roles: readonly string[] = []) {
  const account = await house.addAccount(username, roles);
  const userId = await house.firstSignIn(account);
  return { userId, username, ask: await house.signedIn(userId, { roles }) };
}
const root = await person("root", ["platform-admin"]);
const lead = await person("lead");
const anna = await person("anna");
const bert = await person("bert");

const made = await root.ask("POST", "/api/projects", {
  ...{ name: "Lung screening", team: "radiology", lead: "lead" },
});
const projectId = String(made.body["id"]);
const members = `/api/projects/${projectId}/members`;
const list = async ({ ask }: typeof lead, path = members) =>
  (await ask("GET", path)).body as unknown as Record<string, unknown>[];
async function keyOf({ ask }: typeof lead): Promise<string> {
  const minted = await ask("POST", "/api/keys", {
    ...{ name: "k", projectId, expiresInDays: 1, scopes: ["storage", "jobs:read", "jobs:write"] },
  });
  return String(minted.body["key"]);
}
async function withKey(key: string, options: InjectOptions) {
  const headers = { authorization: `Bearer ${key}`, [PEER_HEADER]: "10.0.0.2" };
  const reply = await api.app.inject({ ...options, headers });
  return { status: reply.statusCode, body: reply.json<Record<string, unknown>>() };
}
async function listBucket(bucket: string, credentials: S3Credentials): Promise<string> {
  const ca = readFileSync(house.engine.caFile, "utf8");
  const { endpoint, region } = house.engine;
  using own = new S3Transport({ endpoint, region, ca, credentials });
  try {
    await own.send({ method: "GET", path: [bucket], query: { "list-type": "2" } });
    return "ok";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

t.test("an administrator makes a project, and nobody else does", async (t) => {
  t.match(made, { status: 201, body: { name: "Lung screening", team: "radiology" } });
  t.match(
    api.audit.drafts.filter(({ type }) => type === "iam.project.create"),
    [{ phase: "requested", detail: { lead: lead.userId } }, { phase: "completed" }],
  );
  const again = { name: "lung screening", team: "Radiology", lead: "lead" };
  t.match(await root.ask("POST", "/api/projects", again), {
    ...{ status: 409, body: { code: "project_exists" } },
  });
  t.match(await root.ask("POST", "/api/projects", { ...again, name: "b", lead: "nobody" }), {
    status: 404,
  });
  t.match(await lead.ask("POST", "/api/projects", { ...again, name: "c" }), { status: 403 });
  t.same(
    new Set((await list(lead, "/api/projects")).map(({ name }) => name)),
    new Set(["Lung screening", "default"]),
  );
  t.same((await list(root, "/api/projects")).length, 1, "the own first one alone");
});

t.test("its lead says who is a member, with a fresh second factor", async (t) => {
  t.match(await lead.ask("POST", members, { username: "anna", role: "researcher" }), {
    ...{ status: 200, body: { userId: anna.userId, role: "researcher" } },
  });
  await lead.ask("POST", members, { username: "bert", role: "viewer" });
  t.match(await list(anna), [
    { username: "anna", role: "researcher" },
    { username: "bert", role: "viewer" },
    { username: "lead", role: "project-lead" },
  ]);
  t.match(await list(root), [{}, {}, {}], "administrators see who is where");
  const stranger = await person("stranger");
  const hidden = await stranger.ask("GET", members);
  t.match(hidden, { status: 404, body: { message: "there is no such project" } });
  t.same(await stranger.ask("GET", "/api/projects/p_nothing/members"), hidden);
  for (const who of [anna, stranger, root])
    t.not((await who.ask("POST", members, { username: "anna", role: "viewer" })).status, 200);
  const weak = await house.signedIn(lead.userId, { acr: "1" });
  t.match(await weak("POST", members, { username: "anna", role: "viewer" }), {
    body: { code: "step_up_required" },
  });
  t.match(await lead.ask("POST", members, { username: "nobody", role: "viewer" }), { status: 404 });
});

t.test("the first upload by a page makes the project's bucket, for who may write", async (t) => {
  const made = await root.ask("POST", "/api/projects", { name: "Uploads", lead: "lead" });
  const { id } = made.body as { id: string };
  await lead.ask("POST", `/api/projects/${id}/members`, { username: "bert", role: "viewer" });
  const at = { "x-rt-project": id };
  const init = ({ ask }: typeof lead) =>
    ask("POST", "/api/users/storage/upload/init", { key: "a/b.txt", size: 10 }, at);
  const usage = () => lead.ask("GET", "/api/users/storage/usage", undefined, at);
  t.match(await usage(), { status: 404, body: { code: "bucket_missing" } });
  t.match(await init(bert), { status: 404 }, "a viewer knows of no bucket");
  t.match(await usage(), { status: 404 });
  const begun = await init(lead);
  t.match(begun, { status: 200, body: { urls: [/^https:/] } });
  const [url] = begun.body["urls"] as string[];
  const ca = readFileSync(house.engine.caFile, "utf8");
  const put = await fetchWithCa(ca, String(url), { method: "PUT", body: "0123456789" });
  t.equal(put.status, 200);
  t.match(await usage(), { status: 200 });
  t.equal(api.audit.drafts.filter(({ type }) => type === "data.bucket.create").length, 2);
});

t.test("a researcher who becomes administrator sees no data, by no credential", async (t) => {
  const carl = await person("carl");
  await lead.ask("POST", members, { username: "carl", role: "researcher" });
  const key = await keyOf(carl);
  const bucket = { url: "/api/users/storage/bucket" };
  const pair = (await withKey(key, { ...bucket, method: "PATCH", url: `${bucket.url}/rotate-key` }))
    .body as unknown as S3Credentials & { bucketAlias: string };
  const { bucketAlias } = (await withKey(key, bucket)).body as { bucketAlias: string };
  t.equal(await listBucket(bucketAlias, pair), "ok");
  const session = await house.signedIn(carl.userId, { roles: ["platform-admin"] });
  const refused = { status: 403, body: { code: "role_conflict" } };
  const here = { "x-rt-project": projectId };
  t.match(await session("GET", bucket.url, undefined, here), refused);
  t.match(await withKey(key, bucket), refused);
  t.match(await withKey(key, { url: "/api/users/storage/usage" }), refused);
  t.match(await withKey(key, { method: "PATCH", url: `${bucket.url}/rotate-key` }), refused);
  const minted = await keyOf({ ...carl, ask: session });
  t.match(await withKey(minted, bucket), refused, "a key that is minted then");
  t.equal(await listBucket(bucketAlias, pair), "InvalidAccessKeyId");
  t.match(
    api.audit.drafts.filter(({ type }) => type === "key.bucket.withdraw"),
    [{ detail: { user: carl.userId, reason: "duty" } }],
  );
});

t.test("no lead makes an auditor a member, and an officer takes anybody out", async (t) => {
  const aude = await person("aude", ["compliance-auditor"]);
  for (const role of ["researcher", "project-lead", "viewer"])
    t.match(await lead.ask("POST", members, { username: "aude", role }), {
      ...{ status: 409, body: { code: "duties_conflict" } },
    });
  t.equal((await aude.ask("GET", "/api/people")).status, 200, "and the auditor still sees");
  t.match(
    await aude.ask("POST", "/api/keys", {
      ...{ name: "k", projectId, expiresInDays: 1, scopes: ["audit:read"] },
    }),
    {
      ...{
        status: 403,
        body: { code: "role_conflict", message: /sign in, or take the log by the SIEM/ },
      },
    },
  );
  const olga = await person("olga", ["security-officer"]);
  const dora = await person("dora");
  await lead.ask("POST", members, { username: "dora", role: "researcher" });
  t.match(await dora.ask("DELETE", `${members}/${dora.userId}`), { status: 404 });
  t.match(await olga.ask("DELETE", `${members}/${dora.userId}`), { status: 200 });
  t.match(await olga.ask("POST", members, { username: "dora", role: "viewer" }), { status: 404 });
});

t.test("the last lead stays", async (t) => {
  const refused = { status: 409, body: { code: "last_lead" } };
  t.match(await lead.ask("DELETE", `${members}/${lead.userId}`), refused);
  t.match(await lead.ask("POST", members, { username: "lead", role: "viewer" }), refused);
});

t.test("members share the bucket, and who leaves has neither key nor pair", async (t) => {
  const keys = { lead: await keyOf(lead), anna: await keyOf(anna) };
  const rotate = { method: "PATCH", url: "/api/users/storage/bucket/rotate-key" } as const;
  const pairs = {
    lead: (await withKey(keys.lead, rotate)).body as unknown as S3Credentials,
    anna: (await withKey(keys.anna, rotate)).body as unknown as S3Credentials,
  };
  const { bucketAlias } = (await withKey(keys.anna, { url: "/api/users/storage/bucket" })).body;
  t.match(bucketAlias, /^lung-screening-/);
  const bucket = String(bucketAlias);
  for (const pair of Object.values(pairs)) t.equal(await listBucket(bucket, pair), "ok");
  t.match(
    await anna.ask("GET", "/api/users/storage/usage", undefined, { "x-rt-project": projectId }),
    {
      ...{ status: 200, body: { objects: 0 } },
    },
  );
  t.equal(api.audit.drafts.at(-1)?.object.id, projectId, "the log names the project");

  t.match(await lead.ask("DELETE", `${members}/${anna.userId}`), { status: 200 });
  t.match(api.audit.drafts.at(-1), {
    ...{ type: "iam.project.member", phase: "completed" },
    detail: { change: "revoke", member: anna.userId, keys: 1 },
  });
  t.equal(await listBucket(bucket, pairs.anna), "InvalidAccessKeyId");
  t.equal(await listBucket(bucket, pairs.lead), "ok");
  t.match(await withKey(keys.anna, { url: "/api/me" }), { status: 401 });
  await lead.ask("POST", members, { username: "anna", role: "researcher" });
  t.match(await withKey(keys.anna, { url: "/api/me" }), { status: 401 }, "for good");

  const again = await withKey(await keyOf(anna), rotate);
  await lead.ask("POST", members, { username: "anna", role: "viewer" });
  t.equal(await listBucket(bucket, again.body as unknown as S3Credentials), "InvalidAccessKeyId");
  t.match(await lead.ask("DELETE", `${members}/u_nobody`), { status: 404 });
});

t.test("what a leaver left gets another owner", async (t) => {
  await lead.ask("POST", members, { username: "anna", role: "researcher" });
  await lead.ask("POST", members, { username: "bert", role: "researcher" });
  await api.commit.run((db) =>
    db
      .prepare(
        `INSERT INTO jobs (id, sequence, project_id, user_id, name, slug, bucket, output_root, state, version, desired, state_since, selection, only_mine,
           image, min_clients, resumable, warnings, shard_count, shard_uncompressed_bytes, audit_op, audit_index, audit_leaf, created_at)
         VALUES ('job-1', 1, ?, ?, 'n', 'n', 'b', 'jobs/n', 'SUCCEEDED', 3, 'run', 1, '{}', 0, '{}', 1, 1, '[]', 1, '[1]', 'op', 1, 'leaf', 1)`,
      )
      .run(projectId, bert.userId),
  );
  const hand = (to: string) =>
    lead.ask("POST", `/api/projects/${projectId}/handover`, { from: bert.userId, to });
  t.match(await hand(anna.userId), { status: 409, body: { code: "member_active" } });
  await api.commit.run((db) => setDisabled(db, bert.userId, 1));
  t.match(await hand(root.userId), { status: 404 }, "not to somebody from outside");
  t.match(await anna.ask("POST", `/api/projects/${projectId}/handover`, {}), { status: 400 });
  t.match(await hand(anna.userId), { status: 200, body: { jobs: 1 } });
  t.match(api.database.read.prepare("SELECT user_id FROM jobs").all(), [{ user_id: anna.userId }]);
  t.match(api.audit.drafts.at(-1), {
    ...{ type: "iam.project.change", phase: "completed" },
    detail: { change: "handover", from: bert.userId, to: anna.userId, jobs: 1 },
  });
  t.ok(findDefaultProject(api.database.read, bert.userId), "and nothing is deleted");
});

t.test("a profile holds SSH public keys, which no platform key changes", async (t) => {
  const path = "/api/me/ssh-keys";
  const line =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIETzegn8Be8uQrVudD4JtAyD14cgENtXNH4wOoSaQ2ue anna@laptop";
  t.same((await anna.ask("GET", path)).body, { keys: [] });
  const put = await anna.ask("PUT", path, { keys: [`${line}\n`] });
  t.match(put, { status: 200, body: { keys: [{ key: line, comment: "anna@laptop" }] } });
  t.same((await anna.ask("GET", path)).body, put.body);
  t.match(api.audit.drafts.at(-1), { type: "iam.user.change", phase: "completed" });
  for (const keys of [["ssh-dss AAAA"], [line, line.replace("anna@laptop", "again")]])
    t.match(await anna.ask("PUT", path, { keys }), {
      ...{ status: 400, body: { code: "ssh_key_invalid" } },
    });
  t.match(await anna.ask("PUT", path, { keys: Array<string>(11).fill(line) }), { status: 400 });
  t.match(await withKey(await keyOf(anna), { url: path }), { status: 401 });
  t.match((await anna.ask("GET", path)).body, put.body, "refused ones changed nothing");
  t.same((await anna.ask("PUT", path, { keys: [] })).body, { keys: [] });
});
