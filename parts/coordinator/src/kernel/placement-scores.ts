import type { ScoreFactor } from "@resontech/contracts/score-words";
import { compareIds } from "./decisions/compare-ids.ts";
import { priceFactorOf, productOf, scoreFactorsOf } from "./decisions/node-score.ts";
import { PlacementFleet } from "./decisions/placement-fleet.ts";
import type { PlacedWorker } from "./decisions/why-here.ts";
import { priceCents } from "./decisions/worker-filter.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { PlacementSnapshots } from "./placement-snapshots.ts";

/** Of one model on one node, as it is now. @property score the product of the factors */
export type NodeScoreView = { node: string; model: string; score: number; factors: ScoreFactor[] };

/** Of the places that would do so many are told, the best first. */
const MOST_TOLD = 16;

/** How good the places are that a job has, or could have, factor by factor. */
export class PlacementScores {
  readonly #tables: Pick<KernelTables, "jobs" | "workloads">;
  readonly #snapshots: Pick<PlacementSnapshots, "fleet" | "gangOf" | "standings">;

  constructor(
    tables: Pick<KernelTables, "jobs" | "workloads">,
    snapshots: Pick<PlacementSnapshots, "fleet" | "gangOf" | "standings">,
  ) {
    this.#tables = tables;
    this.#snapshots = snapshots;
  }

  /** Of those that would serve a job that waits whenever they are free, the best first. Nothing for a job that names its workers. */
  ofServing(jobId: string): NodeScoreView[] {
    const job = this.#tables.jobs.get(jobId);
    if (job === undefined || !this.#tables.workloads.has(job.kind)) return [];
    const { nodes, workers } = this.#snapshots.fleet();
    const gang = this.#snapshots.gangOf(job, { nodes });
    const serving = new PlacementFleet(nodes, workers, [gang])
      .judge(gang)
      .flatMap(({ worker, never }) => (never === null ? [worker] : []));
    const found = this.of(
      jobId,
      serving.map(({ id, node, model }) => ({ worker: id, node, model })),
    );
    return found
      .toSorted((a, b) => b.score - a.score || compareIds(a.node, b.node))
      .slice(0, MOST_TOLD);
  }

  /** Nothing for a job that names its workers: no score chose them. */
  of(jobId: string, placed: readonly PlacedWorker[]): NodeScoreView[] {
    const job = this.#tables.jobs.get(jobId);
    if (job === undefined || !this.#tables.workloads.has(job.kind)) return [];
    const { nodes, workers } = this.#snapshots.fleet();
    const gang = this.#snapshots.gangOf(job, { nodes });
    if (gang.selection.kind === "pinned") return [];
    const serving = new PlacementFleet(nodes, workers, [gang]).modelsFor(gang);
    const held = placed.map(({ model }) => model);
    const cheapest = Math.min(...[...serving, ...held].map(priceCents));
    const standings = this.#snapshots.standings();
    const places = new Map(placed.map((one) => [JSON.stringify([one.node, one.model]), one]));
    return [...places.values()].map(({ node, model }) => {
      // A node that has gone since: nobody knows anything of it.
      const standing = standings.get(node) ?? { uptime: null, load: null };
      const factors = scoreFactorsOf(standing, priceFactorOf(priceCents(model), cheapest));
      return { node, model, score: productOf(factors), factors };
    });
  }
}
