/**
 * Which workers a gang gets of those that would do: on one node where one has room, else on as few as do, the member that the others reach beside most
 * of them. Every tie is ended by an id. Pure.
 */
import type { WorkerSelection } from "../accepted-task.ts";
import { compareIds } from "./compare-ids.ts";
import type { PlacementWorker, WaitingGang } from "./placement-facts.ts";
import { priceCents } from "./worker-filter.ts";

/** Where a hub may be: with memory for it, and for members elsewhere a port. */
export type Homes = { ports: ReadonlyMap<string, number>; hasRoom: (node: string) => boolean };
export type Chosen = { home: string; workers: PlacementWorker[] };

/** Picks a gang's workers; null when there are too few. It is null, too, when none of their nodes has memory for the hub and, of several, can be reached by the others. */
export function choose(
  gang: WaitingGang,
  eligible: readonly PlacementWorker[],
  homes: Homes,
): Chosen | null {
  const rank = rankOf(gang.selection);
  const offers = [...Map.groupBy(eligible, ({ node }) => node).values()].map((workers) =>
    workers.toSorted((a, b) => rank(a) - rank(b) || compareIds(a.id, b.id)),
  );
  const ofHomes = offers.filter(([first]) => homes.hasRoom(first!.node));
  const whole = bestOf(ofHomes, gang.size, rank);
  const workers = whole ?? (gang.hubBytes === null ? null : gather(offers, gang.size, rank, homes));
  if (workers === null) return null;
  const { selection } = gang;
  return {
    home: homeOf(workers, homes),
    // Pinned: the i-th place goes to the i-th id as written.
    workers:
      selection.kind === "auto"
        ? workers
        : workers.toSorted(
            (a, b) => selection.workerIds.indexOf(a.id) - selection.workerIds.indexOf(b.id),
          ),
  };
}

type Rank = (worker: PlacementWorker) => number;
type Offer = readonly PlacementWorker[];

/** The best `count` workers that one node offers, of equals the node with the least to spare; null when none has as many. */
function bestOf(offers: readonly Offer[], count: number, rank: Rank): PlacementWorker[] | null {
  const best = offers
    .filter(({ length }) => length >= count)
    .toSorted(
      (a, b) => compareRanks(a, b, count, rank) || a.length - b.length || compareNodes(a, b),
    )[0];
  return best?.slice(0, count) ?? null;
}

/** Takes from the largest offer down, so that the gang lies on as few nodes as it can. The first node is one that others can reach. */
function gather(
  offers: readonly Offer[],
  count: number,
  rank: Rank,
  { ports, hasRoom }: Homes,
): PlacementWorker[] | null {
  const largestFirst = offers.toSorted(
    (a, b) => b.length - a.length || compareRanks(a, b, a.length, rank) || compareNodes(a, b),
  );
  const home = largestFirst.find(([first]) => hasPort(ports, first!.node) && hasRoom(first!.node));
  if (home === undefined) return null;
  const chosen = [...home];
  const others = largestFirst.filter((offer) => offer !== home);
  while (chosen.length < count) {
    const last = bestOf(others, count - chosen.length, rank);
    const next = last ?? others.shift();
    if (next === undefined) return null;
    chosen.push(...next);
  }
  return chosen;
}

/** The node with most of the gang, of those with memory for the hub that the others can reach. */
function homeOf(workers: readonly PlacementWorker[], { ports, hasRoom }: Homes): string {
  const groups = [...Map.groupBy(workers, ({ node }) => node)];
  const homes =
    groups.length === 1 ? groups : groups.filter(([node]) => hasPort(ports, node) && hasRoom(node));
  return homes.toSorted(
    ([a, mine], [b, theirs]) => theirs.length - mine.length || compareIds(a, b),
  )[0]![0];
}

export function hasPort(ports: ReadonlyMap<string, number>, node: string): boolean {
  return (ports.get(node) ?? 0) > 0;
}

/** Order of preference among the eligible: the user's models in their order, else the cheapest. */
export function rankOf(selection: WorkerSelection): Rank {
  if (selection.kind === "auto" && selection.gpuModels !== null) {
    const models = selection.gpuModels;
    return ({ model }) => models.indexOf(model);
  }
  return ({ model }) => priceCents(model);
}

/** Over the first `count` workers: worker by worker the better rank wins. */
function compareRanks(a: Offer, b: Offer, count: number, rank: Rank): number {
  for (let at = 0; at < count; at++) {
    const difference = rank(a[at]!) - rank(b[at]!);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareNodes(a: Offer, b: Offer): number {
  return compareIds(a[0]!.node, b[0]!.node);
}
