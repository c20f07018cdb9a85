/**
 * What a cycle of the scheduler takes at three sizes of nodes × queued jobs, each node of eight workers, the fleet full, while jobs end and arrive: the pure
 * plan alone, and whole cycles on the real database, which read rows and write what is decided. With shares of fifty projects, and without. Each size in a
 * process of its own. Beside it the lag of the loop that answers requests meanwhile, memory, and how long it takes until somebody's making way for a guarantee is decided and stored.
 *
 * `npm run prove -- scheduler-cycle [SIZES] [SEED]`, sizes as `100x1000,1000x10000`
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
/** The database is filled by real submissions and placements, which takes long: the largest size was not tried. */
const MOST_NODES_ON_DISK = 1_000;
const FOLDER = join(import.meta.dirname, "scheduler-cycle");
const run = promisify(execFile);

type Cycles = { p50_ms: number; p99_ms: number; rss_mb: number };
type OnDisk = Cycles & { lag_p99_ms: number; reclaim_ms?: number };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const seed = args[1] ?? String(Date.now() % 1_000_000);
  const figures: Record<string, object> = {};
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
      const isOnDisk = Number(size.split("x")[0]) <= MOST_NODES_ON_DISK;
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
  return { ok: missed.length === 0, figures: { seed: Number(seed), sizes: figures, missed } };
}
