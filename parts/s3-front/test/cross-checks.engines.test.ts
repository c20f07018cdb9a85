/** What the door records of the coordinator's uploads is what the verifier compares with the coordinator's own records. */
import { randomUUID } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AuditProducer, committer, connectProducer, joinKey } from "@resontech/audit/producer";
import t, { type Test } from "tap";
import { exportLog } from "@resontech/audit/export";
import { nodePlatform } from "@resontech/verifier/platform/platform-node";
import type { Verdict } from "@resontech/verifier/verdicts";
import { verify } from "@resontech/verifier/verify";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { RunningFront } from "./helper/running-front.ts";
import type { FrontUser } from "@resontech/coordinator/testing/front-world";

/** COMPLETENESS of all that the log holds now. */
async function completeness(t: Test, front: RunningFront): Promise<Verdict> {
  await front.leaves();
  const file = join(front.dir, "export.tar");
  const { logDir, config } = front.auditd;
  await exportLog({ logDir, file });
  const policy = readFileSync(config.policyFile);
  const { verdicts } = await verify({
    bundle: createReadStream(file),
    policy,
    platform: nodePlatform,
  });
  t.match(verdicts, { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } });
  return verdicts.COMPLETENESS;
}

const object = (path: string) => ({ kind: "object", id: committer()("object.id", path) }) as const;

/** The coordinator says that it opened or stored an output. */
const says = (
  producer: AuditProducer,
  type: "model.output.open" | "model.output",
  key: string,
  uploadId: string,
) =>
  producer.fact({
    ...{ type, op: randomUUID(), actor: { sub: "node-1", kind: "node" }, object: object(key) },
    detail: { job: "job-1", upload_sha256: joinKey(uploadId) },
  });

/** Opens an upload with the coordinator's key, and stores its one part by URL. */
async function partStored(
  front: RunningFront,
  { bucket }: FrontUser,
  key: string,
): Promise<{ uploadId: string; etag: string }> {
  const uploadId = await front.store.createUpload(bucket, key, "application/octet-stream");
  const url = await front.store.presignPart(bucket, key, uploadId, 1, 600);
  const { headers } = await fetchWithCa(front.caPem, url, { method: "PUT", body: "model" });
  return { uploadId, etag: headers.get("etag")!.replaceAll('"', "") };
}

t.test(
  "uploads that the coordinator opened and stored are paired; one that it did not open is named",
  async (t) => {
    await using front = await RunningFront.create();
    const alice = await front.addUser();
    await using gate = await connectProducer({
      socketPath: front.auditd.socket("coordinator-gate"),
      boot: randomUUID(),
    });
    await using record = await connectProducer({
      socketPath: front.auditd.socket("coordinator-record"),
      boot: "g1",
    });
    const complete = ({ uploadId, etag }: { uploadId: string; etag: string }, key: string) =>
      front.store.completeUpload(alice.bucket, key, uploadId, [{ partNumber: 1, etag }]);

    const out = await partStored(front, alice, "jobs/a/model_out/checkpoint.pt");
    await says(gate, "model.output.open", "jobs/a/model_out/checkpoint.pt", out.uploadId);
    await complete(out, "jobs/a/model_out/checkpoint.pt");
    await says(record, "model.output", "jobs/a/model_out/checkpoint.pt", out.uploadId);

    const own = await partStored(front, alice, "data.csv");
    const asked = {
      ...({
        type: "data.upload.complete",
        op: randomUUID(),
        actor: { sub: alice.userId, kind: "user" },
      } as const),
      object: object("data.csv"),
    };
    await gate.requested({ ...asked, detail: { parts: 1, upload_sha256: joinKey(own.uploadId) } });
    await complete(own, "data.csv");
    await gate.outcome({ ...asked, phase: "completed" });

    const given = await partStored(front, alice, "jobs/a/given-up");
    await says(gate, "model.output.open", "jobs/a/given-up", given.uploadId);
    t.equal(await front.store.abortUpload(alice.bucket, "jobs/a/given-up", given.uploadId), true);
    await t.rejects(
      complete(given, "jobs/a/given-up"),
      { code: "NoSuchUpload" },
      "the engine refuses what was given up",
    );

    const users = front.storeOf(alice);
    const byUser = await users.createUpload(alice.bucket, "by-user", "text/plain");
    const url = await users.presignPart(alice.bucket, "by-user", byUser, 1, 600);
    const { headers } = await fetchWithCa(front.caPem, url, { method: "PUT", body: "mine" });
    await users.completeUpload(alice.bucket, "by-user", byUser, [
      { partNumber: 1, etag: headers.get("etag")!.replaceAll('"', "") },
    ]);

    t.match(await completeness(t, front), {
      verdict: "PASS",
      reason: /; 2 uploads, each on record at both ends/,
    });

    const forged = await partStored(front, alice, "jobs/a/model_out/other.pt");
    await complete(forged, "jobs/a/model_out/other.pt");
    t.match(await completeness(t, front), {
      verdict: "FAIL",
      reason: /^CROSS-CHECK: an upload was completed at the S3 door that/,
    });
  },
);

t.test(
  "an output that never passed the door is named, and so is an object written through a URL of the coordinator's key",
  async (t) => {
    await using front = await RunningFront.create();
    {
      await using record = await connectProducer({
        socketPath: front.auditd.socket("coordinator-record"),
        boot: "g1",
      });
      await says(record, "model.output", "jobs/a/model_out/checkpoint.pt", "never");
    }
    t.match(await completeness(t, front), {
      verdict: "FAIL",
      reason: /^CROSS-CHECK: the coordinator calls an upload stored/,
    });

    await using other = await RunningFront.create();
    const bob = await other.addUser();
    t.match(await completeness(t, other), { verdict: "PASS" });
    const url = await other.transport.presign("PUT", [bob.bucket, "planted"], {}, 60);
    t.equal(
      (
        await fetchWithCa(other.caPem, url.replace(/Signature=.{8}/, "Signature=00000000"), {
          method: "PUT",
          body: "x",
        })
      ).status,
      403,
    );
    t.match(await completeness(t, other), { verdict: "PASS" }, "a wrong signature");
    t.equal((await fetchWithCa(other.caPem, url, { method: "PUT", body: "x" })).status, 200);
    t.match(await completeness(t, other), {
      verdict: "FAIL",
      reason: /^CROSS-CHECK: the S3 door saw a URL used/,
    });
  },
);
