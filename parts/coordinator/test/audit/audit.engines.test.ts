import { joinKey, urlSha256 } from "@resontech/audit/producer";
import t from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { CoreFixture, eventually } from "../kernel/core-fixture.ts";
import { CLEAN } from "../kernel/scripted-agent.ts";

t.test(
  "without auditd no URL is issued and nothing is accepted, but the kernel goes on",
  async (t) => {
    const fixture = await CoreFixture.start();
    t.teardown(() => fixture.close());
    const agent = await fixture.agent("node-a", 2);
    const { id } = await fixture.submit("unlogged");
    const members = await agent.desiredOf(id, 3);
    const [server] = members as [(typeof members)[0]];

    await fixture.auditd.stop("SIGKILL");
    await t.rejects(agent.stage(server), { code: "audit_unavailable" });
    await t.rejects(agent.openUpload(server, "model_out/checkpoint.pt", "x"), {
      code: "audit_unavailable",
    });
    await t.rejects(fixture.task("refused"), { name: "AuditUnavailable" });
    await eventually(
      async () =>
        (await fixture.s3.store.listUploads("bucket-a", "jobs/unlogged/")).length === 0
          ? true
          : null,
      "the upload whose URLs nobody was given is taken back",
    );
    await agent.bringUp(members);
    await agent.report(server, { kind: "job-started", nvflareJob: "nv" });
    t.equal(fixture.job(id).state, "RUNNING", "lease and fence decisions never wait");
    t.ok(
      fixture.core.read.prepare<[], number>("SELECT count(*) FROM audit_outbox").pluck().get()! > 0,
    );

    await fixture.auditd.start();
    await eventually(
      () =>
        fixture.core.read.prepare("SELECT count(*) FROM audit_outbox").pluck().get() === 0
          ? true
          : null,
      "the backlog is sent",
      20_000,
    );
    t.match((await agent.stage(server)).urls[0]?.url, /^https:/);
    await fixture.cancel(id);
    for (const member of members) await agent.report(member, CLEAN);
    await fixture.until(id, "CANCELLED");

    await t.test("a backlog over 10,000 rows or a minute lets nothing new start", async (t) => {
      const task = await fixture.task("drained");
      await fixture.auditd.stop("SIGKILL");
      const running = await fixture.core.kernel.submit(task);
      await fixture.core.commit.run((db) =>
        db.prepare("UPDATE audit_outbox SET created_at = ?").run(Date.now() - 61_000),
      );
      await t.rejects(fixture.core.kernel.submit({ ...task, outputRoot: "jobs/other" }), {
        name: "Draining",
      });
      await fixture.core.commit.run((db) =>
        db.prepare("UPDATE audit_outbox SET created_at = ?").run(Date.now()),
      );
      await fixture.auditd.start();
      t.equal((await agent.desiredOf(running.id, 3)).length, 3);
    });
  },
);

t.test("issued URLs and uploads can be paired with what the S3 door saw of them", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const agent = await fixture.agent("node-a", 2);
  const { id } = await fixture.submit("paired");
  const members = await agent.desiredOf(id, 3);
  const [server] = members as [(typeof members)[0]];
  await agent.bringUp(members);
  const { urls } = await agent.stage(server);
  const { upload } = await agent.openUpload(server, "model_out/checkpoint.pt", "the model");
  await agent.call("output-parts", {
    nodeEpoch: agent.epoch,
    member: server.member,
    fence: server.fence,
    upload,
    parts: [1],
  });
  const s3UploadId = fixture.core.read
    .prepare<[string], string>("SELECT s3_upload_id FROM uploads WHERE id = ?")
    .pluck()
    .get(upload)!;
  await fixture.core.gate.covered((await fixture.core.gate.status()).size - 1);
  const leaves = await readLeaves(fixture.auditd.logDir);
  const issued = leaves
    .filter(({ type }) => type === "data.stage")
    .map(({ detail }) => detail?.["url_sha256"]);
  for (const { url } of urls)
    t.ok(issued.includes(urlSha256(url)), "each URL is named by the record of its issue");
  t.match(
    leaves.filter(({ type }) => type === "model.output.open").map(({ detail }) => detail),
    [
      { upload_sha256: joinKey(s3UploadId), parts: 1 },
      { upload_sha256: joinKey(s3UploadId), parts: 1, again: true },
    ],
    "URLs that were issued again have their own record",
  );
});
