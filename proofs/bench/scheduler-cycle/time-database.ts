/** Times whole cycles of the scheduler on a real database: rows are read, a plan is made, what it says is written. Prints one JSON line. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { KernelWorld } from "@resontech/coordinator/testing/kernel-world";
import { SimAgent } from "@resontech/coordinator/testing/sim-agent";
import { seededRandom } from "@resontech/house/seeded-random";
import { quantile } from "../../statistics.ts";

const [nodes = 100, queued = 1_000, cycles = 100, seed = 1] = process.argv.slice(2, 6).map(Number);
const hasShares = process.argv[6] === "shares";
const DEVICES = 8;
const PROJECTS = 50;

const random = seededRandom(seed);
using world = new KernelWorld();
const { db, kernel, scheduler } = world.parts;
const first = new SimAgent(world, "node-0", DEVICES);
world.admit("node-0");
await first.register();

/** As many rows like the given ones, with what is said otherwise. */
function copy(
  table: string,
  where: string,
  changed: (row: Record<string, unknown>) => object,
): void {
  const row = db
    .prepare<[], Record<string, unknown>>(`SELECT * FROM ${table} WHERE ${where}`)
    .get()!;
  const values = { ...row, ...changed(row) };
  const names = Object.keys(values);
  db.prepare(
    `INSERT INTO ${table} (${names.join()}) VALUES (${names.map((name) => `@${name}`).join()})`,
  ).run(values);
}
db.transaction(() => {
  for (let at = 1; at < nodes; at += 1) {
    const id = `node-${at}`;
    copy("nodes", "id = 'node-0'", () => ({
      id,
      certificate_sha256: String(at).padStart(64, "0"),
      // Those of the measured cycles open one after the other.
      is_cordoned: at <= cycles ? 1 : 0,
    }));
    for (let device = 0; device < DEVICES; device += 1)
      copy("workers", `id = 'node-0-${device}'`, () => ({
        ...{ id: `${id}-${device}`, node_id: id },
      }));
  }
  for (let at = 1; at < PROJECTS; at += 1)
    copy("projects", "id = 'project-a'", () => ({
      id: `project-${at}`,
      is_default: 0,
      name: `p${at}`,
    }));
  if (hasShares)
    for (let at = 1; at < PROJECTS; at += 1)
      db.prepare("INSERT INTO shares (id, guarantee, changed_at) VALUES (?, ?, 1)").run(
        `project-${at}`,
        JSON.stringify(at % 2 === 0 ? { cpu: Math.floor((nodes * DEVICES) / PROJECTS / 2) } : {}),
      );
})();

const settle = () => db.prepare("DELETE FROM audit_outbox").run();
let jobs = 0;
async function submit(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    jobs += 1;
    const shards = random() < 0.6 ? 1 : 2 ** (1 + Math.floor(random() * 3));
    const project = Math.floor(random() * PROJECTS);
    const task = world.task(
      `job-${jobs}`,
      {
        minClients: shards,
        projectId: project === 0 ? "project-a" : `project-${project}`,
        estimatedMemoryMb: random() < 0.3 ? Math.floor(random() * 4) * 100 : null,
        timeLimitMs: random() < 0.5 ? 3_600_000 : null,
      },
      shards,
    );
    await kernel.submit(task);
    // Nobody takes the records: the kernel stops once they are old or many.
    if (n % 100 === 0) settle();
  }
}
const waiting = db.prepare("SELECT count(*) FROM jobs WHERE state = 'QUEUED'").pluck();
const waits = () => Number(waiting.get());
for (;;) {
  await submit(queued - waits());
  const before = waits();
  await scheduler.cycle();
  settle();
  if (waits() === before) break;
}
process.stderr.write(`${jobs} jobs, ${waits()} wait\n`);
const lag = monitorEventLoopDelay({ resolution: 1 });
const times: number[] = [];
for (let cycle = 1; cycle <= cycles; cycle += 1) {
  db.prepare("UPDATE nodes SET is_cordoned = 0 WHERE id = ?").run(`node-${cycle}`);
  await submit(queued - waits());
  settle();
  await new Promise((resolve) => setTimeout(resolve, 5));
  lag.enable();
  const from = performance.now();
  await scheduler.cycle();
  times.push(performance.now() - from);
  await new Promise((resolve) => setTimeout(resolve, 5));
  lag.disable();
}
/** A project is guaranteed what others hold, and asks for a node's workers: until it is decided and stored who makes way. */
async function timeReclaim(): Promise<number> {
  copy("projects", "id = 'project-a'", () => ({
    ...{ id: "project-entitled", is_default: 0, name: "entitled" },
  }));
  db.prepare("INSERT INTO shares (id, guarantee, changed_at) VALUES (?, ?, 1)").run(
    ...["project-entitled", JSON.stringify({ cpu: DEVICES })],
  );
  const told = db.prepare("SELECT count(*) FROM preemptions WHERE job_id = ?").pluck();
  const from = performance.now();
  const { id } = await kernel.submit(
    world.task("entitled", { projectId: "project-entitled", minClients: DEVICES }, DEVICES),
  );
  while (told.get(id) === 0) await scheduler.cycle();
  return performance.now() - from;
}
const reclaim = hasShares ? await timeReclaim() : null;

globalThis.gc?.();
process.stdout.write(
  `${JSON.stringify({
    ...{ nodes, queued, jobs, shares: hasShares, cycles },
    p50_ms: quantile(times, 0.5),
    p99_ms: quantile(times, 0.99),
    lag_p99_ms: lag.percentile(99) / 1e6,
    lag_most_ms: lag.max / 1e6,
    ...(reclaim === null ? {} : { reclaim_ms: reclaim }),
    rss_mb: process.memoryUsage.rss() / 2 ** 20,
  })}\n`,
);
