/** Sentences why jobs wait: the first in line have theirs with the cycle, a long line behind them soon after. */
import t from "tap";
import { untilFound } from "@resontech/house/until-found";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

t.test(
  "of a long line the first have their sentence at once, and all have the newest",
  async (t) => {
    const world = new KernelWorld();
    t.teardown(() => world[Symbol.dispose]());
    const { db, kernel, scheduler } = world.parts;
    for (let at = 0; at < 450; at += 1) {
      await kernel.submit(world.task(`job-${at}`, { minClients: 1 }, 1));
      db.exec("DELETE FROM audit_outbox");
    }
    const noted = (like: string) =>
      db
        .prepare<[string], number>(
          "SELECT sequence FROM jobs WHERE waiting_for LIKE ? ORDER BY sequence",
        )
        .pluck()
        .all(like);
    await scheduler.cycle();
    const first = noted("%0 of 0 would do now%");
    t.ok(first.length >= 200 && first.length < 450, `${first.length} at once`);
    t.same(
      first,
      [...first.keys()].map((at) => at + first[0]!),
      "the first in line",
    );
    const agent = new SimAgent(world, "node-a", 2);
    world.admit("node-a");
    await agent.register();
    await scheduler.cycle();
    await untilFound(
      "the newest sentence of all",
      () => noted("%0 of 2 would do now%").length === 448,
    );
    t.same(noted("%0 of 0%"), []);
    t.same(world.errors, []);
  },
);
