/** Which workers one member may hold together: so many of one model on one node. Pure. */
import type { WorkerSelection } from "../accepted-task.ts";
import { compareIds } from "./compare-ids.ts";
import type { PlacementWorker, WaitingGang } from "./placement-facts.ts";

/** What one member holds. */
export type Bundle = readonly PlacementWorker[];

type Wish = { selection: WorkerSelection; workersEach?: number };

/** How many members the gang has beside its hub. */
export function membersOfGang({
  size,
  workersEach = 1,
}: Pick<WaitingGang, "size" | "workersEach">) {
  return size / workersEach;
}

/** @returns the ids member by member, in their order */
export function memberByMember<T>(workers: readonly T[], each: number): T[][] {
  return Array.from({ length: Math.floor(workers.length / each) }, (_, at) =>
    workers.slice(at * each, (at + 1) * each),
  );
}

/**
 * The members that workers of one node could be: the better rank first, then the lowest id. Of pinned workers each member has those that were written for it.
 * @param workers of one node
 */
export function bundlesOf(
  { selection, workersEach: each = 1 }: Wish,
  workers: readonly PlacementWorker[],
  rank: (worker: PlacementWorker) => number,
): Bundle[] {
  const sorted = workers.toSorted((a, b) => rank(a) - rank(b) || compareIds(a.id, b.id));
  if (each === 1) return sorted.map((worker) => [worker]);
  if (selection.kind === "pinned") return pinnedBundles(selection.workerIds, sorted, each);
  return [...Map.groupBy(sorted, ({ model }) => model).values()]
    .flatMap((alike) => memberByMember(alike, each))
    .toSorted(([a], [b]) => rank(a!) - rank(b!) || compareIds(a!.id, b!.id));
}

/** How many members so many free workers of each model could be. @returns by rank, in no order */
export function bundleCounts(
  free: readonly (readonly [model: string, rank: number, count: number])[],
  each: number,
): [rank: number, count: number][] {
  // Most gangs: each worker is a member's.
  if (each === 1) return free.map(([, rank, count]) => [rank, count]);
  const models = new Map<string, [rank: number, count: number]>();
  for (const [model, rank, count] of free) {
    const known = models.get(model);
    if (known === undefined) models.set(model, [rank, count]);
    else known[1] += count;
  }
  return [...models.values()].flatMap(([rank, count]): [number, number][] =>
    count < each ? [] : [[rank, Math.floor(count / each)]],
  );
}

function pinnedBundles(
  ids: readonly string[],
  workers: readonly PlacementWorker[],
  each: number,
): Bundle[] {
  const byId = new Map(workers.map((worker) => [worker.id, worker]));
  return memberByMember(ids, each).flatMap((member) => {
    const held = member.flatMap((id) => byId.get(id) ?? []);
    const isWhole = held.length === each && held.every(({ model }) => model === held[0]!.model);
    return isWhole ? [held] : [];
  });
}
