import {
  type Change,
  FeedMessage,
  type FeedPosition,
  type FeedTopic,
  type LogChange,
} from "@resontech/contracts/live-feed";
import t from "tap";
import { Compile } from "typebox/compile";
import type { Reach } from "../../src/feed/told.ts";
import { CoreFixture } from "../kernel/core-fixture.ts";
import { CLEAN } from "../kernel/scripted-agent.ts";

const ALL: Reach = { rows: "all", shows: "everything" };
const schema = Compile(FeedMessage);

const fixture = await CoreFixture.start();
t.teardown(() => fixture.close());

const follow = (topic: FeedTopic, since?: FeedPosition) =>
  fixture.core.feed.subscribe(topic, { reach: ALL, since });

/** A reader that remembers where it is, as one behind a WebSocket does. */
class Reader {
  readonly topic: FeedTopic;
  position: FeedPosition | undefined;
  readonly changes: Change[] = [];
  readonly sequences: number[] = [];
  resets = 0;

  constructor(topic: FeedTopic) {
    this.topic = topic;
  }

  /** Listens from where it was until a change is what it waits for, then leaves. */
  async until(isIt: (change: Change) => boolean): Promise<void> {
    for await (const message of follow(this.topic, this.position)) {
      if (!schema.Check(message)) throw new Error(`no message: ${JSON.stringify(message)}`);
      if (message.kind === "reset") {
        this.resets += 1;
        this.position = { epoch: message.epoch, sequence: message.sequence };
        continue;
      }
      this.position = { ...this.position!, sequence: message.sequence };
      this.sequences.push(message.sequence);
      this.changes.push(message.change);
      if (isIt(message.change)) return;
    }
  }

  get states(): string[] {
    return this.changes.flatMap((change) => (change.kind === "job" ? [change.to] : []));
  }
}

const isAt = (state: string) => (change: Change) => change.kind === "job" && change.to === state;
const journalOf = (job: string) =>
  fixture.core.read
    .prepare<[string], number>("SELECT seq FROM job_events WHERE job_id = ? ORDER BY seq")
    .pluck()
    .all(job);

const project = new Reader({ kind: "project", project: "project-a" });
const nodes = new Reader({ kind: "nodes" });
// Each begins with a reset; what happens from here on reaches it.
for (const reader of [project, nodes]) {
  const first = await follow(reader.topic).next();
  reader.position = { epoch: first.value.epoch, sequence: first.value.sequence };
}
const agent = await fixture.agent("node-a", 2);

t.test("a node is followed from its joining, and is drained", async (t) => {
  await agent.beat([]);
  await fixture.core.commit.run(() => fixture.core.cordon("node-a", "drained by the operator"));
  await fixture.core.commit.run(() => fixture.core.cordon("node-a", null));
  await nodes.until((change) => change.kind === "node-cordon" && change.reason === null);
  t.same(
    nodes.changes.map(({ kind }) => kind),
    ["node-joined", "node-registered", "node", "node-beat", "node-cordon", "node-cordon"],
  );
});

