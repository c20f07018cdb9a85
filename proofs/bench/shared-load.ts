/**
 * A made hour of six projects on sixty-four devices: who waits how long, how even it is, and how much of the fleet works, by shares and in order of arrival.
 * And whether jobs start when they are expected to: within 60 s or 20 % of the wait, where jobs end as they state, and where they state up to half too much.
 * Seeds from 101 on are those that expectations were tuned on; the proof's own judge.
 *
 * `npm run prove -- shared-load [SEEDS [SEED]]`
 */
import type { ExpectedStart } from "@resontech/coordinator/expected-starts";
import type { ProofContext, ProofResult } from "../proof.ts";
import { quantile } from "../statistics.ts";
import { type Life, liveThrough, type Served } from "./shared-load/live-load.ts";
import { FLEET, HOUR, makeLoad, PROJECT_IDS } from "./shared-load/made-load.ts";

const [SEEDS, LOAD, GOAL_PART] = [5, 1.1, 0.8];
const NEAR = { ms: 60_000, part: 0.2 };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const [seeds = SEEDS, first = 1] = args.map(Number);
  const figures: Record<string, object> = {};
  for (const by of ["shares", "arrival"] as const) {
    const lives = range(first, seeds).map((seed) => {
      progress(`${by}, seed ${seed}`);
      return liveThrough(makeLoad(seed, LOAD, 0.5), { by, isAsked: false });
    });
    figures[by] = describeLives(lives);
  }
  const near: Record<string, number> = {};
  for (const by of ["shares", "arrival"] as const)
    for (const overstated of [0, 0.5]) {
      const name = `expected by ${by}, overstated by ${overstated}`;
      const served = range(first, seeds).flatMap((seed) => {
        progress(`${name}, seed ${seed}`);
        return liveThrough(makeLoad(seed, LOAD, overstated), { by, isAsked: true }).served;
      });
      // Whoever waited, and started within the hour. Who was told no time was told nothing that is near.
      const asked = served.filter(({ told, waitMs }) => told !== null && waitMs !== null);
      near[name] = round(asked.filter(isNear).length / asked.length);
      const told = asked.filter(isTold);
      const ranged = told.filter(({ told: { range } }) => range !== undefined);
      figures[name] = {
        ...{ jobs: asked.length, untold: asked.length - told.length, near_part: near[name] },
        told_as_range: ranged.length,
        within_range_part: round(ranged.filter(isWithin).length / ranged.length),
        late_p10_s: round(quantile(told.map(lateBy), 0.1) / 1_000),
        late_p50_s: round(quantile(told.map(lateBy), 0.5) / 1_000),
        late_p90_s: round(quantile(told.map(lateBy), 0.9) / 1_000),
      };
    }
  const missed = Object.entries(near).flatMap(([name, part]) =>
    part < GOAL_PART ? [`${name}: ${part} start as expected, and ${GOAL_PART} is the goal`] : [],
  );
  return { ok: missed.length === 0, figures: { seeds, load: LOAD, ...figures, missed } };
}

type Told = Served & { waitMs: number; told: Extract<ExpectedStart, { at: number }> };

function isTold(served: Served): served is Told {
  return served.waitMs !== null && served.told !== null && served.told.at !== null;
}

function isNear(served: Served): boolean {
  if (!isTold(served)) return false;
  const error = Math.abs(lateBy(served));
  return error <= NEAR.ms || error <= NEAR.part * served.waitMs;
}

/** Below 0: it started before. */
function lateBy({ job, waitMs, told }: Told): number {
  return job.at + waitMs - told.at;
}

function isWithin({ job, waitMs, told: { range } }: Told): boolean {
  const start = job.at + waitMs;
  return range!.from <= start && start <= (range!.until ?? Infinity);
}

function describeLives(lives: readonly Life[]): object {
  const served = lives.flatMap((life) => life.served);
  const holdings = lives.flatMap((life) => life.holdings);
  const usedMs = (project?: string) =>
    holdings
      .filter((holding) => project === undefined || holding.project === project)
      .reduce((sum, { from, until }) => sum + Math.min(HOUR, until ?? HOUR) - from, 0);
  const projects = PROJECT_IDS.map((id) => {
    const jobs = served.filter(({ job }) => job.project === id);
    const askedMs = jobs.reduce((sum, { job }) => sum + job.size * job.runsMs, 0);
    const waits = jobs.map(({ job, waitMs }) => waitMs ?? HOUR - job.at);
    return {
      ...{ id, jobs: jobs.length, part_served: round(usedMs(id) / askedMs) },
      wait_p50_s: round(quantile(waits, 0.5) / 1_000),
      wait_p95_s: round(quantile(waits, 0.95) / 1_000),
    };
  });
  const parts = projects.map((project) => project.part_served);
  return {
    projects,
    // Jain, Chiu and Hawe, DEC-TR-301 (1984): 1 where each project is served the same part of what it asks for.
    jain: round(
      parts.reduce((a, b) => a + b, 0) ** 2 /
        (parts.length * parts.reduce((sum, part) => sum + part * part, 0)),
    ),
    utilisation: round(usedMs() / (lives.length * HOUR * FLEET.nodes * FLEET.devices)),
    preemptions: lives.reduce((sum, life) => sum + life.preemptions, 0),
  };
}

function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => first + at);
}

function round(value: number): number {
  return Number(value.toFixed(3));
}
