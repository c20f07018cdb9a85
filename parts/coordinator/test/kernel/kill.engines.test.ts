import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { CoreFixture } from "./core-fixture.ts";
import { KilledCore } from "./killed-core.ts";
import { CLEAN, putPart } from "./scripted-agent.ts";

t.test(
  "kill -9 of the coordinator at each step of a job, and the job ends SUCCEEDED in its first attempt",
  async (t) => {
    const fixture = await CoreFixture.start();
    t.teardown(() => fixture.close());
    const agent = await fixture.agent("node-a", 2);
    const { id } = await fixture.submit("killed");
    // Its worker is on no node: once nothing holds it, it waits.
    const { id: follower } = await fixture.submit("follower", {
      after: [{ job: id, when: "succeeded" }],
      selection: { kind: "pinned", workerIds: ["node-z-0"] },
    });
    await fixture.core[Symbol.asyncDispose]();

    const core = new KilledCore({ config: fixture.config, admin: fixture.s3.admin });
    t.teardown(() => core.kill());
    await core.start();
    let kills = 0;
    /** Does it, and is killed at a moment that nobody chose; asks again until there is an answer, as an agent does. */
    const through = async <T>(ask: () => Promise<T>): Promise<T> => {
      const killed = sleep(Math.random() * 6)
        .then(() => core.kill())
        .then(() => core.start());
      kills += 1;
      const asked = ask().catch(() => null);
      await killed;
      // What the killed process took with it is never answered; nobody waits for that.
      const early = await Promise.race([asked, sleep(200, null)]);
      return early ?? (await ask());
    };

    const members = await through(() => agent.desiredOf(id, 3));
    const [server] = members as [(typeof members)[0]];
    await through(() =>
      agent.reportAt(
        server,
        1,
        { kind: "staged", bytes: 1 },
        { kind: "started", container: "c" },
        { kind: "ready" },
      ),
    );
    await through(() => agent.reportAt(server, 4, { kind: "job-started", nvflareJob: "nv" }));
    await through(() => agent.reportAt(server, 5, { kind: "finished" }));
    const opened = await through(() =>
      agent.openUpload(server, "model_out/checkpoint.pt", "the model"),
    );
    const etag = await putPart(opened.urls[0]!, "the model");
    t.type(
      (await through(() => agent.completeUpload(server, opened.upload, [etag]))).versionId,
      "string",
    );
    await through(() =>
      agent.reportAt(server, 6, { kind: "outputs-uploaded", keys: ["model_out/checkpoint.pt"] }),
    );
    for (const member of members)
      await through(() => agent.reportAt(member, member === server ? 7 : 1, CLEAN));

    t.equal(await core.state(id), "SUCCEEDED");
    t.equal(await core.state(follower), "QUEUED", "no kill keeps what was to follow");
    t.same(await agent.desired(), []);
    t.ok(kills >= 10, `${kills} kills`);
    t.same(core.errors, []);
    await core.kill();
    await fixture.open();
    t.equal(fixture.job(id).attempt, 1);
    t.equal(
      fixture.core.kernel.workersStats().workers.filter(({ status }) => status === "free").length,
      2,
    );
    t.same(await fixture.s3.store.listUploads("bucket-a", "jobs/killed/"), []);
    t.same(fixture.errors, []);
  },
);
