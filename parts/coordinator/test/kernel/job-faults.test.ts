/** What people are told of a job whose parts fail: warnings by site, whose failure it was, a stated time, a silence. */
import type { MemberEvent } from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import type { AcceptedTask } from "../../src/kernel/accepted-task.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

/** A job that runs on one node, two clients wide. */
async function running(t: Test, change: Partial<AcceptedTask> = {}) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const agent = new SimAgent(world, "node-a", 2);
  world.admit(agent.node);
  await agent.register();
  const { id } = await world.parts.kernel.submit(world.task("faulty", change));
  await world.parts.scheduler.cycle();
  await agent.fetch();
  const job = () => world.parts.kernel.job(id)!;
  const run = async () => {
    for (let step = 0; step < 30 && job().state !== "RUNNING"; step++) {
      agent.advance(step, null);
      await agent.send();
    }
  };
  await run();
  t.equal(job().state, "RUNNING");
  const say = async (role: string, event: MemberEvent) => {
    agent.say(`${id}-a${job().attempt}-${role}`, event);
    await agent.send();
  };
  const again = async () => {
    await agent.fetch();
    await agent.send();
    await world.parts.scheduler.cycle();
    await agent.fetch();
    await run();
  };
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 5) {
      world.nowMs += 5_000;
      await agent.beat();
      await world.parts.sweeper.sweep();
      await world.parts.hangWatch.look();
    }
  };
  return { world, job, say, pass, again };
}

const left = (code: number): MemberEvent => ({
  kind: "failed",
  reason: "payload_exited",
  message: `site-2: its training process ended early with exit code ${code}`,
  detail: "its last words",
});

t.test("a site that leaves while the quorum holds is a warning by name", async (t) => {
  const { job, say } = await running(t, { minClients: 1 });
  await say("site-2", left(0));
  t.equal(job().state, "RUNNING");
  t.strictSame(job().warnings, [
    "site-2: it left the job: its training process ended early with exit code 0",
  ]);
});

t.test(
  "one that the quorum can't spare ends the job, which names site, code and last words, and is not tried again",
  async (t) => {
    const { job, say, pass } = await running(t);
    await say("site-2", left(3));
    await pass(70);
    t.match(job(), {
      state: "FAILED",
      attempt: 1,
      error: {
        code: "payload_exited",
        member: "site-2",
        message: "site-2: its training process ended early with exit code 3",
        detail: "its last words",
      },
    });
  },
);

t.test(
  "what the server tells of a site is that site's failure, and of no stranger's",
  async (t) => {
    for (const [site, member] of [
      ["site-2", "site-2"],
      ["site-9", "server"],
    ] as const) {
      const { job, say, pass } = await running(t);
      await say("server", { kind: "failed", reason: "user_exception", message: "no", site });
      await pass(70);
      t.match(job(), { state: "FAILED", error: { member } });
    }
  },
);

t.test(
  "warnings are kept once by site and topic, with how often and in which rounds",
  async (t) => {
    const { job, say } = await running(t);
    const warning = {
      kind: "warning",
      topic: "update-rejected",
      text: "its update was rejected",
    } as const;
    for (const round of [0, 1, 4]) await say("server", { ...warning, site: "site-2", round });
    await say("server", { ...warning, site: "site-1", round: 2 });
    await say("site-1", { ...warning, site: "site-2", topic: "forged" });
    t.strictSame(job().warnings, [
      "site-1: its update was rejected (round 2)",
      "site-2: its update was rejected (3 times, rounds 0 to 4)",
    ]);
  },
);

t.test(
  "a job ends when the time that it stated is over, counted from its first start",
  async (t) => {
    const { world, job, pass } = await running(t, { timeLimitMs: 120_000 });
    await pass(115);
    t.equal(job().state, "RUNNING");
    await pass(10);
    t.equal(job().state, "STOPPING");
    await pass(70);
    t.match(job(), { state: "EXPIRED", error: { code: "expired" } });
    t.equal(world.one("SELECT expires_at - started_at FROM jobs"), 120_000);
  },
);

t.test(
  "a silent job is reported as hanging, once for each hour, and no longer once it is heard",
  async (t) => {
    const { job, say, pass } = await running(t);
    await pass(3_590);
    t.strictSame(job().warnings, []);
    await pass(60);
    t.match(job().warnings, [
      /^server: the job may hang: no step, round, log or metric for 60 minutes$/,
    ]);
    await pass(3_600);
    t.match(job().warnings, [/for 120 minutes \(2 times\)$/]);
    await say("server", { kind: "metric", site: "site-1", value: "{}" });
    await pass(35);
    t.strictSame(job().warnings, []);
    t.equal(job().state, "RUNNING");
  },
);

t.test(
  "a server that ends out of memory starts once more with twice as much, then the job names the number",
  async (t) => {
    const { world, job, say, pass, again } = await running(t);
    const bytes = () =>
      world
        .all<{ resources: string }>(
          "SELECT resources FROM members WHERE role = 'server' ORDER BY created_at",
        )
        .map(({ resources }) => (JSON.parse(resources) as { memoryBytes: number }).memoryBytes);
    const outOfMemory = {
      kind: "failed",
      reason: "out_of_memory",
      message: "a process was killed",
    } as const;
    await say("server", outOfMemory);
    await again();
    const [first, second] = bytes();
    t.equal(second, first! * 2);
    await say("server", outOfMemory);
    await pass(130);
    t.match(job(), {
      state: "FAILED",
      attempt: 2,
      error: { code: "out_of_memory", member: "server", message: /estimatedMemoryMb: \d+/ },
    });
  },
);

t.test("a cancelled job says so, whatever its members say on their way out", async (t) => {
  const { world, job, say, pass } = await running(t);
  const proof = { op: crypto.randomUUID(), index: 1, leafHash: "0".repeat(64), unwitnessed: false };
  await world.parts.kernel.requestStop(job().id, "user_cancelled", proof);
  await say("site-2", left(143));
  await say("server", { kind: "failed", reason: "user_exception", message: "SystemExit" });
  await pass(130);
  t.match(job(), {
    state: "CANCELLED",
    warnings: [],
    error: {
      code: "user_cancelled",
      message: "The job was cancelled.",
      detail: null,
      member: null,
    },
  });
});
