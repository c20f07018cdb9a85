/** What no wait mends: a gang that would not fit if all were free, or that alone is more than its project may hold. Pure. */
import type { WaitingGang } from "./placement-facts.ts";
import { PlacementFleet } from "./placement-fleet.ts";
import { plan, type Snapshot } from "./placement.ts";
import type { Share } from "./shares.ts";

type Fleet = Pick<Snapshot, "nodes" | "workers">;

/** @returns why it would wait if all were free, as a sentence without its end; null where it would start */
export function whyNeverStarting({ nodes, workers }: Fleet, gang: WaitingGang): string | null {
  const empty = workers.map((worker) => ({ ...worker, isFree: true, keptFor: null }));
  const [waiting] = plan({ gangs: [gang], nodes, workers: empty }).waiting;
  if (waiting === undefined) return null;
  return workers.length === 0 ? "no node has joined yet" : waiting.why;
}

/** With nodes that are silent, or whose disk is full, at the moment: they come back. */
export function lastingFleet({ nodes, workers }: Fleet): Fleet {
  return { nodes: nodes.map((node) => ({ ...node, isReady: true, hasDisk: true })), workers };
}

/** Gangs of one shape start on the same fleets. */
export function shapeOf({
  job: _job,
  sequence: _sequence,
  project: _project,
  ...shape
}: WaitingGang): string {
  return JSON.stringify(shape);
}

/** A limit that a gang alone would pass, whichever workers it got. */
export type PassedLimit = { share: string; model: string; limit: number };

/** @returns null where some workers would do within the limits, or none would do at all */
export function limitPassedAlone(
  { nodes, workers }: Fleet,
  gang: WaitingGang,
  shares: readonly Share[],
): PassedLimit | null {
  const judged = new PlacementFleet(nodes, workers).judge(gang);
  const models = new Set(
    judged.flatMap(({ worker, never }) => (never === null ? [worker.model] : [])),
  );
  const limits = [...models].map((model) => lowestLimit(shares, gang.project, model));
  if (limits.length === 0 || limits.some((limit) => limit === null)) return null;
  const passed = limits as PassedLimit[];
  const most = passed.reduce((sum, { limit }) => sum + limit, 0);
  return gang.size <= most ? null : passed.toSorted((a, b) => b.limit - a.limit)[0]!;
}

/** Of the project and all that stands above it; null where none of them limits the model. */
function lowestLimit(shares: readonly Share[], project: string, model: string): PassedLimit | null {
  const byId = new Map(shares.map((share) => [share.id, share]));
  let lowest: PassedLimit | null = null;
  const seen = new Set<string>();
  for (
    let share = byId.get(project);
    share !== undefined && !seen.has(share.id);
    share = share.parent === null ? undefined : byId.get(share.parent)
  ) {
    seen.add(share.id);
    const limit = share.limit[model];
    if (limit !== undefined && (lowest === null || limit < lowest.limit))
      lowest = { share: share.id, model, limit };
  }
  return lowest;
}
