import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { joinKey, urlSha256 } from "@resontech/audit/producer";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { LEAST_COST_BYTES } from "@resontech/contracts/storage-cost";
import { wholeLines } from "@resontech/house/whole-lines";
import t from "tap";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { RunningFront } from "./helper/running-front.ts";
import { headText, RawConnection, signedHeaders, statusOf } from "./helper/signed.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
/** What opens commitments, by commitment. */
const disclosuresOf = async (logDir: string) => {
  const folder = join(logDir, "disclosures");
  const lines = (await readdir(folder)).flatMap((name) => wholeLines(join(folder, name)));
  const all = lines.map(
    (line) => JSON.parse(line) as { commitment: string; salt: string; value: string },
  );
  return new Map(all.map((one) => [one.commitment, one]));
};
const named = (leaves: readonly AuditEvent[]) =>
  leaves.map(({ type, phase }) => `${type} ${phase}`);
/** Without what the coordinator lists to count a bucket. */
const since = async (size: number) =>
  (await front.leaves())
    .slice(size)
    .filter(
      ({ actor, detail }) => actor.sub !== "coordinator" && detail?.["claimed"] !== "coordinator",
    );

t.test(
  "a user's object goes in and comes out, and the log names who, what and how it was answered",
  async (t) => {
    const alice = await front.addUser();
    const store = front.storeOf(alice);
    const { length } = await front.leaves();
    const put = await store.put(alice.bucket, "jobs/a/one.txt", "hello", "text/plain");
    t.equal((await store.getRange({ bucket: alice.bucket, ...put }, 0, 4)).toString(), "hello");
    t.same(await store.list(alice.bucket, "jobs/", 10), [put]);
    await store.remove(alice.bucket, "jobs/a/one.txt");
    const url = await store.presignGet(alice.bucket, put.key, put.versionId, 60);
    t.equal(await (await fetchWithCa(front.caPem, url)).text(), "hello");
    t.equal(await store.stat(alice.bucket, "jobs/none"), null);
    await t.rejects(store.setBucketPolicy(alice.bucket, {}), {
      name: "S3ResponseError",
      status: 403,
    });
    const leaves = await since(length);
    t.same(named(leaves), [
      "data.object.write requested",
      "data.object.write completed",
      "data.object.read fact",
      "data.bucket.list fact",
      "data.object.delete requested",
      "data.object.delete completed",
      "data.object.read fact",
      "data.object.read fact",
      "data.bucket.change requested",
      "data.bucket.change denied",
    ]);
    t.ok(leaves.every(({ prod }) => prod === "s3-front"));
    for (const { type, phase, actor, detail, outcome } of leaves) {
      // What is written before the engine has checked the signature names nobody as who did it.
      const isProven = phase !== "requested";
      t.match(
        actor,
        isProven
          ? { sub: alice.userId, kind: "user", azp: alice.keys.accessKeyId }
          : { sub: "unproven", kind: "anonymous" },
        type,
      );
      t.equal(detail?.["claimed"], isProven ? undefined : alice.userId, type);
      t.equal(
        outcome === undefined,
        phase === "requested",
        "every row that tells an end has an outcome",
      );
    }
    t.match(leaves[0], {
      action: "S3 PutObject",
      detail: { bucket: alice.userId, bytes: 5 },
      object: { kind: "object" },
    });
    t.match(leaves[2], { detail: { status: 206, bytes: 5, version: true } });
    t.match(leaves[3], {
      object: { kind: "bucket", id: alice.userId },
      pii: [{ field: "bucket-alias" }],
    });
    t.equal(
      leaves[6]?.detail?.["url_sha256"],
      urlSha256(url),
      "pairs with the record of the URL's issue",
    );
    t.equal(leaves[2]?.detail?.["url_sha256"], undefined, "signed in a header");
    const committed = leaves[1]?.digests?.input ?? "";
    const { salt, value } = (await disclosuresOf(front.auditd.logDir)).get(committed) ?? {};
    t.equal(
      value,
      createHash("sha256").update("hello").digest("hex"),
      "the outcome names the bytes that came",
    );
    t.type(salt, "string");
    t.match(leaves[7], {
      outcome: { code: "Http404", status: 404 },
      detail: { status: 404, bytes: undefined },
    });
    t.match(leaves[9], { outcome: { code: "AccessDenied", status: 403 } });
    t.notMatch(
      JSON.stringify(await front.leaves()),
      /canary|one\.txt|127\.0\.0\.1/,
      "nothing personal in clear",
    );
  },
);

