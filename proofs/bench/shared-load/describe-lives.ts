/** Who waited how long, how even it was, and how much of the fleet worked, over made hours. */
import { quantile } from "../../statistics.ts";
import type { Life } from "./live-load.ts";
import { FLEET, HOUR, PROJECT_IDS } from "./made-load.ts";

export function describeLives(lives: readonly Life[]): object {
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

function round(value: number): number {
  return Number(value.toFixed(3));
}
