/** A deployment that takes another one's place, on the real kernel with the real scaler. */
import t, { type Test } from "tap";
import type { Load } from "../../src/inference/decisions/deployment.ts";
import { DeploymentTable } from "../../src/inference/deployment-table.ts";
import { Rollouts } from "../../src/inference/rollouts.ts";
import { Scaler } from "../../src/inference/scaler.ts";
import { deploymentOf } from "../../src/workloads/predictor/predictor.ts";
import { ReplicaWorld } from "./replica-world.ts";

const TWO = { min: 2, max: 2, targetOngoing: 2 };

async function rolledOut(t: Test, workers: number[]) {
  const older = await ReplicaWorld.open(t, workers, TWO);
  const { world } = older;
  await older.settle();
  const calls = new Map<string, Load["inFlight"]>();
  const table = new DeploymentTable(world.read);
  const rollouts = new Rollouts(world.read, table);
  const scaler = new Scaler({
    ...{ commit: world.parts.commit, replicas: world.parts.replicas, now: () => world.nowMs },
    ...{ table, rollouts },
    load: (id) => ({
      ...{ generation: Number.MAX_SAFE_INTEGER, queued: 0, lastCompletionAt: null },
      inFlight: calls.get(id) ?? {},
    }),
    onChange: () => undefined,
    onError: (error) => world.errors.push(error),
  });
  const seconds = async (count: number, ...all: ReplicaWorld[]) => {
    for (let second = 0; second < count; second++) {
      await older.pass(1);
      await scaler.look();
      for (const one of all) await one.settle();
    }
    await scaler.look();
  };
  await seconds(4, older);
  t.same(older.states(), ["RUNNING", "RUNNING"]);
  const routes = () => new Map(table.routes().map((route) => [route.deployment, route]));
  return { older, world, calls, routes, rollouts, seconds, table };
}

t.test("the address goes over when as many replicas are ready as were there", async (t) => {
  const { older, calls, routes, seconds, table, world } = await rolledOut(t, [2, 2]);
  calls.set(older.id, { [older.members()[0]!.id]: 1 });
  const newer = await older.replaced(TWO);
  await newer.settle();
  await seconds(1, older);
  t.match(newer.states(), ["RUNNING"], "one is ready, and that is too few");
  t.same(routes().get(newer.id)?.aliases ?? [], []);
  await seconds(6, older, newer);
  t.same(newer.states(), ["RUNNING", "RUNNING"]);
  t.match(routes().get(newer.id), {
    ...{ aliases: [older.id], keySha256: "0".repeat(64) },
    ...{
      name: `after-${older.id}`,
      formerNames: [world.one("SELECT name FROM jobs WHERE id = ?", older.id)],
    },
    callback: { secret: "1".repeat(64) },
  });

  const [busy, ...others] = routes().get(older.id)!.replicas;
  t.same(others, [], "who has no call goes at once");
  t.match(busy, { isOpen: false }, "who has one ends it first");
  t.equal(older.state, "RUNNING");
  calls.clear();
  for (const { id } of older.members()) await older.release(id);
  await seconds(3, older, newer);
  for (const { id } of older.members()) await older.release(id);
  await seconds(3, older, newer);
  t.equal(older.state, "CANCELLED");
  t.equal(world.one("SELECT reason FROM jobs WHERE id = ?", older.id), "replaced");
  t.same([...routes().keys()], [newer.id]);
  t.equal(table.state(older.id)?.state, "STOPPED");
  t.same(world.errors, []);
});

t.test("one that never gets ready changes nothing", async (t) => {
  const { older, routes, seconds } = await rolledOut(t, [2, 1]);
  const newer = await older.replaced(TWO);
  await newer.place();
  await newer.fail(newer.members()[0]!.id);
  await seconds(5, older);
  t.same(older.states(), ["RUNNING", "RUNNING"]);
  t.same([...routes().keys()], [older.id]);
});

t.test("addresses that were taken over before go over again", async (t) => {
  const { older, routes, seconds, world } = await rolledOut(t, [2, 2, 2]);
  const second = await older.replaced(TWO);
  await seconds(6, older, second);
  const third = await second.replaced(TWO);
  await seconds(6, older, second, third);
  t.same(routes().get(third.id)?.aliases.toSorted(), [older.id, second.id].toSorted());
  const names = [older.id, second.id].map((id) =>
    String(world.one("SELECT name FROM jobs WHERE id = ?", id)),
  );
  t.same(routes().get(third.id)?.formerNames?.toSorted(), names.toSorted());
});

t.test("what can't be replaced says why", async (t) => {
  const { older, rollouts, world, table } = await rolledOut(t, [2, 2]);
  const spec = table.of(older.id)!;
  const from = { id: older.id, spec, isOver: false };
  rollouts.requireReplaceable(from, spec);
  t.throws(() => rollouts.requireReplaceable({ ...from, isOver: true }, spec), /has ended/);
  const chat = deploymentOf({ spec: JSON.stringify({ ...spec, engine: "llama.cpp" }) });
  t.throws(() => rollouts.requireReplaceable(from, chat), /answers another API/);
  const newer = await older.replaced(TWO);
  t.throws(() => rollouts.requireReplaceable(from, spec), /is about to be replaced by/);
  const unready = { id: newer.id, spec, isOver: false };
  t.throws(() => rollouts.requireReplaceable(unready, spec), /has not answered yet/);
  t.same(world.errors, []);
});