t.test("a job is followed from QUEUED to SUCCEEDED through the feed alone", async (t) => {
  const { id } = await fixture.submit("followed");
  await project.until(isAt("QUEUED"));
  t.match(project.changes, [
    { job: id, to: "ACCEPTED" },
    { job: id, from: "ACCEPTED", to: "QUEUED" },
  ]);
  const reader = new Reader({ kind: "job", job: id });
  reader.position = project.position;
  const slow = follow({ kind: "job", job: id }, project.position);
  const log = follow({ kind: "log", job: id }, project.position);

  const members = await agent.desiredOf(id, 3);
  const [server, client] = members as [(typeof members)[0], (typeof members)[0]];
  await reader.until(isAt("PROVISIONING"));
  await agent.bringUp(members);
  await agent.report(server, { kind: "job-started", nvflareJob: "nv-1" });
  await reader.until(isAt("RUNNING"));
  t.same(
    reader.changes.flatMap((change) =>
      change.kind === "member-added" ? [{ member: change.member, node: change.node }] : [],
    ),
    members.map(({ member }) => ({ member, node: "node-a" })),
  );
  for (const change of reader.changes)
    if (change.kind === "member-added")
      t.same(change.workers, change.worker === null ? [] : [change.worker], "all that it holds");

  // Nobody listens meanwhile.
  await agent.report(server, { kind: "round-started", round: 0, numRounds: 3 });
  await agent.report(server, { kind: "metric", site: "site-1", value: '{"accuracy":0.5}' });
  await agent.report(client, {
    kind: "warning",
    site: "site-1",
    topic: "slow",
    text: "it is slow",
  });
  await agent.report(server, { kind: "round-ended", round: 0, sites: ["site-1", "site-2"] });
  const checkpoint = `${server.member}-1.1/0`;
  const model = await agent.upload(server, `${checkpoint}/model`, "round 0", "checkpoint");
  const manifest = await agent.upload(server, `${checkpoint}/manifest.json`, "{}", "checkpoint");
  await agent.report(server, {
    kind: "checkpoint",
    round: 0,
    model: model.upload,
    manifest: manifest.upload,
  });
  const before = reader.changes.length;
  await reader.until((change) => change.kind === "checkpoint");
  t.equal(reader.resets, 0, "it goes on where it was");
  t.match(
    reader.changes.slice(before).filter(({ kind }) => kind !== "member"),
    [
      { kind: "round", round: 0, total: 3, phase: "started" },
      { kind: "metric", site: "site-1", value: '{"accuracy":0.5}' },
      { kind: "warning", site: "site-1", topic: "slow", text: "it is slow", times: 1 },
      { kind: "round", round: 0, phase: "ended" },
      { kind: "checkpoint", round: 0 },
    ],
  );

  await t.test("with what its members print", async (t) => {
    const hostile = '\u001b[31mred</pre><script>\u0000"\n';
    await agent.tail({ job: id, member: client.member, offset: 0, bytes: 10, text: "epoch one\n" });
    await agent.tail({ job: id, member: client.member, offset: 10, bytes: 500, text: null });
    await agent.tail({
      job: id,
      member: client.member,
      offset: 510,
      bytes: hostile.length,
      text: hostile,
    });
    const told: LogChange[] = [];
    for (let n = 0; n < 3; n++) {
      const { value } = await log.next();
      if (value.kind === "change" && value.change.kind === "log") told.push(value.change);
    }
    t.match(told, [
      { member: client.member, offset: 0, bytes: 10, text: "epoch one\n" },
      { member: client.member, offset: 10, bytes: 500, text: null },
      { member: client.member, offset: 510, text: hostile },
    ]);
  });

  await t.test(
    "a slow reader is told how much it missed, and reads the rows instead",
    async (t) => {
      const value = `"${"x".repeat(4_000)}"`;
      for (let n = 0; n < 2; n++)
        await agent.report(
          server,
          ...Array.from(
            { length: 100 },
            () => ({ kind: "metric", site: "site-1", value }) as const,
          ),
        );
      const { value: reset } = await slow.next();
      const told = fixture.core.feed.position.sequence;
      t.match(reset, { kind: "reset", epoch: project.position!.epoch, sequence: told });
      t.ok(
        reset.missed > 200 && reset.missed <= told - project.position!.sequence,
        `${reset.missed} missed`,
      );
      t.equal(fixture.job(id).state, "RUNNING");
      const next = slow.next();
      await agent.report(server, { kind: "round-started", round: 1, numRounds: 3 });
      t.match((await next).value, { sequence: told + 1, change: { kind: "round", round: 1 } });
      slow[Symbol.dispose]();
    },
  );

  const ending = reader.until(isAt("SUCCEEDED"));
  await agent.report(server, { kind: "finished" });
  await agent.upload(server, "model_out/checkpoint.pt", "the model");
  await agent.report(server, { kind: "outputs-uploaded", keys: ["model_out/checkpoint.pt"] });
  await ending;
  t.same(reader.states, [
    "RESERVED",
    "PROVISIONING",
    "STAGING",
    "RUNNING",
    "FINALIZING",
    "SUCCEEDED",
  ]);
  t.match(
    reader.changes.find(({ kind }) => kind === "output"),
    { key: "model_out/checkpoint.pt", sizeBytes: 9 },
  );
  for (const member of members.slice(1))
    await agent.report(member, { kind: "finished" }, { kind: "outputs-uploaded", keys: [] });
  for (const member of members) await agent.report(member, CLEAN);
  const last = members.at(-1)!.member;
  await reader.until(
    (change) => change.kind === "member" && change.member === last && change.to === "RELEASED",
  );
  t.same(
    reader.sequences,
    [...new Set(reader.sequences)].sort((a, b) => a - b),
    "each once, in order",
  );
  const heard = [...project.changes, ...reader.changes];
  t.same(
    heard.flatMap((change) =>
      change.kind === "job" || change.kind === "member" ? [change.journal] : [],
    ),
    journalOf(id),
  );

  await t.test(
    "a node tails members that it holds and that may still write, and nobody else's job",
    async (t) => {
      const other = await fixture.agent("node-b", 2);
      const next = await fixture.submit("other");
      const held = await agent.desiredOf(next.id, 3).catch(() => null);
      t.not(held, null, "it lies on node-a");
      const [mine] = held!;
      const heardOf = async (job: string) => {
        const position = fixture.core.feed.position;
        return { job, reader: follow({ kind: "log", job }, position) };
      };
      const both = [await heardOf(id), await heardOf(next.id)];
      const text = "forged";
      await other.tail({ job: next.id, member: mine!.member, offset: 0, bytes: 6, text });
      await agent.tail({ job: id, member: mine!.member, offset: 0, bytes: 6, text });
      await agent.tail({ job: next.id, member: "nobody", offset: 0, bytes: 6, text });
      await agent.tail({ job: "nobody", member: mine!.member, offset: 0, bytes: 6, text });
      await agent.tail({ job: id, member: client.member, offset: 600, bytes: 6, text });
      await t.rejects(
        agent.tail({
          job: next.id,
          member: mine!.member,
          offset: 0,
          bytes: 1,
          text: "x".repeat(65_537),
        }),
        {
          code: "invalid_request",
        },
      );
      await t.rejects(
        agent.tail({ job: next.id, member: mine!.member, offset: -1, bytes: 1, text: "x" }),
        {
          code: "invalid_request",
        },
      );
      await agent.tail({ job: next.id, member: mine!.member, offset: 0, bytes: 4, text: "real" });
      t.match((await both[1]!.reader.next()).value, {
        change: { job: next.id, member: mine!.member, text: "real" },
      });
      const silent = both[0]!.reader.next();
      both[0]!.reader[Symbol.dispose]();
      t.match(await silent, { done: true }, "nothing was told of the other job");
      await fixture.cancel(next.id);
      for (const member of await agent.desired()) await agent.report(member, CLEAN);
      await fixture.until(next.id, "CANCELLED");
    },
  );

  await t.test("after a restart each reader begins anew", async (t) => {
    const waits = follow({ kind: "jobs" }, fixture.core.feed.position).next();
    await fixture.restart();
    t.match(await waits, { done: true });
    const { value } = await follow({ kind: "job", job: id }, reader.position).next();
    t.match(value, { kind: "reset", missed: null });
    t.not(value.epoch, reader.position!.epoch);
  });
});
