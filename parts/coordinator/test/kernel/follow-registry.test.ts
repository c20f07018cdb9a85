/** References of images after the appliance got another name. */
import t from "tap";
import { followRegistry } from "../../src/kernel/follow-registry.ts";
import { KernelWorld } from "./kernel-world.ts";

t.test(
  "images of jobs and members are of the registry's new host, and asked for by the same digest",
  async (t) => {
    using world = new KernelWorld();
    const { commit, db, tables } = world.parts;
    const { id } = await world.parts.kernel.submit(world.task("moved"));
    const read = () =>
      [
        ...db
          .prepare<[], string>("SELECT image FROM jobs UNION ALL SELECT images FROM jobs")
          .pluck()
          .all(),
      ]
        .filter((text) => text !== null)
        .join("\n");
    t.match(read(), /"reference":"r:5000\/resontech\/fl-cpu@sha256:0+"/);
    await commit.run(() => followRegistry(db, tables.meta, "r:5000"));
    t.match(read(), /"r:5000\//, "the same name changes nothing");
    const followed = await commit.run(() => followRegistry(db, tables.meta, "new.example:5000"));
    t.ok(followed >= 1, id);
    t.match(read(), /"reference":"new\.example:5000\/resontech\/fl-cpu@sha256:0+"/);
    t.notMatch(read(), /"r:5000/);
    t.equal(await commit.run(() => followRegistry(db, tables.meta, "new.example:5000")), 0);
  },
);
