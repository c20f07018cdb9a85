/** Whom a node lets in, by its pool and its calendar, as of one moment. Pure. */
import type { NodeGate, NodePool } from "./gate-facts.ts";
import type { PlacementNode, RunningGang, WaitingGang } from "./placement-facts.ts";
import { classOfPriority } from "./priorities.ts";

/** A gang that states no run time does not start so long before the node is wanted for something else. */
export const UNSTATED_RUN_MS = 60 * 60_000;
/** From its place until it runs a gang needs so long, and its own time counts from then. */
export const STARTS_WITHIN_MS = 5 * 60_000;

/** What a gate asks of a gang; one whose project is not told owns nothing. */
export type Entrant = Partial<
  Pick<WaitingGang, "project" | "priority" | "runsMs" | "before" | "pool">
>;

/** @returns why, as an end of "n …"; null when it is let in. Of another project no name is told */
export function whyNotLetIn(gang: Entrant, gate: NodeGate | undefined): string | null {
  const pool = gate?.pool ?? null;
  const named = gang.pool ?? null;
  if (named !== null && named !== pool?.id) return "outside the pool that the job names";
  if (gate === undefined) return null;
  return (pool === null ? null : whyNotInPool(gang, pool)) ?? whyClosed(gang, gate);
}

function whyNotInPool(gang: Entrant, pool: NodePool): string | null {
  const { project, lends, mostRunMs, classes } = pool;
  if (project !== null && project !== gang.project) {
    if (!lends) return "in a pool of another project";
    // One of several gangs of a job is never made to go.
    if (gang.before !== undefined)
      return "in a pool of another project that lends to jobs which can make way";
  }
  const runsMs = gang.runsMs ?? null;
  if (mostRunMs !== null && runsMs === null) return "in a pool for jobs with a time limit";
  if (mostRunMs !== null && runsMs! > mostRunMs)
    return `in a pool for jobs of at most ${Math.floor(mostRunMs / 60_000)} minutes`;
  if (classes !== null && !classes.some((one) => one === classOfPriority(gang.priority ?? NaN)))
    return "in a pool for other classes of jobs";
  return null;
}

function whyClosed(gang: Entrant, { at, closures }: NodeGate): string | null {
  const runsMs = gang.runsMs ?? null;
  const endsAt = at + (runsMs === null ? UNSTATED_RUN_MS : STARTS_WITHIN_MS + runsMs);
  for (const { project, from, until } of closures) {
    if (until <= at || endsAt <= from || (project !== null && project === gang.project)) continue;
    const isOpenStill = from > at;
    if (project !== null)
      return isOpenStill
        ? `reserved for another project from ${minuteOf(from)}`
        : `reserved for another project until ${minuteOf(until)}`;
    return isOpenStill
      ? `needed for maintenance from ${minuteOf(from)}`
      : `in maintenance until ${minuteOf(until)}`;
  }
  return null;
}

/** Whose the node is now: the project gets its workers back at once from whoever was let in. Null: nobody's alone. */
export function gateOwner(gate: NodeGate | undefined): string | null {
  if (gate === undefined) return null;
  const { at, closures, pool } = gate;
  const now = closures.filter(({ from, until }) => from <= at && at < until);
  if (now.some(({ project }) => project === null)) return null;
  return now[0]?.project ?? pool?.project ?? null;
}

/** The nodes as their calendars have them at another moment. */
export function nodesAt(nodes: readonly PlacementNode[], at: number): readonly PlacementNode[] {
  if (nodes.every(({ gate }) => gate === undefined)) return nodes;
  return nodes.map((node) =>
    node.gate === undefined ? node : { ...node, gate: { ...node.gate, at } },
  );
}

/** The nodes without their calendars, which end: of pools nothing changes by itself. */
export function nodesUnclosed(nodes: readonly PlacementNode[]): readonly PlacementNode[] {
  return nodes.map((node) => {
    const { gate } = node;
    if (gate === undefined) return node;
    return { ...node, gate: { ...gate, key: gate.pool?.id ?? "", at: 0, closures: [] } };
  });
}

/** Moments after `at` at which somebody may be let in who was not. */
export function openingsAfter(nodes: readonly PlacementNode[], at: number): number[] {
  const times = nodes.flatMap(({ gate }) => gate?.closures.map(({ until }) => until) ?? []);
  return [...new Set(times)].filter((time) => time > at);
}

/**
 * Gangs of others that hold workers of nodes which are the project's now. A limit on how often somebody makes way does not bind: they were let in as guests.
 * @param gateOf of a worker's node
 */
export function guestsOf(
  project: string,
  running: readonly RunningGang[],
  gateOf: (worker: string) => NodeGate | undefined,
): RunningGang[] {
  return running.filter(
    (gang) =>
      gang.project !== project &&
      gang.isPreemptible &&
      gang.workers.some((worker) => gateOwner(gateOf(worker)) === project),
  );
}

/** In UTC: people of several places read it. */
export function minuteOf(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
