import t, { type Test } from "tap";
import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import { formatFence } from "@resontech/contracts/fence";
import { S3UnavailableError } from "../../src/storage/s3-transport.ts";
import { CoreFixture, eventually } from "../kernel/core-fixture.ts";
import { CLEAN, putPart, type ScriptedAgent } from "../kernel/scripted-agent.ts";

const MODEL = "model_out/checkpoint.pt";

/** A job that runs, and the server's upload with its one part stored. */
async function running(fixture: CoreFixture, agent: ScriptedAgent, slug: string) {
  const { id } = await fixture.submit(slug, { resumable: true });
  const members = await agent.desiredOf(id, 3);
  const server = members[0]!;
  await agent.bringUp(members);
  await agent.report(server, { kind: "job-started", nvflareJob: "nv" });
  const stored = async (key: string, area?: "checkpoint") => {
    const { upload, urls } = await agent.openUpload(server, key, "the bytes", area);
    return { upload, etags: [await putPart(urls[0]!, "the bytes")] };
  };
  return { id, members, server, stored };
}

async function end(
  fixture: CoreFixture,
  agent: ScriptedAgent,
  id: string,
  members: readonly DesiredMember[],
) {
  await fixture.cancel(id);
  for (const member of members) await agent.report(member, CLEAN);
  await fixture.until(id, "CANCELLED");
}

/** From now on the store completes what it is asked to, and its answer is held back until `release`. */
function holdAnswers(t: Test, { store }: CoreFixture["s3"]) {
  const complete = store.completeUpload.bind(store);
  const released = Promise.withResolvers<void>();
  const isStored = Promise.withResolvers<void>();
  t.intercept(store, "completeUpload", {
    value: async (...args: Parameters<typeof complete>) => {
      const done = await complete(...args);
      isStored.resolve();
      await released.promise;
      return done;
    },
  });
  return { isStored: isStored.promise, release: released.resolve };
}

t.test("a member without authority leaves no output behind", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const agent = await fixture.agent("node-a", 2);
  const { store } = fixture.s3;
  const gone = (key: string) =>
    eventually(
      async () => ((await store.stat("bucket-a", key)) === null ? true : null),
      `${key} is gone`,
    );
  const noneOpen = () =>
    eventually(
      async () => ((await store.listUploads("bucket-a", "jobs/")).length === 0 ? true : null),
      "none is open",
    );

  await t.test(
    "what the store could not complete is aborted with the fence, and no later start completes it",
    async (t) => {
      const { id, members, server, stored } = await running(fixture, agent, "away");
      const { upload, etags } = await stored(MODEL);
      await t.test("while the store completes nothing", async (t) => {
        t.intercept(store, "completeUpload", {
          value: () => Promise.reject(new S3UnavailableError("no room")),
        });
        await t.rejects(agent.completeUpload(server, upload, etags), {
          code: "storage_unavailable",
        });
      });
      await end(fixture, agent, id, members);
      await noneOpen();
      await fixture.restart();
      t.equal(await store.stat("bucket-a", `jobs/away/${MODEL}`), null);
      t.equal(
        fixture.core.read.prepare("SELECT state FROM uploads WHERE id = ?").pluck().get(upload),
        "ABORTED",
      );
    },
  );

  await t.test("a start takes back what an older one left under a withdrawn fence", async (t) => {
    const { id, members, stored } = await running(fixture, agent, "older");
    const { upload, etags } = await stored(MODEL);
    const write = (state: string) => {
      const unquoted = etags.map((etag) => etag.replaceAll('"', ""));
      return fixture.core.commit.run((db) =>
        db
          .prepare("UPDATE uploads SET state = ?, etags = ? WHERE id = ?")
          .run(state, JSON.stringify(unquoted), upload),
      );
    };
    // Hidden from the end of the fence, which would abort it.
    await write("COMPLETED");
    await end(fixture, agent, id, members);
    await write("COMPLETING");
    await fixture.restart();
    await noneOpen();
    t.equal(await store.stat("bucket-a", `jobs/older/${MODEL}`), null);
  });

  await t.test("what the store completes meanwhile is removed again", async (t) => {
    const { id, members, server, stored } = await running(fixture, agent, "meanwhile");
    const { upload, etags } = await stored(MODEL);
    const answers = holdAnswers(t, fixture.s3);
    const refused = t.rejects(agent.completeUpload(server, upload, etags));
    await answers.isStored;
    await end(fixture, agent, id, members);
    answers.release();
    await refused;
    await gone(`jobs/meanwhile/${MODEL}`);
  });

  await t.test("a checkpoint that is stored after its job ended is removed", async (t) => {
    const { id, members, server, stored } = await running(fixture, agent, "late");
    await agent.upload(server, MODEL, "the model");
    const { upload, etags } = await stored(
      `${server.member}-${formatFence(server.fence)}/0/model`,
      "checkpoint",
    );
    const answers = holdAnswers(t, fixture.s3);
    // On a busy machine it is told to ask again.
    const completed = agent.completeUpload(server, upload, etags).catch(() => null);
    await answers.isStored;
    await agent.report(server, { kind: "finished" }, { kind: "outputs-uploaded", keys: [] });
    await fixture.until(id, "SUCCEEDED");
    answers.release();
    await completed;
    const kept = () => store.list("bucket-a", `ckpt/${id}/`, 10);
    await eventually(async () => ((await kept()).length === 0 ? true : null), "removed");
    for (const member of members) await agent.report(member, CLEAN);
  });

  t.same(fixture.errors, []);
});

t.test(
  "a start does not wait for the object store, and takes unnamed uploads back once it answers",
  async (t) => {
    const fixture = await CoreFixture.start();
    t.teardown(() => fixture.close());
    const agent = await fixture.agent("node-a", 2);
    const { store } = fixture.s3;
    const { stored } = await running(fixture, agent, "unnamed");
    await stored(MODEL);
    await fixture.core.commit.run((db) =>
      db.prepare("UPDATE uploads SET s3_upload_id = NULL WHERE state = 'OPEN'").run(),
    );
    await t.test("while the store is away", async (t) => {
      t.intercept(store, "listUploads", {
        value: () => Promise.reject(new S3UnavailableError("away")),
      });
      await fixture.restart();
      await eventually(
        () => (fixture.errors.some((error) => error.includes("away")) ? true : null),
        "it was asked",
      );
    });
    await eventually(
      async () => ((await store.listUploads("bucket-a", "jobs/")).length === 0 ? true : null),
      "aborted",
    );
  },
);