t.test(
  "a multipart upload is its opening and its end; a request for several deletions names each object",
  async (t) => {
    const bob = await front.addUser();
    const store = front.storeOf(bob);
    const { length } = await front.leaves();
    const upload = await store.createUpload(bob.bucket, "jobs/b/big", "application/zip");
    const parts = [];
    for (const partNumber of [1, 2]) {
      const url = await store.presignPart(bob.bucket, "jobs/b/big", upload, partNumber, 60);
      const answer = await fetchWithCa(front.caPem, url, {
        method: "PUT",
        body: Buffer.alloc(5 * 1024 ** 2, partNumber),
      });
      parts.push({ partNumber, etag: (answer.headers.get("etag") ?? "").replaceAll('"', "") });
    }
    const { versionId } = await store.completeUpload(bob.bucket, "jobs/b/big", upload, parts);
    const body = `<Delete><Object><Key>jobs/b/big</Key></Object><Object><Key>a &amp; b</Key><VersionId>${versionId}</VersionId></Object></Delete>`;
    const md5 = createHash("md5").update(body).digest("base64");
    await front.transportOf(bob.keys).send({
      method: "POST",
      path: [bob.bucket],
      query: { delete: "" },
      headers: { "content-md5": md5 },
      body,
    });
    const leaves = await since(length);
    t.same(named(leaves), [
      "data.object.multipart requested",
      "data.object.multipart completed",
      "data.object.multipart requested",
      "data.object.multipart completed",
      "data.object.read fact",
      "data.bucket.delete requested",
      "data.object.delete.listed fact",
      "data.object.delete.listed fact",
      "data.object.delete.ended fact",
      "data.object.delete.ended fact",
      "data.bucket.delete failed",
    ]);
    t.equal(
      leaves[2]?.detail?.["upload_sha256"],
      joinKey(upload),
      "pairs with the record of the upload's opening",
    );
    t.equal(leaves[6]?.op, leaves[5]?.op);
    t.match(leaves[7], { detail: { version: true } });
    t.match(leaves[8], { op: leaves[5]?.op, actor: { sub: bob.userId }, outcome: { code: "ok" } });
    t.match(leaves[9], {
      op: leaves[5]?.op,
      outcome: { code: "AccessDenied" },
      detail: { version: true },
    });
    t.match(leaves[10], { outcome: { code: "partial" } }, "a user deletes no versions");
  },
);

t.test("a body that its sender did not sign is digested on its way", async (t) => {
  const hugo = await front.addUser();
  const { length } = await front.leaves();
  const url = await front.transportOf(hugo.keys).presign("PUT", [hugo.bucket, "x"], {}, 60);
  t.equal(
    (await fetchWithCa(front.caPem, url, { method: "PUT", body: Buffer.alloc(300_000, 7) })).status,
    200,
  );
  const [requested, outcome] = await since(length);
  t.equal(requested?.detail?.["url_sha256"], urlSha256(url));
  const { value } =
    (await disclosuresOf(front.auditd.logDir)).get(outcome?.digests?.input ?? "") ?? {};
  t.equal(value, createHash("sha256").update(Buffer.alloc(300_000, 7)).digest("hex"));
});

t.test(
  "whoever asks for the coordinator's own calls is refused, and the refusal is recorded",
  async (t) => {
    const ivan = await front.addUser();
    const { length } = await front.leaves();
    const transport = front.transportOf(ivan.keys);
    await t.rejects(
      transport.send({ method: "PATCH", path: ["create-user"], body: "<Account/>" }),
      {
        name: "S3ResponseError",
        status: 403,
      },
    );
    t.match(await since(length), [
      {
        ...{
          type: "auth.refused",
          actor: { sub: "unproven" },
          detail: { reason: "AccessDenied", claimed: ivan.userId },
        },
        decision: { effect: "deny", policy_ids: ["store-keys"] },
      },
    ]);
  },
);

