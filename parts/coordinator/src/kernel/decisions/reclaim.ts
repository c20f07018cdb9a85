/**
 * Who makes way for a gang that finds no workers. Two reasons alone: its project is guaranteed them, and others were lent them; or its class is above
 * that of gangs of its own project. Pure: the same facts name the same gangs.
 */
import type { RunningGang, WaitingGang } from "./placement-facts.ts";
import type { Amounts, ShareLedger } from "./shares.ts";

/** A job makes way so often in so long, and then no more. */
const MOST_PREEMPTIONS = 2;
const PREEMPTIONS_WINDOW_MS = 6 * 3_600_000;

export type ReclaimReason = "guarantee" | "class";

export type Reclaim = {
  reason: ReclaimReason;
  victims: RunningGang[];
};

/**
 * @param amounts workers that the gang would hold, by model
 * @param amountsOf of a running gang
 * @param fitsWith whether the gang finds its workers once these have made way, too
 * @returns the fewest that are found by leaving out, from the one that is to be spared most; null when nobody may be made to go, or it would not help
 */
export function chooseVictims(
  gang: Pick<WaitingGang, "job" | "project" | "priority">,
  amounts: Amounts,
  {
    running,
    ledger,
    now,
    amountsOf,
    fitsWith,
  }: {
    running: readonly RunningGang[];
    ledger: ShareLedger;
    now: number;
    amountsOf: (gang: RunningGang) => Amounts;
    fitsWith: (victims: readonly RunningGang[]) => boolean;
  },
): Reclaim | null {
  const may = running.filter(
    (one) => one.job !== gang.job && one.isPreemptible && wasSpared(one, now),
  );
  const below = may
    .filter((one) => one.project === gang.project && one.priority < gang.priority)
    .toSorted(compareVictims);
  const ofClass = fewest(below, fitsWith);
  if (ofClass !== null) return { reason: "class", victims: ofClass };
  if (!ledger.isGuaranteed(gang.project, amounts)) return null;
  const others = may.filter(({ project }) => project !== gang.project);
  const lent = fewest(borrowersAmong(others, ledger, amountsOf), fitsWith);
  return lent === null ? null : { reason: "guarantee", victims: lent };
}

/** In the order in which they would go: nobody's that would leave a project without what it is guaranteed. */
function borrowersAmong(
  running: readonly RunningGang[],
  ledger: ShareLedger,
  amountsOf: (gang: RunningGang) => Amounts,
): RunningGang[] {
  const excess = (one: RunningGang) => ledger.excess(one.project, amountsOf(one));
  const left = new Set(running);
  const gone: RunningGang[] = [];
  for (;;) {
    const [next] = [...left]
      .filter((one) => ledger.borrows(one.project, amountsOf(one)))
      .toSorted((a, b) => a.priority - b.priority || excess(b) - excess(a) || compareVictims(a, b));
    if (next === undefined) break;
    left.delete(next);
    gone.push(next);
    ledger.release(next.project, amountsOf(next));
  }
  for (const one of gone) ledger.hold(one.project, amountsOf(one));
  return gone;
}

function wasSpared({ preemptedAt }: RunningGang, now: number): boolean {
  return preemptedAt.filter((at) => now - at < PREEMPTIONS_WINDOW_MS).length < MOST_PREEMPTIONS;
}

/** The lowest class first, then who loses least, then the newest. */
function compareVictims(a: RunningGang, b: RunningGang): number {
  return (
    a.priority - b.priority ||
    b.committedAt - a.committedAt ||
    b.startedAt - a.startedAt ||
    (a.attempt < b.attempt ? -1 : 1)
  );
}

function fewest(
  candidates: readonly RunningGang[],
  fitsWith: (victims: readonly RunningGang[]) => boolean,
): RunningGang[] | null {
  if (candidates.length === 0 || !fitsWith(candidates)) return null;
  let count = 1;
  while (!fitsWith(candidates.slice(0, count))) count += 1;
  let victims = candidates.slice(0, count);
  for (const one of victims.toReversed()) {
    const others = victims.filter((other) => other !== one);
    if (others.length > 0 && fitsWith(others)) victims = others;
  }
  return victims;
}
