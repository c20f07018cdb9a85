/** What was told of a start is held against when the job started. */
import t from "tap";
import { ToldStarts } from "../../src/kernel/told-starts.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

const MINUTE = 60_000;

t.test("each first start is held against what was told first", async (t) => {
  using world = new KernelWorld();
  const { db, kernel, scheduler } = world.parts;
  const agent = new SimAgent(world, "node-a", 1);
  world.admit("node-a");
  await agent.register();
  const told = new ToldStarts(db);
  const submit = async (slug: string) =>
    (await kernel.submit(world.task(slug, { minClients: 1 }, 1))).id;
  for (let n = 0; n < 5; n += 1) {
    const id = await submit(`job-${n}`);
    const expected = world.nowMs + 10 * MINUTE;
    told.take(new Map([[id, { at: expected }]]));
    told.take(new Map([[id, { at: expected + 99 * MINUTE }]]));
    t.equal(told.errors, null, "only what was told first counts, and nobody has started yet");
    world.nowMs += (8 + n) * MINUTE;
    await agent.register();
    db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
    await scheduler.cycle();
    await kernel.requestStop(id, "user_cancelled", {
      ...{ op: crypto.randomUUID(), index: 1, leafHash: "0".repeat(64), unwitnessed: false },
    });
    db.prepare("UPDATE leases SET released_at = ?").run(world.nowMs);
  }
  told.take(new Map());
  t.same(told.errors, { jobs: 5, earlierMs: 2 * MINUTE, laterMs: 2 * MINUTE });
  const gone = await submit("cancelled");
  told.take(new Map([[gone, { at: world.nowMs }]]));
  told.take(new Map());
  t.equal(told.errors?.jobs, 5, "who never started tells nothing");
});
