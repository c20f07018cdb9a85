import { FeedMessage } from "@resontech/contracts/live-feed";
import fc from "fast-check";
import t from "tap";
import { Compile } from "typebox/compile";
import type { Reach } from "../../src/feed/told.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";
import { SimAgent } from "../kernel/sim-agent.ts";
import { heard, JOURNAL, type Journaled, journalIn } from "./heard.ts";

const ALL: Reach = { rows: "all", shows: "everything" };
const message = Compile(FeedMessage);

/** One piece of work: what it does to which jobs, and whether it throws when all is written. */
type Work = {
  steps: { kind: "submit" | "hold" | "unhold" | "stop" | "warn" | "round"; job: number }[];
  fails: boolean;
};
/** Queued together, so that they share a commit; it may fail as a whole. */
type Turn = { works: Work[]; fails: boolean };

const work: fc.Arbitrary<Work> = fc.record({
  steps: fc.array(
    fc.record({
      kind: fc.constantFrom(
        "submit" as const,
        "hold" as const,
        "unhold" as const,
        "stop" as const,
        "warn" as const,
        "round" as const,
      ),
      job: fc.nat(7),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  fails: fc.boolean(),
});
const turn: fc.Arbitrary<Turn> = fc.record({
  works: fc.array(work, { minLength: 1, maxLength: 6 }),
  fails: fc.integer({ min: 0, max: 4 }).map((one) => one === 0),
});

t.test(
  "whatever commits or is rolled back, the feed is the journal: its order, nothing missing, nothing twice",
  async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 8 }), async (turns) => {
        using world = new KernelWorld();
        const { commit, db, feed, submissions, tables, transitions } = world.parts;
        db.exec(
          "CREATE TABLE child (a TEXT REFERENCES jobs (id) DEFERRABLE INITIALLY DEFERRED) STRICT",
        );
        const start = feed.position;
        let submitted = 0;
        const jobAt = (at: number) =>
          world.all<{ id: string }>("SELECT id FROM jobs ORDER BY sequence")[at]?.id ?? "nobody";
        const perform = ({ kind, job: at }: Work["steps"][number]) => {
          const job = jobAt(at);
          if (kind === "submit") submissions.insert(world.task(`s${submitted++}`));
          else if (kind === "warn") tables.warnings.note(job, { site: "s", topic: "t", text: "x" });
          else if (kind === "round")
            tables.changes.note({ kind: "checkpoint", job, attempt: "a", round: 1 });
          else transitions.moveJob(job, kind, kind === "stop" ? { reason: "user_cancelled" } : {});
        };
        for (const { works, fails } of turns) {
          const running = works.map((each) =>
            commit.run(() => {
              for (const step of each.steps)
                if (step.kind !== "warn" || jobAt(step.job) !== "nobody") perform(step);
              if (each.fails) throw new Error("no");
            }),
          );
          if (fails)
            running.push(
              commit
                .run(() => db.prepare("INSERT INTO child VALUES ('nowhere')").run())
                .then(() => undefined),
            );
          const told = feed.position.sequence;
          const results = await Promise.allSettled(running);
          if (fails) t.equal(feed.position.sequence, told, "a commit that fails tells nothing");
          if (fails) t.ok(results.every(({ status }) => status === "rejected"));
        }
        const messages = await heard(feed, start);
        t.same(journalIn(messages), world.all<Journaled>(JOURNAL, 0));
        t.ok(
          messages.every(({ sequence }, at) => at === 0 || sequence > messages[at - 1]!.sequence),
        );
        const warned = messages.filter(
          (each) => each.kind === "change" && each.change.kind === "warning",
        );
        t.equal(
          warned.length,
          world.one<number | null>("SELECT sum(times) FROM job_warnings") ?? 0,
        );
      }),
      { numRuns: 60 },
    );
  },
);

t.test(
  "who is answered finds the changes told, and they are in the file that others read",
  async (t) => {
    using world = new KernelWorld();
    const { feed, kernel } = world.parts;
    const start = feed.position;
    const { id } = await kernel.submit(world.task("first"));
    t.same(
      journalIn(await heard(feed, start)).map(({ job, to }) => ({ job, to })),
      [
        { job: id, to: "ACCEPTED" },
        { job: id, to: "QUEUED" },
      ],
    );
  },
);

