import { setTimeout as sleep } from "node:timers/promises";
import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import { formatFence } from "@resontech/contracts/fence";
import t from "tap";
import { CoreFixture, eventually } from "./core-fixture.ts";
import { KilledCore } from "./killed-core.ts";
import { CLEAN, putPart, type ScriptedAgent } from "./scripted-agent.ts";

/** Does what it is asked, and its core is killed at a moment that nobody chose; it asks again until there is an answer, as an agent does. */
class Kills {
  readonly #core: KilledCore;
  count = 0;

  constructor(core: KilledCore) {
    this.#core = core;
  }

  async through<T>(ask: () => Promise<T>): Promise<T> {
    const killed = sleep(Math.random() * 6)
      .then(() => this.#core.kill())
      .then(() => this.#core.start());
    this.count += 1;
    const asked = ask().catch(() => null);
    await killed;
    // What the killed process took with it is never answered; nobody waits for that.
    const early = await Promise.race([asked, sleep(200, null)]);
    return early ?? (await ask());
  }
}

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
    const kills = new Kills(core);
    const through = <T>(ask: () => Promise<T>) => kills.through(ask);

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
    t.ok(kills.count >= 10, `${kills.count} kills`);
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

/** What a node is told of a job's members, once that holds. */
async function toldOf(
  agent: ScriptedAgent,
  job: string,
  holds: (members: DesiredMember[]) => boolean,
): Promise<DesiredMember[]> {
  return await eventually(async () => {
    const members = (await agent.desired()).filter((member) => member.job === job);
    return holds(members) ? members : null;
  }, `what is told of ${job}`);
}

t.test(
  "kill -9 of the coordinator at each step of a preemption, and the round is committed, and whoever asked has the workers",
  async (t) => {
    const fixture = await CoreFixture.start();
    t.teardown(() => fixture.close());
    const agent = await fixture.agent("node-a", 2);
    await fixture.core.commit.run((db) => {
      db.exec(
        "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'q', 0, 1)",
      );
      fixture.core.shares.set("project-b", { guarantee: { cpu: 2 } });
    });
    const training = await fixture.submit("training", { resumable: true, numRounds: 6 });
    const members = await agent.desiredOf(training.id, 3);
    await agent.bringUp(members);
    const [server, ...sites] = members as [DesiredMember, ...DesiredMember[]];
    await agent.report(server, { kind: "job-started", nvflareJob: "nv" });
    const entitled = await fixture.submit("entitled", { projectId: "project-b" });
    await fixture.core[Symbol.asyncDispose]();

    const core = new KilledCore({ config: fixture.config, admin: fixture.s3.admin });
    t.teardown(() => core.kill());
    await core.start();
    const kills = new Kills(core);
    const through = <T>(ask: () => Promise<T>) => kills.through(ask);
    const [order] = await through(() =>
      toldOf(agent, training.id, ([first]) => first?.stopAfter === "commit"),
    );
    t.match(order, { member: server.member, stopReason: "preempted" });

    const store = async (key: string, content: string): Promise<string> => {
      const path = `${server.member}-${formatFence(server.fence)}/3/${key}`;
      const opened = await through(() => agent.openUpload(server, path, content, "checkpoint"));
      const etag = await putPart(opened.urls[0]!, content);
      await through(() => agent.completeUpload(server, opened.upload, [etag]));
      return opened.upload;
    };
    const [model, manifest] = [await store("model", "round 3"), await store("manifest.json", "{}")];
    const checkpoint = { kind: "checkpoint", round: 3, model, manifest } as const;
    await through(() => agent.reportAt(server, 6, checkpoint));
    await through(() => agent.reportAt(server, 7, { kind: "outputs-uploaded", keys: [] }));
    const isOver = (left: DesiredMember[]) => left.every(({ desired }) => desired === "stop");
    await through(() => toldOf(agent, training.id, isOver));
    await through(() => agent.reportAt(server, 8, CLEAN));
    for (const site of sites) await through(() => agent.reportAt(site, 5, CLEAN));
    await through(() => agent.desiredOf(entitled.id, 3));
    t.equal(await core.state(training.id), "QUEUED");
    t.ok(kills.count >= 10, `${kills.count} kills`);
    t.same(core.errors, []);

    await core.kill();
    await fixture.open();
    t.match(fixture.job(training.id), { attempt: 1, madeWay: { afterRound: 3 } });
    t.same(fixture.core.read.prepare("SELECT job_id, victim_job FROM preemptions").all(), [
      { job_id: entitled.id, victim_job: training.id },
    ]);
    t.same(fixture.errors, []);
  },
);
