import t from "tap";
import { NvflareRuns } from "../../../src/workloads/federation/nvflare-runs.ts";
import { KernelWorld } from "../../kernel/kernel-world.ts";
import { SimAgent } from "../../kernel/sim-agent.ts";
import { isServer } from "../../kernel/told-role.ts";

/** A job of two sites on one node, as far as its containers. */
async function placed() {
  const world = new KernelWorld();
  const agent = new SimAgent(world, "node-a", 2);
  world.admit(agent.node);
  await agent.register();
  const { id } = await world.parts.kernel.submit(world.task("runs"));
  await world.parts.scheduler.cycle();
  await agent.fetch();
  for (let step = 0; step < 9; step++) agent.advance(step, null);
  await agent.send();
  const say = async (role: "server" | "client", nvflareJob: string) => {
    const held = [...agent.held.values()].find(
      ({ desired }) => isServer(desired) === (role === "server"),
    )!;
    agent.say(held.desired.member, { kind: "job-started", nvflareJob });
    await agent.send();
  };
  return { world, agent, id, say, runs: new NvflareRuns(world.read) };
}

t.test("NVFlare's job of an attempt is the one that its server named", async (t) => {
  const { world, id, say, runs } = await placed();
  t.teardown(() => world[Symbol.dispose]());
  t.same(runs.of(id), [], "none before the server tells of one");
  await say("client", "nv-of-a-site");
  t.same(runs.of(id), [], "a site names none");
  t.equal(world.one("SELECT state FROM jobs WHERE id = ?", id), "STAGING");
  await say("server", "nv-1");
  t.match(runs.of(id), [{ nvflareJob: "nv-1", attempt: 1, status: "RUNNING", endedAt: null }]);
  t.equal(world.one("SELECT state FROM jobs WHERE id = ?", id), "RUNNING");
  t.same(runs.of("job-of-nobody"), []);
});

t.test("how an attempt ended is how its run ended", async (t) => {
  const { world, agent, id, say, runs } = await placed();
  t.teardown(() => world[Symbol.dispose]());
  await say("server", "nv-1");
  const { db, transitions } = world.parts;
  transitions.moveJob(id, "stop", { reason: "user_cancelled" });
  await agent.fetch();
  await agent.send();
  t.match(runs.of(id), [{ nvflareJob: "nv-1", status: "FINISHED:ABORTED", endedAt: world.nowMs }]);
  db.prepare("UPDATE attempts SET end_reason = NULL").run();
  t.match(runs.of(id), [{ status: "FINISHED:COMPLETED" }]);
});