t.test(
  "a whole run is told by the schema: jobs, members, rounds, nodes, and why a job waits",
  async (t) => {
    using world = new KernelWorld();
    const { feed, kernel, scheduler, nodes, commit } = world.parts;
    const start = feed.position;
    const nodesReader = feed.subscribe({ kind: "nodes" }, { reach: ALL, since: start });
    const { id } = await kernel.submit(world.task("run", { minClients: 1 }));
    await scheduler.cycle();
    const agent = new SimAgent(world, "node-a", 2);
    world.admit("node-a");
    await agent.register();
    await agent.beat();
    await agent.beat();
    await commit.run(() => nodes.setCordon("node-a", "drained by the operator"));
    await commit.run(() => nodes.setCordon("node-a", null));
    await scheduler.cycle();
    await agent.fetch();
    const state = () => world.one<string>("SELECT state FROM jobs WHERE id = ?", id);
    for (let step = 0; step < 60 && state() !== "SUCCEEDED"; step++) {
      agent.advance(step, null);
      await agent.send();
    }
    t.equal(state(), "SUCCEEDED");
    const messages = await heard(feed, start);
    const bad = messages.filter((each) => !message.Check(each));
    t.same(bad, []);
    t.same(journalIn(messages), world.all<Journaled>(JOURNAL, 0));
    const kinds = new Set(
      messages.map((each) => (each.kind === "change" ? each.change.kind : each.kind)),
    );
    const all = ["job", "member", "member-added", "progress", "round", "waiting", "warning"];
    t.same(kinds, new Set(all));
    const warned = messages.flatMap((each) =>
      each.kind === "change" && each.change.kind === "warning" ? [each.change.text] : [],
    );
    t.match(warned, [/never start: no node has joined yet/, null], "until it was placed");
    t.match(
      messages.find((each) => each.kind === "change" && each.change.kind === "waiting"),
      { change: { why: String } },
    );
    const told: FeedMessage[] = [];
    for await (const each of nodesReader) {
      told.push(each);
      if (told.length === 6) break;
    }
    t.match(
      told.map((each) => each.kind === "change" && each.change),
      [
        { kind: "node-joined", state: "JOINED" },
        { kind: "node-registered", workers: 2 },
        { kind: "node", from: "JOINED", to: "READY" },
        { kind: "node-beat", hasDisk: true },
        { kind: "node-cordon", reason: "drained by the operator" },
        { kind: "node-cordon", reason: null },
      ],
    );
    t.same(
      told.filter((each) => !message.Check(each)),
      [],
    );
  },
);

t.test(
  "what ends badly is told: a worker in quarantine, a node that falls silent, an explained stop, removed outputs",
  async (t) => {
    using world = new KernelWorld();
    const { feed, kernel, scheduler, commit, liveness, outputs, tables } = world.parts;
    const agent = new SimAgent(world, "node-a", 2);
    world.admit("node-a");
    await agent.register();
    const { id } = await kernel.submit(world.task("bad", { minClients: 1 }));
    await scheduler.cycle();
    await agent.fetch();
    await agent.beat();
    const start = feed.position;
    const client = [...agent.held.values()].find(
      ({ desired }) => desired.resources.workers.length === 1,
    )!.desired;
    agent.say(client.member, { kind: "failed", reason: "agent_fault", message: "no" });
    agent.say(client.member, {
      kind: "released",
      processesGone: true,
      diskGone: true,
      devicesAtBaseline: false,
    });
    await agent.send();
    const gate = {
      op: crypto.randomUUID(),
      index: 1,
      leafHash: "0".repeat(64),
      unwitnessed: false,
    };
    await kernel.requestStop(id, "operator_cancelled", gate);
    await kernel.explainStop(id, "the node is needed");
    await kernel.explainStop("nobody", "not told");
    outputs.insert({
      ...{
        id: "up-1",
        job_id: id,
        member_id: client.member,
        generation: 1,
        counter: 1,
        bucket: "bucket-a",
        key: "jobs/bad/a",
      },
      ...{
        s3_upload_id: "s",
        is_log: 0,
        size_bytes: 1,
        sha256: "0".repeat(64),
        part_size_bytes: 1,
        part_count: 1,
      },
      ...{
        state: "COMPLETED",
        etags: "[]",
        version_id: "v",
        etag: "e",
        opened_at: 1,
        closed_at: 1,
      },
    });
    outputs.keep({ job_id: id, key: "jobs/bad/a", id: "up-1" });
    await kernel.forgetOutputs(id);
    await kernel.forgetOutputs(id);
    world.nowMs += 15_000;
    await liveness.tick();
    await commit.run(() => tables.warnings.forget(id, "nobody", "nothing"));

    const messages = await heard(feed, start);
    const told = messages.flatMap((each) => (each.kind === "change" ? [each.change] : []));
    t.match(
      told.filter(
        ({ kind }) => kind === "explained" || kind === "outputs-removed" || kind === "warning",
      ),
      [
        { kind: "explained", job: id, message: "the node is needed" },
        { kind: "outputs-removed", job: id, count: 1 },
      ],
    );
    const nodesReader = feed.subscribe({ kind: "nodes" }, { reach: ALL, since: start });
    const ofNodes = [
      (await nodesReader.next()).value,
      (await nodesReader.next()).value,
    ] as FeedMessage[];
    t.match(ofNodes, [
      {
        change: {
          kind: "worker-quarantined",
          node: "node-a",
          worker: client.resources.workers[0],
          reason: "devices_not_free",
        },
      },
      { change: { kind: "node", node: "node-a", from: "READY", to: "SUSPECT" } },
    ]);
    t.same(
      [...messages, ...ofNodes].filter((each) => !message.Check(each)),
      [],
    );
  },
);
