/**
 * Which workers a gang gets of those that would do: on one node where one has room, else on as few as do, the member that the others reach beside most
 * of them. What one member holds lies on one node. Every tie is ended by an id. Pure.
 */
import type { WorkerSelection } from "../accepted-task.ts";
import { compareIds } from "./compare-ids.ts";
import { type Bundle, bundlesOf, membersOfGang } from "./member-bundles.ts";
import type { PlacementWorker, WaitingGang } from "./placement-facts.ts";
import { priceFactorOf } from "./node-score.ts";
import { priceCents } from "./worker-filter.ts";

/** Where a hub may be: with memory for it, and for members elsewhere a port. */
export type Homes = {
  ports: ReadonlyMap<string, number>;
  hasRoom: (node: string) => boolean;
  scoreOf: ScoreOf;
};
/** Of a node, from above 0 to 1. */
export type ScoreOf = (node: string) => number;
export type Chosen = { home: string; workers: PlacementWorker[] };

/** Picks a gang's workers; null when there are too few. It is null, too, when none of their nodes has memory for the hub and, of several, can be reached by the others. */
export function choose(
  gang: WaitingGang,
  eligible: readonly PlacementWorker[],
  homes: Homes,
): Chosen | null {
  if (eligible.length < gang.size) return null;
  const rank = scoredRankOf(gang.selection, homes.scoreOf);
  const offers: Offer[] = [];
  // A gang that lies on one node is looked for where there are enough, and nothing is sorted elsewhere.
  for (const [node, workers] of Map.groupBy(eligible, (worker) => worker.node))
    if (gang.hubBytes !== null || workers.length >= gang.size)
      offers.push({ node, spare: workers.length, bundles: bundlesOf(gang, workers, rank) });
  const ofHomes = offers.filter(({ node }) => homes.hasRoom(node));
  const members = membersOfGang(gang);
  const whole = bestOf(ofHomes, members, rank);
  const bundles = whole ?? (gang.hubBytes === null ? null : gather(offers, members, rank, homes));
  const workers = bundles?.flat() ?? null;
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
/** What one node offers. @property spare of its workers that would do, how many there are */
type Offer = { node: string; bundles: readonly Bundle[]; spare: number };

/** The best `count` members that one node offers, of equals the node with the least to spare; null when none has room for as many. */
function bestOf(offers: readonly Offer[], count: number, rank: Rank): Bundle[] | null {
  const best = offers
    .filter(({ bundles }) => bundles.length >= count)
    .toSorted(
      (a, b) => compareRanks(a, b, count, rank) || a.spare - b.spare || compareNodes(a, b),
    )[0];
  return best?.bundles.slice(0, count) ?? null;
}

/** Takes from the largest offer down, so that the gang lies on as few nodes as it can. The first node is one that others can reach. */
function gather(
  offers: readonly Offer[],
  count: number,
  rank: Rank,
  { ports, hasRoom }: Homes,
): Bundle[] | null {
  const largestFirst = offers
    .filter(({ bundles }) => bundles.length > 0)
    .toSorted(
      (a, b) =>
        b.bundles.length - a.bundles.length ||
        compareRanks(a, b, a.bundles.length, rank) ||
        compareNodes(a, b),
    );
  const home = largestFirst.find(({ node }) => hasPort(ports, node) && hasRoom(node));
  if (home === undefined) return null;
  const chosen = [...home.bundles];
  const others = largestFirst.filter((offer) => offer !== home);
  while (chosen.length < count) {
    const last = bestOf(others, count - chosen.length, rank);
    const next = last ?? others.shift()?.bundles;
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

/** The same with the nodes' scores: the user's models in their order, then the better score; else the better score, price included. Less is better. */
export function scoredRankOf(selection: WorkerSelection, scoreOf: ScoreOf): Rank {
  const rank = rankOf(selection);
  if (selection.kind === "auto" && selection.gpuModels !== null)
    // A score is above 0, so that no node is worth the next model.
    return (worker) => rank(worker) + 1 - scoreOf(worker.node);
  // Against the cheapest or against a cent: that is the same order.
  return (worker) => 1 / (priceFactorOf(rank(worker), 1) * scoreOf(worker.node));
}

/** Over the first `count` members: member by member the better rank wins. */
function compareRanks(a: Offer, b: Offer, count: number, rank: Rank): number {
  for (let at = 0; at < count; at++) {
    const difference = rank(a.bundles[at]![0]!) - rank(b.bundles[at]![0]!);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareNodes(a: Offer, b: Offer): number {
  return compareIds(a.node, b.node);
}
