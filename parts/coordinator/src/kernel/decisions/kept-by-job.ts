import type { PlacementWorker } from "./placement-facts.ts";

/** Workers that were taken back for a job, by that job. Most are kept for nobody. */
export function keptByJob(workers: readonly PlacementWorker[]): Map<string, PlacementWorker[]> {
  const kept = new Map<string, PlacementWorker[]>();
  for (const worker of workers) {
    const { keptFor = null } = worker;
    if (keptFor === null) continue;
    const ofJob = kept.get(keptFor);
    if (ofJob === undefined) kept.set(keptFor, [worker]);
    else ofJob.push(worker);
  }
  return kept;
}
