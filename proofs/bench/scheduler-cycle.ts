/**
 * What a cycle of the scheduler takes at three sizes of nodes × queued jobs, each node of eight workers, the fleet full, while jobs end and arrive: the pure
 * plan alone, and whole cycles on the real database, which read rows and write what is decided. With shares of fifty projects, and without. Each size in a
 * process of its own. Beside it the lag of the loop that answers requests meanwhile, memory, and how long it takes until somebody's making way for a guarantee is decided and stored.
 * Last what one doubling of nodes and jobs costs from each size to the next, and the largest size that a database was filled with.
 *
 * `npm run prove -- scheduler-cycle [SIZES] [SEED] [NODES]`, sizes as `100x1000,1000x10000`, and on a database those of at most so many nodes
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ProofContext, ProofResult } from "../proof.ts";

const SIZES = "100x1000,1000x10000,2000x20000,5000x100000";
/** @property p99 of one cycle, in milliseconds */
const GOALS: Readonly<Record<string, { p99: number }>> = {
  "100x1000": { p99: 5 },
  "1000x10000": { p99: 100 },
  "5000x100000": { p99: 1_000 },
};
const [GOAL_MB, GOAL_LAG_MS, GOAL_RECLAIM_MS] = [1_500, 50, 2_000];
const CYCLES = 60;
/** The database is filled by real submissions and placements, which takes long: larger ones are tried where they are asked for. */
const MOST_NODES_ON_DISK = 1_000;
const FOLDER = join(import.meta.dirname, "scheduler-cycle");
const run = promisify(execFile);

type Cycles = { p50_ms: number; p99_ms: number; rss_mb: number };
type OnDisk = Cycles & { lag_p99_ms: number; reclaim_ms?: number };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const seed = args[1] ?? String(Date.now() % 1_000_000);
  const mostOnDisk = Number(args[2] ?? MOST_NODES_ON_DISK);
  const figures: Record<string, { plan: Cycles; database?: OnDisk }> = {};
  const missed: string[] = [];
  const timed = async <T>(program: string, size: string, shares: string): Promise<T> => {
    const [nodes = "", queued = ""] = size.split("x");
    progress(`${program}, ${nodes} nodes and ${queued} jobs, ${shares} shares`);
    const file = join(FOLDER, `${program}.ts`);
    const given = [nodes, queued, String(CYCLES), seed, shares === "with" ? "shares" : "none"];
    const { stdout } = await run(process.execPath, ["--expose-gc", file, ...given]);
    return JSON.parse(stdout) as T;
  };
  const miss = (is: number, goal: number, what: string) => {
    if (is > goal) missed.push(`${what}: ${Math.round(is)}, and ${goal} is the goal`);
  };
  for (const size of (args[0] ?? SIZES).split(","))
    for (const shares of ["without", "with"]) {
      const name = `${size} ${shares} shares`;
      const pure = await timed<Cycles>("time-cycles", size, shares);
      const isOnDisk = Number(size.split("x")[0]) <= mostOnDisk;
      const disk = isOnDisk ? await timed<OnDisk>("time-database", size, shares) : null;
      figures[name] = { plan: pure, ...(disk === null ? {} : { database: disk }) };
      const goal = GOALS[size];
      if (goal !== undefined) miss(pure.p99_ms, goal.p99, `${name}, plan p99 in ms`);
      if (goal !== undefined && disk !== null)
        miss(disk.p99_ms, goal.p99, `${name}, whole cycle p99 in ms`);
      miss(Math.max(pure.rss_mb, disk?.rss_mb ?? 0), GOAL_MB, `${name}, memory in MB`);
      if (disk !== null) miss(disk.lag_p99_ms, GOAL_LAG_MS, `${name}, lag of the loop p99 in ms`);
      if (disk?.reclaim_ms !== undefined)
        miss(disk.reclaim_ms, GOAL_RECLAIM_MS, `${name}, a guarantee's wait in ms`);
    }
  const growth = Object.fromEntries(
    ["without", "with"].map((shares) => [`${shares} shares`, growthOf(figures, shares)]),
  );
  const [largest = null] = Object.keys(figures)
    .filter((name) => figures[name]!.database !== undefined)
    .map((name) => name.split(" ")[0]!)
    .toSorted((a, b) => nodesOf(b) - nodesOf(a));
  return {
    ok: missed.length === 0,
    figures: {
      ...{ seed: Number(seed), sizes: figures, largest_on_database: largest },
      ...{ growth_per_doubling: growth, missed },
    },
  };
}

/** By which each figure grows while nodes and jobs double, from each size to the next larger one: 2 is in proportion. */
function growthOf(
  figures: Readonly<Record<string, { plan: Cycles; database?: OnDisk }>>,
  shares: string,
): Record<string, object> {
  const rows = Object.entries(figures)
    .filter(([name]) => name.endsWith(` ${shares} shares`))
    .toSorted(([a], [b]) => nodesOf(a) - nodesOf(b));
  return Object.fromEntries(
    rows.slice(1).map(([name, to], at) => {
      const [before, from] = rows[at]!;
      const doublings = Math.log2(nodesOf(name) / nodesOf(before));
      const by = (a: number, b: number) => Number(((b / a) ** (1 / doublings)).toFixed(2));
      const grown = (a: Cycles, b: Cycles) => ({
        ...{ p50: by(a.p50_ms, b.p50_ms), p99: by(a.p99_ms, b.p99_ms) },
        memory: by(a.rss_mb, b.rss_mb),
      });
      const onDisk =
        from.database === undefined || to.database === undefined
          ? {}
          : { database: grown(from.database, to.database) };
      return [
        `${before.split(" ")[0]} to ${name.split(" ")[0]}`,
        { plan: grown(from.plan, to.plan), ...onDisk },
      ];
    }),
  );
}

function nodesOf(name: string): number {
  return Number(name.split("x")[0]);
}
