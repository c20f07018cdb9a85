import t from "tap";
import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import { formatFence } from "@resontech/contracts/fence";
import { commitRound } from "./commit-round.ts";
import { CoreFixture, eventually } from "./core-fixture.ts";
import { CLEAN } from "./scripted-agent.ts";
import { RESUME_MODEL } from "@resontech/contracts/runner";
import { runnerSpecOf } from "./told-role.ts";

t.test(
  "an attempt that is lost is followed by one that goes on from the newest committed round",
  async (t) => {
    const fixture = await CoreFixture.start();
    t.teardown(() => fixture.close());
    const agent = await fixture.agent("node-a", 2);
    const { id } = await fixture.submit("resumed", { resumable: true, numRounds: 6 });
    const kept = () =>
      fixture.s3.store
        .list("bucket-a", `ckpt/${id}/`, 100)
        .then((found) => found.map(({ key }) => key));

    const run = async (members: DesiredMember[]) => {
      await agent.bringUp(members);
      await agent.report(members[0]!, { kind: "job-started", nvflareJob: "nv" });
      return members[0]!;
    };
    const lose = async (members: DesiredMember[]) => {
      await agent.report(members[0]!, {
        kind: "failed",
        reason: "federation_failed",
        message: "lost",
      });
      await eventually(
        async () =>
          (await agent.desired()).every(({ desired }) => desired === "stop") ? true : null,
        "stopped",
      );
      for (const member of members) await agent.report(member, CLEAN);
    };

    const first = await agent.desiredOf(id, 3);
    const server = await run(first);
    t.equal(server.payload.outputs.checkpoints, true);
    t.equal(runnerSpecOf(server).resume, null);

    await t.test("two rounds are kept, older ones are removed from the bucket", async (t) => {
      for (const round of [0, 1, 2]) t.same(await commitRound(agent, server, round), ["accepted"]);
      await eventually(
        async () => ((await kept()).length === 4 ? true : null),
        "the oldest is gone",
        5_000,
      );
      t.ok((await kept()).every((key) => /\/(1|2)\/(model|manifest\.json)$/.test(key)));
      t.ok(
        (await kept()).every((key) =>
          key.startsWith(`ckpt/${id}/${server.attempt}/${server.member}-1.1/`),
        ),
      );
    });

    await t.test("what is told without being stored commits nothing", async (t) => {
      const folder = `${server.member}-${formatFence(server.fence)}`;
      const stray = await agent.upload(server, `${folder}/9/model`, "x", "checkpoint");
      t.same(
        await agent.report(server, {
          kind: "checkpoint",
          round: 5,
          model: stray.upload,
          manifest: stray.upload,
        }),
        ["accepted"],
      );
      t.same(
        await agent.report(server, {
          kind: "checkpoint",
          round: 9,
          model: stray.upload,
          manifest: "up-none",
        }),
        ["accepted"],
      );
      t.equal(fixture.core.read.prepare("SELECT max(round) FROM checkpoints").pluck().get(), 2);
      const client = first[1]!;
      await t.rejects(agent.upload(client, `${client.member}-1.1/3/model`, "x", "checkpoint"), {
        code: "not_allowed",
      });
    });

    await lose(first);
    const second = await agent.desiredOf(id, 3);
    const again = await run(second);
    t.equal(fixture.job(id).attempt, 2);
    t.same(runnerSpecOf(again).resume, { startRound: 3, roundsLeft: 3, modelFile: RESUME_MODEL });
    const input = again.inputs.find(({ kind }) => kind === "checkpoint");
    t.match(input, {
      target: "resume/model.pt",
      sizeBytes: "model of round 2".length,
      sha256: /^[0-9a-f]{64}$/,
    });
    t.notOk(
      second[1]!.inputs.some(({ kind }) => kind === "checkpoint"),
      "for the server alone",
    );
    t.equal(runnerSpecOf(second[1]!).numRounds, 6, "people count the whole");

    await t.test(
      "the model is staged like any input, by the version that was committed",
      async (t) => {
        const { urls } = await agent.stage(again);
        const url = urls.find(({ id: input }) => input === "resume")?.url ?? "";
        t.match(url, new RegExp(`ckpt/${id}/.*/2/model\\?.*versionId=`));
      },
    );

    await t.test("an older attempt's fence commits nothing any more", async (t) => {
      await t.rejects(commitRound(agent, server, 4), { code: "stale_fence" });
      const known = fixture.core.read
        .prepare("SELECT model_upload FROM checkpoints")
        .pluck()
        .get() as string;
      await agent.report(server, { kind: "checkpoint", round: 4, model: known, manifest: known });
      t.equal(fixture.core.read.prepare("SELECT max(round) FROM checkpoints").pluck().get(), 2);
    });

    await t.test("lost once more after its last round, it runs that one again", async (t) => {
      for (const round of [3, 4, 5]) await commitRound(agent, again, round);
      await lose(second);
      const third = await agent.desiredOf(id, 3);
      t.same(runnerSpecOf(third[0]!).resume, {
        startRound: 5,
        roundsLeft: 1,
        modelFile: RESUME_MODEL,
      });
      await commitRound(agent, await run(third), 5);
      const rounds = fixture.core.read
        .prepare("SELECT attempt_id, round FROM checkpoints ORDER BY round")
        .all();
      t.same(rounds, [
        { attempt_id: again.attempt, round: 4 },
        { attempt_id: third[0]!.attempt, round: 5 },
      ]);
      await lose(third);
    });

    await t.test("however often it is lost there, the round before is kept", async (t) => {
      const fourth = await agent.desiredOf(id, 3);
      t.same(runnerSpecOf(fourth[0]!).resume, {
        startRound: 5,
        roundsLeft: 1,
        modelFile: RESUME_MODEL,
      });
      const input = fourth[0]!.inputs.find(({ kind }) => kind === "checkpoint");
      t.match(input, { sizeBytes: "model of round 4".length });
      t.ok(
        (await kept()).some(
          (key) => key.includes(`/${again.attempt}/`) && key.endsWith("/4/model"),
        ),
        "its object is there",
      );
      const last = await run(fourth);
      await agent.report(last, { kind: "finished" });
      await agent.upload(last, "model_out/checkpoint.pt", "the model");
      await agent.report(last, { kind: "outputs-uploaded", keys: [] });
      await fixture.until(id, "SUCCEEDED");
      for (const member of fourth) await agent.report(member, CLEAN);
    });

    await t.test("of a job that has ended nothing is kept", async (t) => {
      await eventually(async () => ((await kept()).length === 0 ? true : null), "removed");
      t.equal(fixture.core.read.prepare("SELECT count(*) FROM checkpoints").pluck().get(), 0);
    });
    t.same(fixture.errors, []);
  },
);
