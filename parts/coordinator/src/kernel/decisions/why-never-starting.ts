/** What no wait mends: a gang that would not fit if all were free, or that alone is more than its project may hold. Pure. */
import { membersOfGang } from "./member-bundles.ts";
import type { WaitingGang } from "./placement-facts.ts";
import { nodesUnclosed } from "./node-gate.ts";
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

/** With nodes that are silent, or whose disk is full, or which are wanted for something else, at the moment: they come back. */
export function lastingFleet({ nodes, workers }: Fleet): Fleet {
  const lasting = nodesUnclosed(nodes).map((node) => ({ ...node, isReady: true, hasDisk: true }));
  return { nodes: lasting, workers };
}

/** A limit that a gang alone would pass, whichever workers it got. */
export type PassedLimit = { share: string; model: string; limit: number };

/**
 * @param limiting the project and all above it, as {@link limitingShares} has them
 * @returns null where some workers would do within the limits, or none would do at all
 */
export function limitPassedAlone(
  { nodes, workers }: Fleet,
  gang: WaitingGang,
  limiting: readonly Share[],
): PassedLimit | null {
  const judged = new PlacementFleet(nodesUnclosed(nodes), workers, [gang]).judge(gang);
  const models = new Set(
    judged.flatMap(({ worker, never }) => (never === null ? [worker.model] : [])),
  );
  const limits = [...models].map((model) => lowestLimit(limiting, model));
  if (limits.length === 0 || limits.some((limit) => limit === null)) return null;
  const passed = limits as PassedLimit[];
  const { workersEach: each = 1 } = gang;
  const most = passed.reduce((sum, { limit }) => sum + Math.floor(limit / each), 0);
  return membersOfGang(gang) <= most ? null : passed.toSorted((a, b) => b.limit - a.limit)[0]!;
}

/** From the project up, those that limit anything. */
export function limitingShares(shares: readonly Share[], project: string): Share[] {
  const byId = new Map(shares.map((share) => [share.id, share]));
  const path = new Set<Share>();
  for (
    let share = byId.get(project);
    share !== undefined && !path.has(share);
    share = share.parent === null ? undefined : byId.get(share.parent)
  )
    path.add(share);
  return [...path].filter(({ limit }) => Object.keys(limit).length > 0);
}

/** Null where none of them limits the model. */
function lowestLimit(shares: readonly Share[], model: string): PassedLimit | null {
  return shares
    .flatMap(({ id, limit }): PassedLimit[] => {
      const most = limit[model];
      return most === undefined ? [] : [{ share: id, model, limit: most }];
    })
    .reduce<PassedLimit | null>(
      (lowest, one) => (lowest === null || one.limit < lowest.limit ? one : lowest),
      null,
    );
}
