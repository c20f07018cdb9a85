import { createHash } from "node:crypto";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { multipartEtag } from "../../src/outputs/decisions/multipart-etag.ts";
import { CoreFixture, eventually } from "../kernel/core-fixture.ts";
import { S3UnavailableError } from "../../src/storage/s3-transport.ts";
import { CLEAN, putPart, type ScriptedAgent } from "../kernel/scripted-agent.ts";

const KEY = "model_out/checkpoint.pt";

/** A job whose server drains, with the one part of its model stored. */
async function draining(fixture: CoreFixture, agent: ScriptedAgent, slug: string) {
  const { id } = await fixture.submit(slug);
  const members = await agent.desiredOf(id, 3);
  const server = members[0]!;
  await agent.bringUp(members);
  await agent.report(server, { kind: "job-started", nvflareJob: "nv" }, { kind: "finished" });
  const { upload, urls } = await agent.openUpload(server, KEY, "the model");
  const etag = (await putPart(urls[0]!, "the model")).replaceAll('"', "");
  const column = (name: string) =>
    fixture.core.read
      .prepare<[string], string>(`SELECT ${name} FROM uploads WHERE id = ?`)
      .pluck()
      .get(upload)!;
  const end = async () => {
    await agent.report(server, { kind: "outputs-uploaded", keys: [] });
    await fixture.until(id, "SUCCEEDED");
    for (const member of members) await agent.report(member, CLEAN);
  };
  return { id, server, upload, etag, column, end };
}

t.test("an output whose parts take long to put together", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const agent = await fixture.agent("node-a", 2);
  const { store, volumePath } = fixture.s3;

  await t.test("is asked for again and again, which is progress, and completed once", async (t) => {
    const { server, upload, etag, column, end } = await draining(fixture, agent, "slow");
    const complete = store.completeUpload.bind(store);
    const released = Promise.withResolvers<void>();
    let asked = 0;
    t.intercept(store, "completeUpload", {
      value: async (...args: Parameters<typeof complete>) => {
        asked += 1;
        await released.promise;
        return complete(...args);
      },
    });
    const deadline = () =>
      fixture.core.read
        .prepare<[string], number>("SELECT deadline_at FROM members WHERE id = ?")
        .pluck()
        .get(server.member)!;
    await t.rejects(agent.completeUpload(server, upload, [etag]), { code: "storage_unavailable" });
    const before = deadline();
    const again = agent.completeUpload(server, upload, [etag]);
    await agent.beat([]);
    t.ok(deadline() > before, "its time counts from now");
    released.resolve();
    t.type((await again).versionId, "string");
    t.equal(asked, 1);
    t.equal(column("state"), "COMPLETED");
    await end();
  });

  await t.test(
    "is waited for by a start in between, and never taken for the older version that is there",
    async (t) => {
      const older = await store.put("bucket-a", `jobs/restarted/${KEY}`, "old model", "text/plain");
      const { server, upload, etag, column, end } = await draining(fixture, agent, "restarted");
      // As the engine has it while it copies the parts.
      const folder = join(
        volumePath,
        "bucket-a/.sgwtmp/multipart",
        createHash("sha256").update(`jobs/restarted/${KEY}`).digest("hex"),
      );
      const open = join(folder, column("s3_upload_id"));
      const inProgress = `${open}.${multipartEtag([etag])}.inprogress`;
      await rename(open, inProgress);
      await fixture.core.commit.run((db) =>
        db
          .prepare("UPDATE uploads SET state = 'COMPLETING', etags = ? WHERE id = ?")
          .run(JSON.stringify([etag]), upload),
      );
      await fixture.restart();
      const completed = agent.completeUpload(server, upload, [etag]);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      t.equal(column("state"), "COMPLETING");
      t.equal(
        (await store.stat("bucket-a", `jobs/restarted/${KEY}`))?.versionId,
        older.versionId,
        "nobody removed the older one",
      );
      await rename(inProgress, open);
      const { versionId } = await completed;
      t.not(versionId, older.versionId);
      t.equal((await store.stat("bucket-a", `jobs/restarted/${KEY}`))?.versionId, versionId);
      await end();
    },
  );

  await t.test("holds no stop up, and the next start completes it", async (t) => {
    const { server, upload, etag, column, end } = await draining(fixture, agent, "stopped");
    const complete = store.completeUpload.bind(store);
    const asked = Promise.withResolvers<void>();
    let isSilent = true;
    t.intercept(store, "completeUpload", {
      value: (...args: Parameters<typeof complete>) => {
        if (!isSilent) return complete(...args);
        isSilent = false;
        asked.resolve();
        const { promise, reject } = Promise.withResolvers<never>();
        args[4]?.addEventListener("abort", () => reject(new S3UnavailableError("silent")));
        return promise;
      },
    });
    const refused = t.rejects(agent.completeUpload(server, upload, [etag]), {
      code: "storage_unavailable",
    });
    await asked.promise;
    await fixture.restart();
    await refused;
    await eventually(() => (column("state") === "COMPLETED" ? true : null), "recorded");
    await end();
  });

  t.same(fixture.errors, []);
});
