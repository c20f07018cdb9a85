/** The image belongs to the member: its worker's vendor, architecture and driver decide. */
import type { InventoryWorker } from "@resontech/contracts/agent-protocol";
import t from "tap";
import type { MemberImage } from "../../src/kernel/decisions/member-image.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

const image = (
  profile: string,
  torch: string,
  needs: MemberImage["needs"] = null,
): MemberImage => ({
  profile,
  reference: `r:5000/resontech/${profile}@sha256:${"0".repeat(64)}`,
  sizeBytes: 1,
  needs,
  torch,
});
const IMAGES = [
  image("fl-cpu", "2.15.0"),
  image("fl-cuda13", "2.15.0", {
    vendor: "nvidia",
    leastDriver: "580",
    architectures: ["7.5", "8.9"],
  }),
  image("fl-cuda12", "2.7.1", {
    vendor: "nvidia",
    leastDriver: "525.60.13",
    architectures: ["6.0", "7.5"],
  }),
];
const device = (driver: string, architecture: string): Partial<InventoryWorker> => ({
  kind: "gpu",
  model: "rtx_4090",
  vendor: "nvidia",
  driver,
  architecture,
});

t.test("each member runs the image of its worker, and torch that differs is told", async (t) => {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const [ada, pascal] = [new SimAgent(world, "ada", 1), new SimAgent(world, "pascal", 1)];
  ada.device = device("580.95.05", "8.9");
  pascal.device = device("570.1", "6.1");
  for (const agent of [ada, pascal]) {
    world.admit(agent.node);
    await agent.register();
  }
  const { id } = await world.parts.kernel.submit(world.task("mixed", { images: IMAGES }));
  await world.parts.scheduler.cycle();
  for (const agent of [ada, pascal]) await agent.fetch();

  const profiles = [ada, pascal].map(({ node, held }) => [
    node,
    ...[...held.values()].map(({ desired }) => desired.image.replace(/^.*\/|@.*$/g, "")).sort(),
  ]);
  t.same(
    profiles,
    [
      ["ada", "fl-cpu", "fl-cuda13"],
      ["pascal", "fl-cuda12"],
    ],
    "the server holds no device",
  );
  t.same(world.parts.kernel.job(id)?.warnings, [
    "site-2: its image fl-cuda12 has torch 2.7.1, the server 2.15.0",
  ]);
});

t.test(
  "a job waits by name while no worker's driver will do, and runs after the upgrade",
  async (t) => {
    const world = new KernelWorld();
    t.teardown(() => world[Symbol.dispose]());
    const agent = new SimAgent(world, "old", 2);
    agent.device = device("470.256.02", "8.9");
    world.admit(agent.node);
    await agent.register();
    const { id } = await world.parts.kernel.submit(world.task("waits", { images: IMAGES }));
    await world.parts.scheduler.cycle();
    t.match(world.parts.kernel.job(id), {
      state: "QUEUED",
      waitingFor: /2 whose driver 470\.256\.02 is older than 525\.60\.13/,
    });

    agent.device = device("580.95.05", "8.9");
    await agent.register();
    await world.parts.scheduler.cycle();
    await agent.fetch();
    t.equal(agent.held.size, 3);
  },
);

t.test("a job of an older program runs its one image everywhere", async (t) => {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  const agent = new SimAgent(world, "any", 2);
  agent.device = device("470.256.02", "8.9");
  world.admit(agent.node);
  await agent.register();
  const { id } = await world.parts.kernel.submit(world.task("older"));
  world.parts.db.prepare("UPDATE jobs SET images = NULL WHERE id = ?").run(id);
  await world.parts.scheduler.cycle();
  await agent.fetch();
  t.same(
    [...agent.held.values()].map(({ desired }) => desired.image.replace(/^.*\/|@.*$/g, "")),
    ["fl-cpu", "fl-cpu", "fl-cpu"],
  );
});
