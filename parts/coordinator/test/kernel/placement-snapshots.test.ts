/** What is kept between snapshots, and read again where rows changed, is what a process reads that has just started. */
import fc from "fast-check";
import t from "tap";
import { PlacementSnapshots } from "../../src/kernel/placement-snapshots.ts";
import { SharingSnapshots } from "../../src/kernel/sharing-snapshots.ts";
import { KernelWorld } from "./kernel-world.ts";
import { SimAgent } from "./sim-agent.ts";

const GATE = {
  ...{ op: "00000000-0000-4000-8000-000000000000", index: 1 },
  ...{ leafHash: "0".repeat(64), unwitnessed: false },
};

const step = fc.oneof(
  fc.record({
    kind: fc.constant("submit" as const),
    shards: fc.integer({ min: 1, max: 3 }),
    project: fc.constantFrom("project-a", "project-b"),
    minutes: fc.constantFrom(null, 5),
  }),
  fc.record({ kind: fc.constant("cycle" as const) }),
  fc.record({ kind: fc.constant("work" as const), member: fc.nat(5), fails: fc.boolean() }),
  fc.record({ kind: fc.constant("cancel" as const), job: fc.nat(9) }),
  fc.record({ kind: fc.constant("cordon" as const), node: fc.constantFrom("node-a", "node-b") }),
  fc.record({ kind: fc.constant("look" as const) }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(1_000, 70_000) }),
);

t.test("a kept snapshot is the one of a fresh process, whatever happened", async (t) => {
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 40 }),
      fc.boolean(),
      async (steps, hasShares) => {
        using world = new KernelWorld();
        const { db, kernel, scheduler } = world.parts;
        db.exec(
          "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('project-b', 'user-a', 'q', 0, 1)",
        );
        if (hasShares)
          db.exec(
            `INSERT INTO shares (id, guarantee, changed_at) VALUES ('project-b', '{"cpu":2}', 1)`,
          );
        const agents = ["node-a", "node-b"].map((node) => new SimAgent(world, node, 2));
        for (const agent of agents) {
          world.admit(agent.node);
          await agent.register();
        }
        const jobs: string[] = [];
        for (const [at, one] of steps.entries()) {
          db.prepare("UPDATE audit_outbox SET created_at = ?").run(world.nowMs);
          if (one.kind === "submit") {
            const { project: projectId, minutes, shards } = one;
            const timeLimitMs = minutes === null ? null : minutes * 60_000;
            const task = world.task(
              `job-${at}`,
              { projectId, timeLimitMs, minClients: shards },
              shards,
            );
            jobs.push((await kernel.submit(task)).id);
          } else if (one.kind === "cycle") await scheduler.cycle();
          else if (one.kind === "work")
            for (const agent of agents) {
              await agent.beat();
              await agent.fetch();
              agent.advance(one.member, one.fails ? "user_exception" : null);
              await agent.send();
            }
          else if (one.kind === "cancel" && jobs[one.job] !== undefined)
            await kernel.requestStop(jobs[one.job]!, "user_cancelled", GATE);
          else if (one.kind === "cordon")
            db.prepare("UPDATE nodes SET is_cordoned = 1 - is_cordoned WHERE id = ?").run(one.node);
          else if (one.kind === "look") world.parts.snapshots.read();
          else if (one.kind === "pass") world.nowMs += one.ms;
        }
        const told = () => {
          const { gangs, workers, nodes, vacancies, sharing } = world.parts.snapshots.read();
          const { running = [] } = sharing ?? {};
          seen += gangs.length + running.length;
          return JSON.stringify({
            ...{ gangs, vacancies },
            workers: workers.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
            // What beats say of a disk is known to a process alone.
            nodes: nodes.map(({ hasDisk: _hasDisk, ...node }) => node),
            running: running.toSorted((a, b) => (a.attempt < b.attempt ? -1 : 1)),
          });
        };
        const kept = told();
        world.crash();
        const fresh = told();
        if (kept !== fresh) throw new Error(`kept ${kept}\nfresh ${fresh}`);
      },
    ),
    { numRuns: 60 },
  );
  t.ok(seen > 60, `${seen} gangs were seen`);
});

t.test("what changed of one job is read by its own rows, and nothing by all that ever was", (t) => {
  using world = new KernelWorld();
  const { db } = world.parts;
  const statements: string[] = [];
  const noting = new Proxy(db, {
    get(target, key) {
      if (key === "prepare")
        return (sql: string) => {
          statements.push(sql);
          return target.prepare(sql);
        };
      // Its notes of changed rows are there already, of the snapshots that the world has.
      if (key === "exec") return () => target;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const { tables, transitions, workloads, shares } = world.parts;
  const sharing = new SharingSnapshots(noting, tables.clock, workloads, shares);
  const [gates, standings] = [{ read: () => new Map() }, { read: () => new Map() }];
  const snapshots = new PlacementSnapshots(
    ...([noting, tables, transitions, { hasDisk: () => true }, sharing, gates, standings] as const),
  );
  const scans = (sql: string) =>
    db
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...(sql.includes("?") ? ["x"] : []))
      .map(({ detail }) => detail)
      .filter((detail) => detail.startsWith("SCAN"));
  const ofOne = statements.filter((sql) => /(job_id|\bid) = \?/.test(sql));
  t.ok(ofOne.length >= 4);
  t.same(snapshots.queued(), []);
  for (const sql of ofOne) t.same(scans(sql), [], sql);
  const vacant = statements.filter((sql) => sql.includes("later.replaces"));
  t.equal(vacant.length, 1);
  t.same(scans(vacant[0]!), []);
  t.end();
});
