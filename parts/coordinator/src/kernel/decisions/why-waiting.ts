/** Why one gang waits: what excludes each worker, which limit or guarantee binds, what comes first, and who holds what it could have. Pure. */
import type { RunningGang, WaitingGang } from "./placement-facts.ts";
import { PlacementFleet } from "./placement-fleet.ts";
import type { Snapshot } from "./placement.ts";
import { amountsOf, ShareLedger } from "./shares.ts";
import { findWithinLimits } from "./within-limits.ts";

/** How its project stands with it added; `unset` while nobody is guaranteed anything. */
export const GUARANTEE_STANDINGS = ["unset", "within", "beyond"] as const;

export type WhyWaiting = {
  /** Workers that it takes, all at once. */
  needs: number;
  /** For each member, of one model on one node. */
  needsEach: number;
  workers: number;
  /** Would do whenever they are free. */
  serving: number;
  /** Would do now. */
  fitNow: number;
  /** The first filter that excludes each of the others, the one that excludes most first. */
  excluded: { why: string; workers: number }[];
  /** The first limit on the way up that it would pass. */
  limit: { share: string; model: string; limit: number; held: number; isAlone: boolean } | null;
  guarantee: (typeof GUARANTEE_STANDINGS)[number];
  /** Jobs that have their turn before it, the first first. */
  ahead: string[];
  /** Those that hold a worker which would do. */
  holders: RunningGang[];
};

/**
 * @param running all that hold workers, whether shares are set or not
 * @param turns of the same snapshot, as {@link turnsInSteps} has them
 * @param leaving those that hold some still, and were asked to go
 * @returns null where the job waits for no workers
 */
export function whyWaiting(
  snapshot: Snapshot,
  {
    running,
    leaving = [],
    turns,
  }: {
    running: readonly RunningGang[];
    leaving?: readonly RunningGang[];
    turns: readonly string[];
  },
  job: string,
): WhyWaiting | null {
  const gang = snapshot.gangs.find((one) => one.job === job && !one.isFurther);
  if (gang === undefined) return null;
  const { nodes, workers, sharing, poolUse } = snapshot;
  const judged = new PlacementFleet(nodes, workers, [gang], poolUse).judge(gang);
  const serving = new Set(
    judged.flatMap(({ worker, never }) => (never === null ? [worker.id] : [])),
  );
  const excluded = [...Map.groupBy(judged, ({ why }) => why)]
    .flatMap(([why, { length }]) => (why === null ? [] : [{ why, workers: length }]))
    .toSorted((a, b) => b.workers - a.workers || (a.why < b.why ? -1 : 1));
  const models = new Map(workers.map((worker) => [worker.id, worker]));
  const ledger = new ShareLedger(sharing?.shares ?? [], amountsOf(workers), sharing?.used);
  for (const one of running)
    ledger.hold(one.project, amountsOf(one.workers.flatMap((id) => models.get(id) ?? [])));
  const { amounts: wanted, over } = wantedBy(snapshot, gang, ledger);
  return {
    ...{ needs: gang.size, needsEach: gang.workersEach ?? 1 },
    workers: workers.length,
    serving: serving.size,
    fitNow: judged.filter(({ why }) => why === null).length,
    excluded,
    limit:
      over === null
        ? null
        : {
            ...{ share: over.id, model: over.model, limit: over.limit },
            held: ledger.held(over.id)[over.model] ?? 0,
            isAlone: ledger.neverFits(gang.project, wanted),
          },
    guarantee: !ledger.isSet
      ? "unset"
      : ledger.isGuaranteed(gang.project, wanted)
        ? "within"
        : "beyond",
    ahead: turns.slice(0, Math.max(0, turns.indexOf(job))),
    holders: [...running, ...leaving].filter((one) => one.workers.some((id) => serving.has(id))),
  };
}

/** What it would be given of an empty fleet, within what its project may hold now; and the limit that it would pass with each of its models. */
function wantedBy({ nodes, workers }: Snapshot, gang: WaitingGang, ledger: ShareLedger) {
  const empty = workers.map((worker) => ({ ...worker, isFree: true, keptFor: null }));
  const fleet = new PlacementFleet(nodes, empty, [gang]);
  const find = (asked: WaitingGang) => fleet.find(asked, false);
  return findWithinLimits(gang, { fleet, ledger, find, demandOf: () => ({}) });
}
