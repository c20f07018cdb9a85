import Database from "better-sqlite3";
import t from "tap";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { CoreFixture, eventually } from "./core-fixture.ts";
import { CLEAN, putPart } from "./scripted-agent.ts";

t.test("a restart at any point of a run continues it", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const agent = await fixture.agent("node-a", 2);
  let restarted = "";

  await t.test("job, fences, epochs and reports are as they were; nothing is spent", async (t) => {
    const { id } = await fixture.submit("restarted");
    restarted = id;
    await fixture.restart();
    const members = await agent.desiredOf(id, 3);
    const [server] = members as [(typeof members)[0]];
    await fixture.restart();
    await agent.bringUp(members);
    await agent.report(server, { kind: "job-started", nvflareJob: "nv-1" });
    await fixture.restart();
    t.equal(fixture.job(id).state, "RUNNING");
    t.same(await agent.reportAt(server, 5, { kind: "job-started", nvflareJob: "nv-1" }), {
      results: ["accepted"],
    });
    t.same(await agent.desired(), members);
    await agent.report(server, { kind: "finished" });
    const opened = await agent.openUpload(server, "model_out/checkpoint.pt", "the model");
    const etag = await putPart(opened.urls[0]!, "the model");
    await fixture.restart();
    await agent.completeUpload(server, opened.upload, [etag]);
    await fixture.restart();
    const { versionId } = await agent.completeUpload(server, opened.upload, [etag]);
    t.type(versionId, "string", "the same answer after the restart");
    await agent.report(server, { kind: "outputs-uploaded", keys: ["model_out/checkpoint.pt"] });
    for (const member of members) await agent.report(member, CLEAN);
    const done = await fixture.until(id, "SUCCEEDED");
    t.equal(done.attempt, 1);
  });

  await t.test("the plan that placed the job outlives them, and comes out the same", async (t) => {
    const id = restarted;
    const { plans, unread } = await fixture.core.planReplays.list(10, id);
    t.same(unread, []);
    const [placing] = plans.at(-1)!.decisions.placements;
    t.match(placing, { job: id, home: "node-a" });
    const made = await fixture.core.planReplays.replay(plans.at(-1)!.number, () => id);
    t.equal(made.isSame, true);
    t.match(made.job?.told[0], placing!.workers.join(", "));
    t.equal(fixture.core.planRecorder.state, "ok");
  });

  await t.test("an upload that was completed but not recorded is recorded", async (t) => {
    const { id } = await fixture.submit("half-done");
    const members = await agent.desiredOf(id, 3);
    const [server] = members as [(typeof members)[0]];
    await agent.bringUp(members);
    await agent.report(server, { kind: "job-started", nvflareJob: "nv-2" }, { kind: "finished" });
    const opened = await agent.openUpload(server, "model_out/checkpoint.pt", "the model");
    const etag = (await putPart(opened.urls[0]!, "the model")).replaceAll('"', "");
    const upload = fixture.core.read
      .prepare<[string], { s3_upload_id: string }>("SELECT s3_upload_id FROM uploads WHERE id = ?")
      .get(opened.upload)!;
    const stored = await fixture.s3.store.completeUpload(
      "bucket-a",
      "jobs/half-done/model_out/checkpoint.pt",
      upload.s3_upload_id,
      [{ partNumber: 1, etag }],
    );
    // As a kill between the object store's answer and our commit leaves it.
    await fixture.core.commit.run((db) =>
      db
        .prepare("UPDATE uploads SET state = 'COMPLETING', etags = ? WHERE id = ?")
        .run(JSON.stringify([etag]), opened.upload),
    );
    await fixture.restart();
    t.same(await agent.completeUpload(server, opened.upload, [etag]), {
      versionId: stored.versionId,
    });
    await agent.report(server, { kind: "outputs-uploaded", keys: [] });
    for (const member of members) await agent.report(member, CLEAN);
    await fixture.until(id, "SUCCEEDED");
  });

  await t.test("an upload that was opened but never named is taken back", async (t) => {
    const { id } = await fixture.submit("unnamed");
    const members = await agent.desiredOf(id, 3);
    await agent.openUpload(members[0]!, "model_out/checkpoint.pt", "x");
    await fixture.core.commit.run((db) =>
      db.prepare("UPDATE uploads SET s3_upload_id = NULL WHERE state = 'OPEN'").run(),
    );
    await fixture.restart();
    const open = () => fixture.s3.store.listUploads("bucket-a", "jobs/unnamed/");
    t.ok(await eventually(async () => ((await open()).length === 0 ? true : null), "aborted"));
    await fixture.cancel(id);
    for (const member of members) await agent.report(member, CLEAN);
    await fixture.until(id, "CANCELLED");
  });

  await t.test(
    "a restored database gets a new generation: older fences are void and the job starts again",
    async (t) => {
      const { id } = await fixture.submit("restored");
      const before = await agent.desiredOf(id, 3);
      await agent.bringUp(before);
      // The log has seen a start that this database knows nothing of.
      await fixture.core.gate.fact({
        type: "admin.coordinator.start",
        op: crypto.randomUUID(),
        actor: { sub: "coordinator", kind: "system" },
        object: { kind: "process", id: "coordinator" },
        detail: { generation: 7, version: "0.1.0" },
      });
      await fixture.restart();
      t.equal(fixture.core.generation, 8);
      t.same(await agent.report(before[0]!, { kind: "ready" }), ["stale"]);
      await agent.register(2, []);
      t.equal(agent.epoch.generation, 8);
      const toRelease = (await agent.desired()).filter(({ desired }) => desired === "stop");
      t.equal(toRelease.length, 3);
      t.ok(toRelease.every(({ fence }) => fence.generation === 8));
      for (const member of toRelease) await agent.report(member, CLEAN);
      const again = await agent.desiredOf(id, 3);
      t.equal(fixture.job(id).attempt, 2);
      t.equal(again[0]!.fence.generation, 8);
      await fixture.cancel(id);
      for (const member of again) await agent.report(member, CLEAN);
      await fixture.until(id, "CANCELLED");
    },
  );

  await t.test("records go on without a gap, and what was left open is closed", async (t) => {
    const op = crypto.randomUUID();
    await fixture.core.gate.requested({
      ...{ type: "job.cancel", op, actor: { sub: "key-a", kind: "key" } },
      object: { kind: "job", id: "j" },
    });
    t.equal((await fixture.core.gate.openOperations()).length, 1);
    await fixture.restart();
    await eventually(
      async () => ((await fixture.core.gate.openOperations()).length === 0 ? true : null),
      "closed",
    );
    await eventually(
      () =>
        fixture.core.read.prepare("SELECT count(*) FROM audit_outbox").pluck().get() === 0
          ? true
          : null,
      "the outbox is empty",
    );
  });

  t.same(fixture.errors, []);
});

t.test("a database that needs a newer program stops the start", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  await fixture.core[Symbol.asyncDispose]();
  const file = `${fixture.dir}/coordinator.db`;
  const db = new Database(file);
  const minReader = db.pragma("application_id", { simple: true }) as number;
  db.pragma("user_version = 99");
  db.pragma("application_id = 99");
  db.close();
  await t.rejects(fixture.open(), { code: "database_too_new" });
  const back = new Database(file);
  back.pragma(`user_version = ${MIGRATIONS.length}`);
  back.pragma(`application_id = ${minReader}`);
  back.close();
  await fixture.open();
});
