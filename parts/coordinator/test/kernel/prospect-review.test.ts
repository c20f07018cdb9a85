/** A change of the fleet may be news for every job in line: all are told, and no transaction tells more than some hundred. */
import t from "tap";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

t.test("of a long line all hear what the fleet can't do, in pieces", async (t) => {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const { commit, db, kernel, nodes, prospectReview } = world.parts;
  const agent = new SimAgent(world, "node-a", 1);
  world.admit("node-a");
  await agent.register();
  for (let at = 0; at < 450; at += 1) {
    await kernel.submit(world.task(`job-${at}`, { minClients: 1 }, 1));
    db.exec("DELETE FROM audit_outbox");
  }
  const told = () =>
    world.one<number>("SELECT count(*) FROM job_warnings WHERE topic = 'never-starts'");
  t.equal(told(), 0);
  await commit.run(() => nodes.setCordon("node-a", "drained by the operator"));
  const atCommits = [0];
  commit.listeners.add(() => atCommits.push(told()));
  await prospectReview.look();
  t.same(atCommits, [0, 200, 400, 450]);
  await commit.run(() => nodes.setCordon("node-a", null));
  await prospectReview.look();
  t.equal(told(), 0);
});

t.test("a look that failed is made again", async (t) => {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const { db, kernel, nodes, commit, prospectReview } = world.parts;
  const agent = new SimAgent(world, "node-a", 1);
  world.admit("node-a");
  await agent.register();
  const { id } = await kernel.submit(world.task("job", { minClients: 1 }, 1));
  await commit.run(() => nodes.setCordon("node-a", "drained by the operator"));
  db.exec(
    "CREATE TEMP TRIGGER refuses BEFORE INSERT ON job_warnings BEGIN SELECT RAISE(ABORT, 'not now'); END",
  );
  await t.rejects(prospectReview.look(), { message: "not now" });
  db.exec("DROP TRIGGER refuses");
  await prospectReview.look();
  t.match(kernel.job(id)?.warnings, [/can never start/]);
});
