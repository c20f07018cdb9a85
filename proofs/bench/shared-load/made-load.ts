/** An hour of jobs of six projects, drawn by a seed: three are guaranteed a quarter of the fleet each, one of the others asks for as much as all together. */
import type { Share } from "@resontech/coordinator/shares";
import { seededRandom } from "@resontech/house/seeded-random";

const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

export const FLEET = { nodes: 8, devices: 8, model: "NVIDIA H100 80GB HBM3" };
const DEVICES = FLEET.nodes * FLEET.devices;

/** @property part of all that is asked for */
const PROJECTS: readonly { id: string; part: number; guarantee: number }[] = [
  { id: "sure-1", part: 0.15, guarantee: 16 },
  { id: "sure-2", part: 0.15, guarantee: 16 },
  { id: "sure-3", part: 0.1, guarantee: 16 },
  { id: "greedy", part: 0.45, guarantee: 0 },
  { id: "modest-1", part: 0.1, guarantee: 0 },
  { id: "modest-2", part: 0.05, guarantee: 0 },
];
export const PROJECT_IDS = PROJECTS.map(({ id }) => id);

export const SHARES: readonly Share[] = PROJECTS.map(({ id, guarantee }) => ({
  ...{ id, parent: null, limit: {}, weight: 1 },
  guarantee: guarantee === 0 ? {} : { [FLEET.model]: guarantee },
}));

/** @property runsMs what it takes @property statedMs what it states, no less @property isSpread it may lie on several nodes */
export type MadeJob = {
  job: string;
  project: string;
  at: number;
  size: number;
  isSpread: boolean;
  runsMs: number;
  statedMs: number;
};

/**
 * @param load what is asked for, as a part of all that the fleet has in the hour
 * @param overstated by how much of its run time a job may state too much, at the most
 */
export function makeLoad(seed: number, load: number, overstated: number): MadeJob[] {
  const random = seededRandom(seed);
  const jobs: MadeJob[] = [];
  for (const { id, part } of PROJECTS) {
    let asked = 0;
    while (asked < part * load * DEVICES * HOUR) {
      const kind = random();
      const size = kind < 0.55 ? 1 : kind < 0.75 ? 2 : kind < 0.87 ? 4 : kind < 0.95 ? 8 : 12;
      // Most are short: half of them end within two minutes, a few take half an hour.
      const runsMs = Math.min(30 * MINUTE, Math.exp(gaussian(random)) * 2 * MINUTE);
      asked += size * runsMs;
      jobs.push({
        ...{ job: "", project: id, at: random() * HOUR, size, isSpread: size > FLEET.devices },
        ...{ runsMs, statedMs: runsMs * (1 + random() * overstated) },
      });
    }
  }
  return jobs
    .toSorted((a, b) => a.at - b.at)
    .map((job, at) => ({ ...job, job: `job-${String(at).padStart(5, "0")}` }));
}

/** Box and Muller. */
function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
