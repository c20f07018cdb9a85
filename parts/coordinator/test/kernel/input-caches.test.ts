/** Which nodes are told that they may keep inputs, for whom, and what a member had of that. */
import type { DesiredReply } from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import { objectVersionName } from "../../src/kernel/input-caches.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

const RULES = { lends: true, mostRunMs: null, classes: null };

/** One node in a pool of project-a. */
async function cachingWorld(t: Test, protocol?: SimAgent["protocol"]) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  world.parts.db.exec(
    "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'b', 0, 1)",
  );
  world.admit("node-a");
  const agent = new SimAgent(world, "node-a", 4);
  if (protocol !== undefined) agent.protocol = protocol;
  await agent.register();
  const own = (project: string, id = "pool-a", cacheBytes: number | null = 100) =>
    world.parts.commit.run(() => {
      world.parts.pools.write({ ...RULES, id, name: id, kind: "managed", project, cacheBytes });
      world.parts.pools.move(id, { added: ["node-a"], removed: [] });
    });
  const leave = (id = "pool-a") => world.parts.commit.run(() => world.parts.pools.remove(id));
  const submit = async (projectId: string) =>
    (
      await world.parts.kernel.submit(
        world.task(`job-${projectId}`, { projectId, minClients: 1 }, 1),
      )
    ).id;
  const told = (): Promise<DesiredReply> =>
    world.parts.commit.run(() => world.parts.desiredSets.claimAndTell("node-a"));
  const membersOf = async (job: string) =>
    (await told()).members.filter((member) => member.job === job);
  return { world, agent, own, leave, submit, told, membersOf };
}

t.test("a node keeps inputs for the project of its pool, and for no guest", async (t) => {
  const { world, own, submit, told, membersOf } = await cachingWorld(t);
  t.notOk("cache" in (await told()), "off unless a pool says so");
  await own("project-a", "pool-a", null);
  t.notOk("cache" in (await told()));
  await world.parts.commit.run(() =>
    world.parts.pools.write({
      ...{ ...RULES, id: "pool-a", name: "pool-a", kind: "managed" },
      ...{ project: "project-a", cacheBytes: 100 },
    }),
  );
  const { cache } = await told();
  t.match(cache, { owner: /^[0-9a-f]{64}$/, maxBytes: 100 });
  const [mine, guest] = [await submit("project-a"), await submit("project-b")];
  await world.parts.scheduler.cycle();
  const [owners, guests] = [await membersOf(mine), await membersOf(guest)];
  t.ok(owners.length > 0 && guests.length > 0, "idle workers are lent");
  t.ok(owners.every(({ cacheOwner }) => cacheOwner === cache!.owner));
  t.ok(guests.every(({ cacheOwner }) => cacheOwner === undefined));
  const versions = (members: typeof owners) =>
    members.flatMap(({ inputs }) => inputs.map(({ version }) => version));
  t.ok(versions(owners).every((version) => /^[0-9a-f]{64}$/.test(version ?? "")));
  t.ok(versions(guests).every((version) => version === undefined));
});

t.test("another pool or another project is another owner, and no pool is none", async (t) => {
  const { own, leave, told } = await cachingWorld(t);
  const owners = new Set<string | undefined>();
  for (const [project, id] of [
    ["project-a", "pool-a"],
    ["project-b", "pool-b"],
    ["project-a", "pool-c"],
  ] as const) {
    await own(project, id);
    owners.add((await told()).cache?.owner);
    await leave(id);
    t.notOk("cache" in (await told()));
  }
  t.equal(owners.size, 3);
});

t.test(
  "an agent of the first protocol is told of no cache: it refuses what it does not know",
  async (t) => {
    const { world, own, submit, told } = await cachingWorld(t, 1);
    await own("project-a");
    await submit("project-a");
    await world.parts.scheduler.cycle();
    const reply = await told();
    t.ok(reply.members.length > 0);
    t.notMatch(JSON.stringify(reply), /cache|version":"/);
  },
);

t.test(
  "what a member had from its node is kept, and a later report changes nothing of it",
  async (t) => {
    const { world, agent, own, submit } = await cachingWorld(t);
    await own("project-a");
    const job = await submit("project-a");
    await world.parts.scheduler.cycle();
    await agent.fetch();
    agent.advance(0, null, 2);
    await agent.send();
    const cached = () =>
      world.all<number | null>(
        "SELECT cached_bytes FROM members WHERE is_staged = 1 AND job_id = ?",
        job,
      );
    t.match(cached(), [{ cached_bytes: null }], "an agent that tells nothing");
    const [{ id, generation, counter, last_seq }] = world.all<{
      id: string;
      generation: number;
      counter: number;
      last_seq: number;
    }>("SELECT * FROM members WHERE is_staged = 1") as [never];
    const event = { kind: "staged", bytes: 10, cachedBytes: 7 } as const;
    const report = {
      ...{ member: id, fence: { generation, counter }, seq: last_seq + 1 },
      ...{ at: new Date().toISOString(), event },
    };
    await world.parts.commit.run(() => world.parts.reports.take([report], () => true));
    t.match(cached(), [{ cached_bytes: 7 }]);
  },
);

t.test("a version is named by all that it is, and none where the store has none", async (t) => {
  const object = { bucket: "b", key: "k", version_id: "v" };
  const names = [
    object,
    { ...object, bucket: "bk", key: "" },
    { ...object, version_id: "w" },
    { ...object, key: "kv", version_id: "x" },
  ].map(objectVersionName);
  t.equal(new Set(names).size, 4);
  t.equal(objectVersionName({ ...object, version_id: "null" }), null);
  t.equal(objectVersionName({ ...object, version_id: "" }), null);
});
