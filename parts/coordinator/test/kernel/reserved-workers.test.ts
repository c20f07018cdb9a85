/** A job that needs two workers beside a stream of small ones: after a quarter of an hour the next workers are its own. */
import t from "tap";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

const MINUTE = 60_000;

t.test(
  "who waited long has its workers reserved, and only what ends in time goes before",
  async (t) => {
    const world = new KernelWorld();
    t.teardown(() => world[Symbol.dispose]());
    const { db, kernel, scheduler } = world.parts;
    const agent = new SimAgent(world, "node-a", 2);
    world.admit("node-a");
    await agent.register();
    const submit = async (slug: string, minutes: number | null, shards = 1) => {
      const timeLimitMs = minutes === null ? null : minutes * MINUTE;
      const { id } = await kernel.submit(
        world.task(slug, { minClients: shards, timeLimitMs }, shards),
      );
      return id;
    };
    const cycle = async () => {
      db.exec("DELETE FROM audit_outbox");
      await scheduler.cycle();
    };
    const state = (id: string) => world.one<string>("SELECT state FROM jobs WHERE id = ?", id);
    const runs = await submit("runs", 60);
    await cycle();
    const wide = await submit("wide", null, 2);
    await cycle();
    world.nowMs += 16 * MINUTE;
    const [endless, brief] = [await submit("endless", null), await submit("brief", 20)];
    await cycle();
    t.same([runs, wide, endless, brief].map(state), ["RESERVED", "QUEUED", "QUEUED", "RESERVED"]);
    t.match(world.one("SELECT waiting_for FROM jobs WHERE id = ?", wide), /reserved for it$/);
    t.match(
      world.one("SELECT waiting_for FROM jobs WHERE id = ?", endless),
      /needs 1 worker; 0 of 2 would do now/,
    );
  },
);
