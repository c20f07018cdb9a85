/** On the real core: who borrowed gives back to whoever is guaranteed the workers, and goes on from the round that it committed. */
import t from "tap";
import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import { commitRound } from "./commit-round.ts";
import { CoreFixture, eventually } from "./core-fixture.ts";
import { CLEAN } from "./scripted-agent.ts";
import { runnerSpecOf } from "./told-role.ts";

t.test(
  "a training that makes way ends its round first, and goes on with the next once workers are free",
  async (t) => {
    const fixture = await CoreFixture.start();
    t.teardown(() => fixture.close());
    const { core } = fixture;
    await core.commit.run((db) => {
      db.exec(
        "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'q', 0, 1)",
      );
      core.shares.set("project-b", { guarantee: { cpu: 2 } });
    });
    const agent = await fixture.agent("node-a", 2);
    const run = async (members: DesiredMember[]) => {
      await agent.bringUp(members);
      await agent.report(members[0]!, { kind: "job-started", nvflareJob: "nv" });
      return members[0]!;
    };
    const letGo = async (members: DesiredMember[]) => {
      await eventually(
        async () =>
          (await agent.desired())
            .filter(({ job }) => job === members[0]!.job)
            .every(({ desired }) => desired === "stop")
            ? true
            : null,
        "its members are to stop",
      );
      for (const member of members) await agent.report(member, CLEAN);
    };
    const training = await fixture.submit("borrows", { resumable: true, numRounds: 6 });
    const first = await agent.desiredOf(training.id, 3);
    const server = await run(first);
    for (const round of [0, 1]) t.same(await commitRound(agent, server, round), ["accepted"]);

    const entitled = await fixture.submit("entitled", { projectId: "project-b" });
    const [order, ...sites] = await eventually(async () => {
      const members = (await agent.desired()).filter(({ job }) => job === training.id);
      return members.some(({ stopAfter }) => stopAfter === "commit") ? members : null;
    }, "its server is to commit");
    t.match(order, { member: server.member, desired: "stop", stopReason: "preempted" });
    t.ok(order!.graceMs <= 120_000 && order!.graceMs > 60_000, `${order!.graceMs} ms are left`);
    t.same(
      sites.map(({ desired }) => desired),
      ["run", "run"],
      "the round needs them",
    );
    t.match(fixture.job(training.id), { state: "PREEMPTING", madeWay: { afterRound: 1 } });
    t.same(await commitRound(agent, server, 2), ["accepted"]);
    await agent.report(server, { kind: "outputs-uploaded", keys: [] });
    await letGo(first);
    t.match(fixture.job(training.id), {
      ...{ state: "QUEUED", error: null },
      madeWay: { by: { projectId: "project-b" }, afterRound: 2 },
    });
    const others = await agent.desiredOf(entitled.id, 3);
    await run(others);
    t.match(fixture.job(entitled.id), { state: "RUNNING" });
    t.match(core.read.prepare("SELECT job_id, victim_job, reason FROM preemptions").all(), [
      { job_id: entitled.id, victim_job: training.id, reason: "guarantee" },
    ]);

    await fixture.cancel(entitled.id);
    await letGo(others);
    const again = await eventually(async () => {
      const members = (await agent.desired()).filter(({ job }) => job === training.id);
      return members.length === 3 && members[0]!.attempt !== server.attempt ? members : null;
    }, "the training is placed again");
    t.match(runnerSpecOf(await run(again)).resume, { startRound: 3, roundsLeft: 3 });
    const { attempt, state, madeWay } = fixture.job(training.id);
    t.match({ attempt, state, madeWay }, { attempt: 2, state: "RUNNING", madeWay: null });
    t.same(
      core.read
        .prepare("SELECT retries_infrastructure + retries_lease_lost FROM jobs WHERE id = ?")
        .pluck()
        .get(training.id),
      0,
      "no retry is spent",
    );
    t.same(fixture.errors, []);
  },
);
