import t, { type Test } from "tap";
import { SteadyClock } from "../../src/kernel/clock.ts";
import { ClockSteps } from "../../src/kernel/clock-steps.ts";
import { evaluateStep } from "../../src/kernel/decisions/clock-step.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

const HOUR = 3_600_000;

t.test("less than two seconds is slewing, more is a step", async (t) => {
  t.equal(evaluateStep(1_999), null);
  t.equal(evaluateStep(-1_999), null);
  t.equal(evaluateStep(2_000), 2_000);
  t.equal(evaluateStep(-HOUR), -HOUR);
});

t.test("a steady clock goes on through a step until it is told to follow", async (t) => {
  const host = { wall: 1_000_000, monotonic: 5 };
  const clock = new SteadyClock(
    () => host.wall,
    () => host.monotonic,
  );
  host.wall += HOUR + 10;
  host.monotonic += 10;
  t.equal(clock.now(), 1_000_010);
  t.equal(clock.stepMs(), HOUR);
  clock.follow();
  t.equal(clock.now(), 1_000_010 + HOUR);
  t.equal(clock.stepMs(), 0);
});

/** A job whose members are being staged, and a host whose clocks the test sets. */
async function staging(t: Test) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  world.admit("node-a");
  const agent = new SimAgent(world, "node-a", 2);
  await agent.register();
  const { id } = await world.parts.kernel.submit(world.task("staged"));
  await world.parts.scheduler.cycle();
  await agent.fetch();
  agent.advance(0, null);
  await agent.send();
  const host = { setMs: 0, bootId: "boot-1" };
  const steps: number[] = [];
  const clock = new SteadyClock(
    () => world.nowMs + host.setMs,
    () => world.nowMs,
  );
  const watcher = () =>
    new ClockSteps({
      ...world.parts,
      clock,
      bootTime: () => ({ bootId: host.bootId, sinceBootMs: world.nowMs }),
      onStep: (stepMs) => steps.push(stepMs),
    });
  const leftMs = () =>
    world.one<number>("SELECT deadline_at FROM jobs WHERE id = ?", id) - clock.now();
  return { world, id, host, steps, watcher, leftMs, clock };
}

for (const [name, stepMs] of [
  ["forward", HOUR],
  ["back", -HOUR],
] as const)
  t.test(
    `a clock that is set an hour ${name} leaves every deadline as far away as it was`,
    async (t) => {
      const { world, id, host, steps, watcher, leftMs } = await staging(t);
      t.equal(world.one("SELECT state FROM jobs WHERE id = ?", id), "STAGING");
      const watch = watcher();
      await watch.begin();
      const before = leftMs();
      host.setMs = stepMs;
      t.equal(leftMs(), before, "nothing moves before the rows do");
      await watch.look();
      t.equal(leftMs(), before);
      t.same(steps, [stepMs]);
      await watch.look();
      t.same(steps, [stepMs], "once");
      const since = world.one<number>("SELECT state_since FROM jobs WHERE id = ?", id);
      t.equal(since, world.nowMs + stepMs);
      for (const name of ["maintenance-until", "leases-until"] as const)
        await world.parts.commit.run(() => world.parts.meta.set(name, 500));
      host.setMs = 0;
      await watch.look();
      t.equal(
        world.parts.meta.number("maintenance-until"),
        500 - stepMs,
        "a planned stop ends when it would have",
      );
      t.equal(world.parts.meta.number("leases-until"), 500 - stepMs, "and the leases that it gave");
    },
  );

t.test(
  "a step while nobody was there is found at the next start; after a reboot the wall clock is all there is",
  async (t) => {
    const { host, steps, watcher, clock } = await staging(t);
    await watcher().begin();
    host.setMs = HOUR;
    clock.follow();
    await watcher().begin();
    t.same(steps, [HOUR]);
    host.setMs = 0;
    host.bootId = "boot-2";
    await watcher().begin();
    t.same(steps, [HOUR]);
  },
);

t.test(
  "what passed while nobody could tell of progress has a lease's time more; the job's own limit has not",
  async (t) => {
    const { world, id } = await staging(t);
    world.parts.db
      .prepare("UPDATE jobs SET expires_at = ? WHERE id = ?")
      .run(world.nowMs + 60_000, id);
    world.nowMs += 300_000;
    await world.parts.sweeper.giveGrace();
    await world.parts.sweeper.sweep();
    t.equal(world.one("SELECT state FROM jobs WHERE id = ?", id), "STAGING");
    world.nowMs += 40_001;
    await world.parts.sweeper.sweep();
    t.equal(world.one("SELECT reason FROM jobs WHERE id = ?", id), "staging_timeout");
  },
);