t.test(
  "who is not let in is never the actor, and read nothing: the claim stands beside it, a stranger as one",
  async (t) => {
    const carol = await front.addUser();
    const { length } = await front.leaves();
    const wrong = front.transportOf({ ...carol.keys, secretAccessKey: "wrong" });
    await t.rejects(wrong.send({ method: "GET", path: [carol.bucket, "x"] }), {
      name: "S3ResponseError",
      status: 403,
    });
    const stranger = front.transportOf({ accessKeyId: "RTSTRANGER", secretAccessKey: "x" });
    await t.rejects(stranger.send({ method: "PUT", path: [carol.bucket, "x"], body: "x" }), {
      name: "S3ResponseError",
      status: 403,
    });
    const anonymous = await fetchWithCa(front.caPem, `${front.endpoint}/${carol.bucket}/x`);
    t.equal(anonymous.status, 403);
    const leaves = await since(length);
    t.match(leaves[0], {
      type: "data.object.refused",
      actor: { sub: "unproven", kind: "anonymous" },
      outcome: { code: "SignatureDoesNotMatch", status: 403 },
      detail: { claimed: carol.userId, status: 403, code: "SignatureDoesNotMatch" },
    });
    t.match(leaves[1], {
      type: "data.object.refused",
      actor: { sub: "unknown-key", kind: "anonymous" },
      detail: { status: 403, code: "InvalidAccessKeyId" },
      decision: undefined,
    });
    t.match(leaves[2], {
      type: "data.object.refused",
      actor: { sub: "anonymous" },
      detail: { status: 403, code: "AccessDenied" },
    });
  },
);

t.test(
  "signed headers reach the engine in their spelling and order, odd keys byte for byte",
  async (t) => {
    const dave = await front.addUser();
    const store = front.storeOf(dave);
    const keys = [
      "keys/a+b%20c.txt",
      "keys/ü & <x>'\".zip",
      "keys/plus + space",
      "keys/日本.py",
      "keys/(1)!*.zip",
      "keys/folder/",
    ];
    for (const key of keys) {
      const body = key.endsWith("/") ? "" : key;
      const put = await store.put(dave.bucket, key, body, "text/plain");
      t.match(await store.stat(dave.bucket, key), { etag: put.etag }, key);
    }
    t.same(
      (await store.list(dave.bucket, "keys/", 10)).map(({ key }) => key),
      [...keys].sort(),
    );
    const transport = front.transportOf(dave.keys);
    const headers = {
      "x-amz-meta-One": "a  b",
      "content-type": "text/plain; charset=UTF-8",
      "cache-control": "no-store",
    };
    await transport.send({ method: "PUT", path: [dave.bucket, "meta"], headers, body: "x" });
    t.match((await transport.send({ method: "HEAD", path: [dave.bucket, "meta"] })).headers, {
      "x-amz-meta-one": /a +b/,
      "content-type": "text/plain; charset=UTF-8",
    });
  },
);

