import t from "tap";
import { CoreFixture, eventually } from "./core-fixture.ts";
import { CLEAN, putPart } from "./scripted-agent.ts";
import { runnerSpecOf } from "./told-role.ts";

t.test("a scripted agent takes jobs through the whole protocol", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const agent = await fixture.agent("node-a", 2);

  await t.test("to SUCCEEDED", async (t) => {
    const { id } = await fixture.submit("good");
    const members = await agent.desiredOf(id, 3);
    t.match(
      members.map((member) => ({
        site: runnerSpecOf(member).site,
        network: member.payload.network,
        desired: member.desired,
      })),
      [
        { site: null, network: { shape: "hub", index: null }, desired: "run" },
        { site: "site-1", network: { shape: "hub", index: 0 }, desired: "run" },
        { site: "site-2", network: { shape: "hub", index: 1 }, desired: "run" },
      ],
    );
    const [server, ...clients] = members as [(typeof members)[0], ...typeof members];
    t.same(
      server.inputs.map(({ kind }) => kind),
      ["script", "config"],
    );
    t.same(
      clients.map(({ inputs }) => inputs.map(({ kind }) => kind)),
      [["shard"], ["shard"]],
    );
    t.equal((await fixture.until(id, "PROVISIONING")).attempt, 1);
    for (const member of members) {
      const staged = await agent.stage(member);
      t.same(
        staged.urls.map(({ id }) => id),
        member.inputs.map(({ id }) => id),
      );
      t.match(staged.urls[0]!.url, /versionId=/);
    }
    await agent.bringUp(members);
    t.equal(fixture.job(id).state, "STAGING");
    await agent.report(server, { kind: "job-started", nvflareJob: "nv-1" });
    t.equal(fixture.job(id).state, "RUNNING");
    await agent.report(
      server,
      { kind: "round-started", round: 0, numRounds: 3 },
      { kind: "metric", site: "site-1", value: '{"accuracy":0.5}' },
      { kind: "round-ended", round: 0, sites: ["site-1", "site-2"], modelSha256: "a".repeat(64) },
    );
    t.same(fixture.job(id).rounds, { current: 0, total: 3, done: 1 });
    await agent.report(server, { kind: "finished" });
    t.equal(fixture.job(id).state, "FINALIZING");
    const { versionId } = await agent.upload(server, "model_out/checkpoint.pt", "the model");
    t.type(versionId, "string");
    await agent.upload(server, "files_out/training_log.txt", "the log");
    await agent.report(server, { kind: "outputs-uploaded", keys: ["model_out/checkpoint.pt"] });
    const done = await fixture.until(id, "SUCCEEDED");
    t.equal(done.error, null);
    for (const client of clients) {
      await agent.upload(
        client,
        `${client.member}-${client.fence.generation}.${client.fence.counter}/1`,
        "a client's log",
        "log",
      );
      await agent.report(
        client,
        { kind: "finished" },
        { kind: "outputs-uploaded", keys: [] },
        CLEAN,
      );
    }
    await agent.report(server, CLEAN);
    t.same(await agent.desired(), []);
    t.equal(
      fixture.core.kernel.workersStats().workers.filter(({ status }) => status === "free").length,
      2,
    );
    const stored = await fixture.s3.store.stat("bucket-a", "jobs/good/model_out/checkpoint.pt");
    t.equal(stored?.versionId, versionId);
  });

  await t.test("to FAILED, with the traceback of the user's exception", async (t) => {
    const { id } = await fixture.submit("bad");
    const members = await agent.desiredOf(id, 3);
    await agent.bringUp(members);
    const [server, first] = members as [(typeof members)[0], (typeof members)[0]];
    await agent.report(server, { kind: "job-started", nvflareJob: "nv-2" });
    await agent.report(first, {
      kind: "failed",
      reason: "user_exception",
      message: "ValueError: no",
      detail: 'File "model_def.py", line 3\nValueError: no',
    });
    t.equal(fixture.job(id).state, "STOPPING");
    t.ok(
      (await agent.desired()).every(
        ({ desired, stopReason }) => desired === "stop" && stopReason === "user_exception",
      ),
    );
    for (const member of members) await agent.report(member, CLEAN);
    const done = await fixture.until(id, "FAILED");
    t.match(done.error, {
      code: "user_exception",
      message: "ValueError: no",
      detail: /line 3/,
      member: "site-1",
    });
    t.same(await agent.desired(), []);
  });

  await t.test("to CANCELLED, from every state of a run", async (t) => {
    const queued = await fixture.submit("cancel-queued", {
      selection: { kind: "pinned", workerIds: ["nobody-1", "nobody-2"] },
    });
    t.match(
      (
        await eventually(
          () => (fixture.job(queued.id).waitingFor ? fixture.job(queued.id) : null),
          "why",
        )
      ).waitingFor,
      /pinned/,
    );
    await fixture.cancel(queued.id);
    t.equal(fixture.job(queued.id).state, "CANCELLED");

    const running = await fixture.submit("cancel-running");
    const members = await agent.desiredOf(running.id, 3);
    await agent.bringUp(members);
    await agent.report(members[0]!, { kind: "job-started", nvflareJob: "nv-3" });
    await fixture.cancel(running.id);
    t.equal(fixture.job(running.id).state, "STOPPING");
    for (const member of members) await agent.report(member, CLEAN);
    t.match((await fixture.until(running.id, "CANCELLED")).error, { code: "user_cancelled" });
  });

  await t.test("to FAILED output_missing when no model was written", async (t) => {
    const { id } = await fixture.submit("no-model");
    const members = await agent.desiredOf(id, 3);
    await agent.bringUp(members);
    await agent.report(
      members[0]!,
      { kind: "job-started", nvflareJob: "nv-4" },
      { kind: "finished" },
    );
    await agent.report(members[0]!, { kind: "outputs-uploaded", keys: [] });
    for (const member of members) await agent.report(member, CLEAN);
    t.match((await fixture.until(id, "FAILED")).error, { code: "output_missing" });
  });

  await t.test("through an infrastructure fault to a second attempt", async (t) => {
    const { id } = await fixture.submit("retried");
    const members = await agent.desiredOf(id, 3);
    await agent.report(members[1]!, {
      kind: "failed",
      reason: "container_failed",
      message: "runc: no",
    });
    t.equal(fixture.job(id).state, "RECOVERING");
    for (const member of members) await agent.report(member, CLEAN);
    const again = await agent.desiredOf(id, 3);
    t.equal(fixture.job(id).attempt, 2);
    t.not(again[0]!.attempt, members[0]!.attempt);
    await fixture.cancel(id);
    for (const member of again) await agent.report(member, CLEAN);
    await fixture.until(id, "CANCELLED");
  });

  await t.test("stale epochs, fences and repeats change nothing", async (t) => {
    const { id } = await fixture.submit("stale");
    const [server] = await agent.desiredOf(id, 3);
    const old = agent.epoch;
    await agent.register(2, [{ member: server!.member, fence: server!.fence }]);
    await t.rejects(agent.call("desired", { nodeEpoch: old }), { code: "stale_epoch" });
    const older = { ...server!, fence: { generation: 1, counter: 0 } };
    t.same(await agent.report(older, { kind: "ready" }), ["stale"]);
    await t.rejects(agent.stage(older), { code: "stale_fence" });
    await t.rejects(agent.openUpload(older, "model_out/checkpoint.pt", "x"), {
      code: "stale_fence",
    });
    t.same(await agent.report(server!, { kind: "progress", step: "image", done: 1 }), ["accepted"]);
    t.same(
      await agent.reportAt(server!, 1, {
        kind: "failed",
        reason: "user_exception",
        message: "replayed",
      }),
      {
        results: ["accepted"],
      },
    );
    await t.rejects(agent.reportAt(server!, 9, { kind: "ready" }), { code: "out_of_order" });
    t.equal(fixture.job(id).error, null);
    t.match(await agent.call("desired", { nodeEpoch: agent.epoch, ofANewerRelease: 1 }), {
      members: Array,
    });
    await t.rejects(agent.call("desired", { nodeEpoch: { generation: "1", counter: 1 } }), {
      code: "invalid_request",
    });
    await fixture.cancel(id);
    for (const member of await agent.desired()) await agent.report(member, CLEAN);
    await fixture.until(id, "CANCELLED");
  });

  await t.test(
    "of the log chunks that a member has stored the last one is remembered",
    async (t) => {
      const { id } = await fixture.submit("logged");
      const members = await agent.desiredOf(id, 3);
      const [server, client] = members as [(typeof members)[0], (typeof members)[0]];
      const chunk = (member: typeof server, seq: number) =>
        `${member.member}-${member.fence.generation}.${member.fence.counter}/${seq}`;
      await agent.upload(client, chunk(client, 1), "of another member", "log");
      for (const seq of [1, 2])
        await agent.upload(server, chunk(server, seq), `chunk ${seq}`, "log");
      const opened = await agent.openUpload(server, chunk(server, 3), "chunk 3", "log");
      const etag = await putPart(opened.urls[0]!, "chunk 3");
      const { versionId } = await agent.completeUpload(server, opened.upload, [etag]);
      t.same(
        await agent.completeUpload(server, opened.upload, [etag]),
        { versionId },
        "it may be asked for again",
      );
      const rows = fixture.core.read
        .prepare<[string], string>("SELECT key FROM uploads WHERE job_id = ? ORDER BY key")
        .pluck()
        .all(id);
      t.same(
        rows,
        [`logs/${id}/${server.member}-1.1/3`, `logs/${id}/${client.member}-1.1/1`].sort(),
      );
      t.equal(
        (await fixture.s3.store.list("bucket-a", `logs/${id}/`, 10)).length,
        4,
        "all of them are stored",
      );
      await fixture.cancel(id);
      for (const member of await agent.desired()) await agent.report(member, CLEAN);
      await fixture.until(id, "CANCELLED");
    },
  );

  await t.test(
    "keys are bound to role and fence; a bumped fence kills open uploads and their URLs",
    async (t) => {
      const { id } = await fixture.submit("fenced");
      const members = await agent.desiredOf(id, 3);
      const [server, client] = members as [(typeof members)[0], (typeof members)[0]];
      for (const key of [
        "../x/y",
        "other/x",
        "model_out",
        "model_out/../../x",
        "model_out/a b",
        "/model_out/x",
      ])
        await t.rejects(agent.openUpload(server, key, "x"), { code: "not_allowed" }, key);
      await t.rejects(agent.openUpload(client, "model_out/checkpoint.pt", "x"), {
        code: "not_allowed",
      });
      await t.rejects(agent.openUpload(client, `${server.member}-1.1/1`, "x", "log"), {
        code: "not_allowed",
      });

      const opened = await agent.openUpload(server, "model_out/checkpoint.pt", "late");
      t.equal((await fixture.s3.store.listUploads("bucket-a", "jobs/fenced/")).length, 1);
      // The agent comes back without the member that it had begun with, and begins anew under the same fence.
      await agent.report(server, { kind: "started", container: "c" });
      await agent.register(2, []);
      await agent.beat(members.map(({ member, fence }) => ({ member, fence })));
      await eventually(
        async () =>
          (await fixture.s3.store.listUploads("bucket-a", "jobs/fenced/")).length === 0
            ? true
            : null,
        "the upload is aborted",
      );
      await t.rejects(putPart(opened.urls[0]!, "late"), { code: "404" });
      await t.rejects(agent.completeUpload(server, opened.upload, ["0".repeat(32)]), {
        code: "stale_fence",
      });
      const fenced = (await agent.desired()).find(({ member }) => member === server.member)!;
      t.equal(fenced.desired, "stop");
      t.ok(fenced.fence.counter > server.fence.counter);
      await fixture.cancel(id);
      for (const member of await agent.desired()) await agent.report(member, CLEAN);
      await fixture.until(id, "CANCELLED");
    },
  );

  t.same(fixture.errors, []);
});
