/**
 * The nine figures of the dashboard, and a tenth of its curves, on 10,000 jobs, 1,000 nodes of 8 GPUs and a log of 1,000,000 lines: the real coordinator
 * behind the real front door, with auditd, NATS and the object store, and Chromium. The driver stands in for the agents of the jobs that run.
 *
 * `npm run prove -- dashboard-figures [--hour] [--quarter] [FIGURE…]`. `--hour`: figure 4 lasts an hour, else 2 min. `--quarter`: figure 8 waits for the idle
 * limit as it ships, else for one of a minute. Needs root: it cuts connections, and audit-out's configuration must be root's.
 */
import { firstLoad } from "./dashboard/first-load.ts";
import type { Figure } from "./dashboard/figure.ts";
import { tenThousandJobs, thousandNodes } from "./dashboard/lists.ts";
import { type LiveJob, liveJob } from "./dashboard/live-job.ts";
import { longLife } from "./dashboard/long-life.ts";
import { millionLines } from "./dashboard/logs.ts";
import { manyCurves } from "./dashboard/many-curves.ts";
import { everyLook } from "./dashboard/looks.ts";
import { everyReason } from "./dashboard/reasons.ts";
import { rolesAndProofs } from "./dashboard/roles.ts";
import { idleAndForeign } from "./dashboard/sessions.ts";
import { World } from "./dashboard/world.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const SIZES = { jobs: 10_000, nodes: 1_000, lines: 1_000_000 };
const SCALED = { minutes: 2, idleS: 60 };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const wanted = args.filter((arg) => /^(?:[1-9]|10)$/.test(arg));
  const minutes = args.includes("--hour") ? 60 : SCALED.minutes;
  const idleS = args.includes("--quarter") ? 900 : SCALED.idleS;
  await using world = await World.open(SIZES, progress);
  using live = await liveJob(world, "node-live", "live");
  const figures: Record<string, Figure> = {};
  for (const [name, measure] of Object.entries(
    measures(world, live, { minutes, idleS }, progress),
  )) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    progress(`figure ${name}`);
    figures[name] = await measure().catch(unmeasured);
    const { met, measured } = figures[name];
    progress(`figure ${name}: ${met === true ? "met" : "MISSED"} ${JSON.stringify(measured)}`);
  }
  const missed = Object.keys(figures).filter((name) => figures[name]?.met !== true);
  return {
    ok: missed.length === 0,
    figures: { met: Object.keys(figures).length - missed.length, missed, ...figures },
  };
}

/** What can't be measured is missed, and hides no other figure. */
function unmeasured(error: unknown): Figure {
  const why = error instanceof Error ? error.message : String(error);
  return { goal: "to be measured", measured: { broke_off: why.slice(0, 300) }, met: false };
}

/** In this order: figure 6 ends the job that runs. */
function measures(
  world: World,
  live: LiveJob,
  { minutes, idleS }: { minutes: number; idleS: number },
  progress: (line: string) => void,
): Record<string, () => Promise<Figure>> {
  return {
    1: () => firstLoad(world),
    2: () => tenThousandJobs(world),
    3: () => thousandNodes(world),
    4: () => longLife(world, live, minutes, progress),
    5: () => millionLines(world, live, progress),
    6: () => everyReason(world, live),
    7: () => rolesAndProofs(world, progress),
    8: () => idleAndForeign(idleS, progress),
    9: () => everyLook(world, progress),
    10: () => manyCurves(world, live),
  };
}
