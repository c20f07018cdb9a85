/**
 * `snapshot → plan`, pure: which waiting jobs get which workers now, and why the others don't. A gang is placed wholly or not at
 * all, on one node (members of an attempt on different nodes come with the bridge between agents). Jobs in order of arrival,
 * nodes by what they offer, every tie ended by an id: the same snapshot gives the same plan.
 */
import { catalogueModel } from "@resontech/contracts/gpu-catalogue";
import type { WorkerSelection } from "../accepted-task.ts";

export type WaitingJob = {
  id: string;
  sequence: number;
  userId: string;
  shards: number;
  selection: WorkerSelection;
  onlyMine: boolean;
  estimatedMemoryMb: number | null;
  avoidNodes: readonly string[];
};
export type PlacementNode = { id: string; ownerId: string | null; isReady: boolean; isCordoned: boolean };
export type PlacementWorker = {
  id: string;
  node: string;
  model: string;
  memoryBytes: number;
  isHealthy: boolean;
  isFree: boolean;
};
export type Snapshot = {
  jobs: readonly WaitingJob[];
  nodes: readonly PlacementNode[];
  workers: readonly PlacementWorker[];
};

/** `workers` index by index with the shards; the server is placed on `node` beside them. */
export type Placement = { job: string; node: string; workers: string[] };
export type Plan = { placements: Placement[]; waiting: { job: string; why: string }[] };

const MIB = 1024 ** 2;

export function priceCents(model: string): number {
  return catalogueModel(model)?.pricePerGpuHourCents ?? 0;
}

export function plan({ jobs, nodes, workers }: Snapshot): Plan {
  const nodesById = new Map(nodes.map((node) => [node.id, node]));
  const taken = new Set<string>();
  const placements: Placement[] = [];
  const waiting: Plan["waiting"] = [];
  for (const job of jobs.toSorted((a, b) => a.sequence - b.sequence)) {
    const fits = workers.map((worker) => ({ worker, why: whyNeverNow(job, worker, nodesById.get(worker.node)) }));
    const avoided = avoidedNodes(job, fits);
    const judged = fits.map(({ worker, why }) => ({
      worker,
      why:
        why ?? (avoided.has(worker.node) ? "on nodes where the job has failed" : null) ?? (isBusy(worker, taken) ? "busy" : null),
    }));
    const eligible = judged.filter(({ why }) => why === null).map(({ worker }) => worker);
    const chosen = choose(job, eligible);
    if (chosen === null) {
      waiting.push({ job: job.id, why: explain(job, eligible.length, judged) });
      continue;
    }
    for (const { id } of chosen) taken.add(id);
    placements.push({ job: job.id, node: chosen[0]!.node, workers: chosen.map(({ id }) => id) });
  }
  return { placements, waiting };
}

/** The first filter that excludes a worker even when it is free, as an end of "n …"; null when it may serve. */
function whyNeverNow(job: WaitingJob, worker: PlacementWorker, node: PlacementNode | undefined): string | null {
  const { selection } = job;
  if (selection.kind === "pinned" && !selection.workerIds.includes(worker.id)) return "not among the pinned workers";
  if (selection.kind === "auto") {
    if (selection.gpuModels !== null && !selection.gpuModels.includes(worker.model)) return "of other models";
    if (selection.maxPriceCents !== null && priceCents(worker.model) > selection.maxPriceCents) return "above the price ceiling";
  }
  if (job.onlyMine && node?.ownerId !== null && node?.ownerId !== job.userId) return "of other owners";
  if (job.estimatedMemoryMb !== null && worker.memoryBytes < job.estimatedMemoryMb * MIB) return "with too little memory";
  if (node === undefined || !node.isReady) return "on nodes that do not answer";
  if (node.isCordoned) return "on cordoned nodes";
  if (!worker.isHealthy) return "unhealthy or quarantined";
  return null;
}

function isBusy(worker: PlacementWorker, taken: ReadonlySet<string>): boolean {
  return !worker.isFree || taken.has(worker.id);
}

/** Nodes that failed the job are left alone as long as another one could take it, if only later. */
function avoidedNodes(job: WaitingJob, fits: readonly { worker: PlacementWorker; why: string | null }[]): ReadonlySet<string> {
  const avoid = new Set(job.avoidNodes);
  const fitting = fits.filter(({ why, worker }) => why === null && !avoid.has(worker.node));
  const couldGoElsewhere = [...Map.groupBy(fitting, ({ worker }) => worker.node).values()].some(
    ({ length }) => length >= job.shards,
  );
  return couldGoElsewhere ? avoid : new Set();
}

function choose(job: WaitingJob, eligible: readonly PlacementWorker[]): PlacementWorker[] | null {
  const rank = rankOf(job.selection);
  const byNode = Map.groupBy(eligible, ({ node }) => node);
  const offers = [...byNode.values()]
    .map((workers) => workers.toSorted((a, b) => rank(a) - rank(b) || compareIds(a.id, b.id)).slice(0, job.shards))
    .filter((workers) => workers.length === job.shards);
  const [best] = offers.sort((a, b) => compareOffers(a, b, rank));
  if (best === undefined) return null;
  const { selection } = job;
  if (selection.kind === "auto") return best;
  // Pinned: shard i goes to the i-th id as written.
  return best.toSorted((a, b) => selection.workerIds.indexOf(a.id) - selection.workerIds.indexOf(b.id));
}

/** Order of preference among the eligible: the user's models in their order, else the cheapest. */
function rankOf(selection: WorkerSelection): (worker: PlacementWorker) => number {
  if (selection.kind === "auto" && selection.gpuModels !== null) {
    const models = selection.gpuModels;
    return ({ model }) => models.indexOf(model);
  }
  return ({ model }) => priceCents(model);
}

/** Worker by worker the better rank wins, then the node's id. */
function compareOffers(
  a: readonly PlacementWorker[],
  b: readonly PlacementWorker[],
  rank: (worker: PlacementWorker) => number,
): number {
  for (const [at, worker] of a.entries()) {
    const difference = rank(worker) - rank(b[at]!);
    if (difference !== 0) return difference;
  }
  return compareIds(a[0]!.node, b[0]!.node);
}

/** `node-2` before `node-10`. */
function compareIds(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true }) || (a < b ? -1 : a > b ? 1 : 0);
}

function explain(job: WaitingJob, eligible: number, judged: readonly { why: string | null }[]): string {
  const counts = [...Map.groupBy(judged, ({ why }) => why)]
    .filter(([why]) => why !== null)
    .map(([why, { length }]) => `${length} ${why}`)
    .sort();
  const excluded = counts.length === 0 ? "" : `; excluded: ${counts.join(", ")}`;
  return `needs ${job.shards} workers of one node; ${eligible} of ${judged.length} would do now${excluded}`;
}
