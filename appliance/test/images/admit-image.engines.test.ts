/** Images are admitted, deployed and removed against the real coordinator and its audit log; the registry's storage is real too. */
import { execFileSync } from "node:child_process";
import { generateKeyPairSync, sign } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { imageStatement } from "@resontech/contracts/own-image";
import t from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { writeImageLayout } from "@resontech/house/image-layout";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import type { AskedAdmission } from "@resontech/contracts/operator-images";
import { coordinatorAt } from "../../src/first-boot/ask-coordinator.ts";
import { admitImage, dismissImage } from "../../src/images/admit-image.ts";
import { ImageArchive } from "../../src/images/image-archive.ts";

// On a machine where no test has needed Keycloak before, it is made first.
t.setTimeout(600_000);
const running = await RunningCoordinator.create({ identity: true });
t.teardown(() => running[Symbol.asyncDispose]());
const ask = coordinatorAt(running.config.controlSocket);
const user = await ask("add-user", { username: "ada" });
const dir = t.testdir({ a: { program: "a" }, b: { program: "b" } });
const storageDir = join(dir, "registry");
const archiveOf = async (name: string): Promise<string> => {
  await writeImageLayout(join(dir, name), join(dir, `${name}-layout`), { Cmd: ["/program"] });
  const file = join(dir, `${name}.tar`);
  execFileSync("tar", ["-cf", file, "-C", join(dir, `${name}-layout`), "."]);
  return file;
};
const [first, other] = [await archiveOf("a"), await archiveOf("b")];
const digestOf = (file: string) => {
  using archive = new ImageArchive(file);
  return archive.digest;
};
const admit = async (file: string, name: string, admission: AskedAdmission) => {
  using archive = new ImageArchive(file);
  return await admitImage({ ask, storageDir }, { name, archive, admission });
};
const said = (file: string): AskedAdmission => ({ by: "digest", said: digestOf(file) });
const isServed = (name: string) =>
  existsSync(join(storageDir, "docker/registry/v2/repositories/own", name));
const recorded = async (type: string) => {
  for (let tries = 0; tries < 1_000; tries++) {
    const leaves = await readLeaves(running.auditd.logDir);
    const found = leaves.filter((leaf) => leaf.type === type);
    if (found.some(({ phase }) => phase === "completed"))
      return found.findLast(({ phase }) => phase === "requested");
    await sleep(50);
  }
  return undefined;
};

t.test("the digest that was said admits an image, and another one does not", async (t) => {
  await t.rejects(admit(first, "mine", said(other)), { code: "image_digest_differs" });
  t.notOk(isServed("mine"));
  const admitted = await admit(first, "mine", said(first));
  t.match(admitted, { name: "mine", digest: digestOf(first), admittedBy: "digest", proof: null });
  t.ok(isServed("mine"));
  t.match(await admit(first, "mine", said(first)), { digest: digestOf(first) }, "once more");
  await t.rejects(admit(other, "mine", said(other)), { code: "image_exists" });
  t.match(await recorded("admin.image.add"), { detail: { name: "mine", by: "digest" } });
});

t.test("the signature of a key admits an image while it is trusted", async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const signature = sign(null, Buffer.from(imageStatement(digestOf(other))), privateKey);
  const by: AskedAdmission = { by: "signature", signature: signature.toString("base64") };
  await t.rejects(admit(other, "signed", by), { code: "image_signature_invalid" });
  t.notOk(isServed("signed"), "nothing of it stays");
  const pem = publicKey.export({ format: "pem", type: "spki" });
  const { sha256 } = await ask("image-trust", { pem });
  t.match(await ask("image-keys"), { keys: [{ sha256 }] });
  t.match(await admit(other, "signed", by), { admittedBy: "signature", proof: sha256 });
  await t.rejects(admit(first, "wrong", by), { code: "image_signature_invalid" });
  await ask("image-distrust", { key: sha256.slice(0, 12) });
  t.same((await ask("image-keys")).keys, []);
  t.ok((await ask("image-list")).images.some(({ name }) => name === "signed"));
  t.match(await recorded("admin.image.trust"), { detail: { change: /trusted/ } });
});

t.test("an approved request admits its image under its name", async (t) => {
  const roles = ["platform-admin"] as const;
  // There is nobody who could answer: the request is approved at once, and marked so.
  const session = await running.signedIn(user.userId, { roles });
  const digest = digestOf(first);
  const reply = await fetchWithCa(running.caPem, `${running.url}/api/approvals`, {
    ...{ method: "POST", headers: { ...session, "content-type": "application/json" } },
    body: JSON.stringify({ what: { kind: "image", name: "agreed", digest } }),
  });
  const asked = (await reply.json()) as { id: string; state: string };
  t.match(asked, { state: "approved", singlePerson: true });
  const by: AskedAdmission = { by: "approval", approval: asked.id };
  await t.rejects(admit(other, "agreed", by), { code: "image_digest_differs" });
  await t.rejects(admit(first, "another", by), { code: "approval_required" });
  await t.rejects(admit(first, "agreed", { by: "approval", approval: "a_none" }), {
    code: "not_found",
  });
  t.notOk(isServed("agreed"));
  t.match(await admit(first, "agreed", by), { admittedBy: "approval", proof: asked.id });
});

t.test("an image stays as long as a deployment runs it", async (t) => {
  const yaml = "engine: container\ncontainer: {image: mine, port: 8000}\n";
  const key = "inference_jobs/own/inference.yaml";
  await running.s3.store.put(user.bucketAlias, key, yaml, "text/plain");
  const { body, status } = await running.request(
    ...(["POST", "/api/inference/jobs", user.platformKey] as const),
    { name: "own", jobPath: "/inference_jobs/own", gpuModels: ["cpu"] },
  );
  t.equal(status, 201);
  const job = String(body["jobId"]);
  const pinned = { code: "image_in_use", message: new RegExp(job) };
  await t.rejects(dismissImage({ ask, storageDir }, "mine"), pinned);
  t.ok(isServed("mine"));
  await running.request("DELETE", `/api/inference/jobs/${job}`, user.platformKey);
  t.equal(await dismissImage({ ask, storageDir }, "mine"), digestOf(first));
  t.notOk(isServed("mine"));
  t.ok(isServed("signed"), "others stay");
  await t.rejects(dismissImage({ ask, storageDir }, "mine"), { code: "not_found" });
  t.match(await recorded("admin.image.remove"), { detail: { name: "mine" } });
});
