/** How a deployment and its replicas come and go. The million steps are a proof: `npm run prove -- deployment-states`. */
import fc from "fast-check";
import t from "tap";
import type { ScalingPolicy } from "../../../src/inference/decisions/scaling-policy.ts";
import { DeploymentWorld } from "../deployment-world.ts";

const policy = (change: Partial<ScalingPolicy> = {}): ScalingPolicy => ({
  ...{ min: 0, max: 3, targetOngoing: 2, sleeps: false },
  ...change,
});
const MINUTE = 60_000;

function calmWorld(change: Partial<ScalingPolicy> = {}): DeploymentWorld {
  const world = new DeploymentWorld(policy(change));
  world.calm();
  return world;
}

t.test("without a call it goes cold, and the next call wakes one replica at once", async (t) => {
  const world = calmWorld();
  t.equal(world.deployment.state, "HOT");
  world.pass(4 * MINUTE);
  world.calm();
  t.equal(world.deployment.state, "HOT", "not before its time");
  world.pass(2 * MINUTE);
  world.calm();
  t.match(world.deployment, { state: "COLD", replicas: [] });

  world.arrive();
  world.calm();
  t.match(world.deployment, { state: "HOT" });
  t.equal(world.living, 1);
  t.equal(world.ends.led, 1);
});

t.test("idle counts from the end of the last call", async (t) => {
  const world = calmWorld();
  world.arrive();
  world.calm();
  world.pass(10 * MINUTE);
  world.calm();
  t.equal(world.deployment.state, "HOT", "a call is under way all the time");
  world.finishAll();
  world.pass(4 * MINUTE);
  world.calm();
  t.equal(world.deployment.state, "HOT");
  world.pass(2 * MINUTE);
  world.calm();
  t.equal(world.deployment.state, "COLD");
});

t.test("a call that comes while the last replica drains opens it again", async (t) => {
  const world = calmWorld();
  world.pass(4 * MINUTE);
  world.passInSilence(2 * MINUTE);
  t.equal(world.deployment.state, "DRAINING");
  world.arrive();
  world.calm();
  t.match(world.deployment, { state: "HOT", replicas: [{ id: "r-0", state: "READY" }] });
});

t.test("replicas follow the calls, up within seconds and down one by one", async (t) => {
  const world = calmWorld();
  for (let call = 0; call < 6; call++) world.arrive();
  world.calm();
  t.equal(world.living, 1, "it waits two seconds before it takes more workers");
  world.pass(1_500);
  world.calm();
  world.pass(1_000);
  world.calm();
  t.equal(world.living, 3);
  world.finishAll();
  const counts = [];
  for (let minutes = 0; minutes < 18; minutes += 3) {
    world.pass(3 * MINUTE);
    world.calm();
    counts.push(world.living);
  }
  t.same(new Set(counts), new Set([3, 2, 1, 0]), counts.join());
});

t.test("of a fixed number each lost one is replaced", async (t) => {
  const world = calmWorld({ min: 2, max: 2 });
  world.pass(3_000);
  world.calm();
  t.equal(world.living, 2);
  world.failNext();
  world.pass(3_000);
  world.calm();
  t.equal(world.living, 2);
});

t.test("a replica whose node takes nothing new goes once another serves", async (t) => {
  const world = calmWorld({ min: 1, max: 1 });
  world.leave();
  t.match(world.deployment, { state: "HOT", due: 1, replicas: [{ id: "r-0", state: "READY" }] });
  world.calm();
  t.match(world.deployment, { state: "HOT", replicas: [{ id: "r-1", state: "READY" }] });
  t.equal(world.deployment.replicas.length, 1);
});

t.test("a replica whose worker is taken back goes at once, and no call with it", async (t) => {
  const world = calmWorld({ min: 1, max: 1 });
  world.arrive();
  world.calm();
  world.takeBack();
  t.match(world.deployment, { replicas: [{ id: "r-0", state: "DRAINING", makesWay: true }] });
  world.pass(60_000);
  t.match(world.deployment.replicas[0], { state: "DRAINING" }, "a call is under way");
  world.arrive();
  world.finishAll();
  world.pass(1_000);
  t.match(world.deployment.replicas[0], { state: "STOPPING" }, "and opens for nobody again");
  world.calm();
  t.match(world.deployment, { state: "HOT", replicas: [{ id: "r-1", state: "READY" }] });
  t.equal(world.ends.led, 2, "whoever waited is led to the next one");
});

t.test("a call that does not end keeps a worker for two minutes, and no longer", async (t) => {
  const world = calmWorld({ min: 1, max: 1 });
  world.arrive();
  world.calm();
  world.takeBack();
  world.passInSilence(119_000);
  t.match(world.deployment.replicas[0], { state: "DRAINING" }, "also while no gateway is heard");
  world.passInSilence(1_000);
  t.match(world.deployment.replicas[0], { state: "STOPPING" });
});

t.test("three failed wakes in ten minutes, and calls are refused until the next try", async (t) => {
  const world = calmWorld({ min: 1, max: 1 });
  for (let times = 0; times < 3; times++) {
    world.failNext();
    if (times < 2) world.calm();
  }
  t.match(world.deployment, { state: "FAILED", due: 0 });
  world.pass(4 * MINUTE);
  t.match(world.deployment, { state: "FAILED", due: 0 });
  world.pass(2 * MINUTE);
  t.match(world.deployment, { state: "WAKING", due: 1 });
  world.calm();
  t.match(world.deployment, { state: "HOT", brokenUntil: null });
});

t.test("one whose engine can sleep keeps its place, and wakes there", async (t) => {
  const world = calmWorld({ sleeps: true });
  world.pass(6 * MINUTE);
  world.calm();
  t.match(world.deployment, { state: "SLEEPING", replicas: [{ id: "r-0" }] });
  world.arrive();
  world.calm();
  t.match(world.deployment, { state: "HOT", replicas: [{ id: "r-0" }] });
  world.finishAll();
  world.pass(6 * MINUTE);
  world.calm();
  world.pass(61 * MINUTE);
  world.calm();
  t.match(world.deployment, { state: "COLD", replicas: [] });
});

t.test(
  "whatever happens: no call is lost, none goes to a closed replica, nothing thrashes",
  async () => {
    const act = fc.tuple(fc.nat(19), fc.nat(11));
    const policies = fc.record({
      min: fc.integer({ min: 0, max: 2 }),
      max: fc.integer({ min: 2, max: 4 }),
      targetOngoing: fc.integer({ min: 1, max: 3 }),
      sleeps: fc.boolean(),
    });
    fc.assert(
      fc.property(policies, fc.array(act, { maxLength: 150 }), (chosen, acts) => {
        const world = new DeploymentWorld(chosen);
        for (const [what, which] of acts) world.act(what, which);
        world.quieten();
      }),
      { numRuns: 1_000, seed: 20261126 },
    );
  },
);