t.test(
  "without auditd nothing reaches the engine, and it goes on when auditd is back",
  async (t) => {
    const erin = await front.addUser();
    const store = front.storeOf(erin);
    await store.put(erin.bucket, "before", "x", "text/plain");
    const upload = await store.createUpload(erin.bucket, "big", "application/zip");
    const part = await store.presignPart(erin.bucket, "big", upload, 1, 60);
    await front.auditd.stop("SIGKILL");
    const readyStatus = async () =>
      (await fetchWithCa(front.caPem, `${front.endpoint}/readyz`)).status;
    for (let tries = 0; tries < 5_000 && (await readyStatus()) !== 503; tries++) await sleep(20);
    const unavailable = { code: "ServiceUnavailable", status: 503, message: /audit log/ };
    await t.rejects(store.put(erin.bucket, "during", "x", "text/plain"), unavailable);
    await t.rejects(
      front.transportOf(erin.keys).send({ method: "GET", path: [erin.bucket, "before"] }),
      unavailable,
    );
    await t.rejects(store.list(erin.bucket, "", 10), unavailable);
    await t.rejects(store.remove(erin.bucket, "before"), unavailable);
    t.equal((await fetchWithCa(front.caPem, part, { method: "PUT", body: "part" })).status, 503);
    const readiness = await fetchWithCa(front.caPem, `${front.endpoint}/readyz`);
    t.equal(readiness.status, 503);
    t.same(await readiness.json(), { engine: true, audit: false });
    t.equal(
      (await fetchWithCa(front.caPem, `${front.endpoint}/healthz`)).status,
      200,
      "it lives: nobody need start it afresh",
    );
    for (const path of ["/healthz", "/readyz"])
      t.equal(
        (await fetchWithCa(front.caPem, `${front.endpoint}${path}`, { method: "PUT", body: "x" }))
          .status >= 400,
        true,
        `nothing is written to ${path}`,
      );
    await front.auditd.start();
    for (let tries = 0; tries < 5_000 && (await readyStatus()) !== 200; tries++) await sleep(20);
    t.equal(await readyStatus(), 200);
    t.same(
      (await store.list(erin.bucket, "", 10)).map(({ key }) => key),
      ["before"],
    );
    t.equal(
      (await store.usage(erin.bucket)).usedBytes,
      2 * LEAST_COST_BYTES,
      "the object and the open upload",
    );
  },
);

const isRequested = ({ phase }: { phase: string }) => phase === "requested";

t.test("what a killed front left open is closed by the next", async (t) => {
  const frank = await front.addUser();
  const headers = await signedHeaders(front, frank.keys, "PUT", `/${frank.bucket}/slow`);
  const before = await front.leafCount();
  const raw = new RawConnection(front);
  raw.socket.write(headText(`PUT /${frank.bucket}/slow`, { ...headers, "content-length": "1000" }));
  raw.socket.write("some bytes");
  await front.untilLeaf(isRequested, before);
  const { length } = await front.leaves();
  await front.stopFront("SIGKILL");
  await front.startFront();
  const leaves = await since(length);
  t.match(leaves.at(-1), {
    type: "data.object.write",
    phase: "failed",
    outcome: { code: "interrupted" },
  });
  t.equal((await front.storeOf(frank).list(frank.bucket, "", 10)).length, 0);
});

t.test(
  "a client that goes away ends the engine's request, an engine that goes away the client's",
  async (t) => {
    const grace = await front.addUser();
    const store = front.storeOf(grace);
    const path = `/${grace.bucket}/cut`;
    const headers = {
      ...(await signedHeaders(front, grace.keys, "PUT", path)),
      "content-length": "1000000",
    };
    const before = await front.leafCount();
    const raw = new RawConnection(front);
    raw.socket.write(headText(`PUT ${path}`, headers) + "x".repeat(5000));
    await front.untilLeaf(isRequested, before);
    raw.close();
    await front.untilLeaf(({ phase }) => phase === "failed", before);
    t.match((await front.leaves()).at(-1), { phase: "failed", outcome: { code: "client_gone" } });
    t.equal(await store.stat(grace.bucket, "cut"), null);

    const then = await front.leafCount();
    const other = new RawConnection(front);
    other.socket.write(headText(`PUT ${path}`, headers) + "x".repeat(5000));
    await front.untilLeaf(isRequested, then);
    await front.stopEngine("SIGKILL");
    t.equal(statusOf(await other.until(/<Code>/)), 503);
    t.match((await front.leaves()).at(-1), {
      phase: "failed",
      outcome: { code: "engine_unavailable", status: 503 },
    });
    await t.rejects(store.list(grace.bucket, "", 10), { code: "ServiceUnavailable" });
    await front.startEngine();
    t.same(await store.list(grace.bucket, "", 10), []);
  },
);
