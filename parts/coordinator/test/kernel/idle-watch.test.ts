/** Interactive jobs that use nothing, on the real kernel, by what beats say. */
import t, { type Test } from "tap";
import { idleWarnings } from "../../src/job-mails/idle-warnings.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

async function idleWorld(t: Test, change: object = { jobClass: "interactive" }) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const agent = new SimAgent(world, "node-a", 1);
  world.admit("node-a");
  await agent.register();
  const task = world.task("notebook", { minClients: 1, ...change }, 1);
  const { id } = await world.parts.kernel.submit(task);
  await world.parts.scheduler.cycle();
  const second = () => {
    world.nowMs += 1_000;
    world.parts.db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
  };
  for (let step = 0; step < 5; step += 1) {
    await agent.fetch();
    for (let member = 0; member < agent.held.size; member += 1) agent.advance(member, null);
    await agent.send();
    second();
  }
  const used = new Map<string, number>();
  /** Minutes pass; each member uses so much of one processor, or nothing is said of one. */
  const minutes = async (count: number, shareOf: (member: number) => number | null = () => 0) => {
    for (let at = 0; at < count * 12; at += 1) {
      for (let step = 0; step < 5; step += 1) second();
      const held = [...agent.held.keys()];
      const told = held.flatMap((member, place) => {
        const share = shareOf(place);
        if (share === null) return [];
        used.set(member, (used.get(member) ?? 0) + share * 5_000);
        return [{ place, cpuMs: Math.round(used.get(member)!) }];
      });
      agent.uses = {
        members: { held: told.map(({ place }) => place), cpuMs: told.map(({ cpuMs }) => cpuMs) },
      };
      await agent.beat();
      await world.parts.idleWatch.look();
      await world.parts.liveness.tick();
      await world.parts.sweeper.sweep();
    }
  };
  const job = () => world.parts.kernel.job(id)!;
  const set = (share: string, change: object) =>
    world.parts.commit.run(() => void world.parts.shares.set(share, change));
  return { world, id, minutes, job, set };
}

t.test("it is warned after an hour, and ended ten minutes later with its own reason", async (t) => {
  const { world, minutes, job, id } = await idleWorld(t);
  t.equal(job().state, "RUNNING");
  await minutes(59);
  t.same(job().warnings, []);
  await minutes(3);
  t.match(job().warnings, [/used nothing for 60 minutes: it is ended in 10 minutes unless/]);
  t.match(idleWarnings(world.read), [{ jobId: id, name: "notebook" }]);
  await minutes(8);
  t.equal(job().state, "RUNNING");
  await minutes(3);
  t.match(job(), { desired: "stop", reason: "idle" });
  const stopping = world
    .all<{ event: string }>("SELECT event FROM audit_outbox WHERE event LIKE '%job.stopping%'")
    .map(({ event }) => JSON.parse(event) as object);
  t.match(stopping, [{ type: "job.stopping", detail: { reason: "idle" } }]);
  t.same(world.errors, []);
});

t.test("what it does takes the warning back, and the time begins anew", async (t) => {
  const { minutes, job } = await idleWorld(t);
  await minutes(62);
  t.equal(job().warnings.length, 1);
  await minutes(1, (member) => (member === 1 ? 0.9 : 0));
  t.same(job().warnings, []);
  await minutes(58);
  t.match(job(), { state: "RUNNING", warnings: [] });
});

t.test("what nobody tells is never idle, also of one member of several", async (t) => {
  const { world, minutes, job } = await idleWorld(t);
  await minutes(90, (member) => (member === 0 ? null : 0));
  t.match(job(), { state: "RUNNING", warnings: [] });
  await minutes(62);
  t.equal(job().warnings.length, 1);
  world.crash();
  t.equal(job().state, "RUNNING");
  await world.parts.idleWatch.look();
  t.same(job().warnings, [], "after a restart nobody knows how long it was");
});

t.test(
  "a share says how long, the tightest on the way up, and no other class is watched",
  async (t) => {
    const { world, minutes, job, set } = await idleWorld(t);
    const [{ id: organisation } = { id: "" }] = world.all<{ id: string }>(
      "SELECT id FROM organisations",
    );
    await set(organisation, { interactiveIdleMinutes: 5 });
    await set("project-a", { interactiveIdleMinutes: 20 });
    t.equal(world.parts.shares.isSet, false, "nobody is guaranteed or limited anything by that");
    await minutes(7);
    t.match(job().warnings, [/used nothing for 5 minutes/]);

    const other = await idleWorld(t, {});
    await other.set("project-a", { interactiveIdleMinutes: 5 });
    await other.minutes(20);
    t.match(other.job(), { state: "RUNNING", warnings: [] });
  },
);
