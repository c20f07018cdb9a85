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
import { describeLives } from "./shared-load/describe-lives.ts";
import { liveThrough, type Served } from "./shared-load/live-load.ts";
import { makeLoad } from "./shared-load/made-load.ts";

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

function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => first + at);
}

function round(value: number): number {
  return Number(value.toFixed(3));
}
