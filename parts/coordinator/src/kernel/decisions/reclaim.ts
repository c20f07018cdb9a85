/**
 * Who makes way for a gang that finds no workers. Two reasons alone: its project is guaranteed them, and others were lent them; or its class is above
 * that of gangs of its own project. Pure: the same facts name the same gangs.
 */
import { compareIds } from "./compare-ids.ts";
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

/** Gangs of one project that hold alike: by shares they are one another's equals. */
export type HolderRow = { project: string; amounts: Amounts };
/** A gang that holds workers, and may be made to go. */
export type Holder = { gang: RunningGang; row: HolderRow };

export function mayGo({ isPreemptible, preemptedAt }: RunningGang, now: number): boolean {
  if (!isPreemptible || preemptedAt.length < MOST_PREEMPTIONS) return isPreemptible;
  return preemptedAt.filter((at) => now - at < PREEMPTIONS_WINDOW_MS).length < MOST_PREEMPTIONS;
}

/**
 * Those of the gang's own project and of a lower class that make way for it.
 * @param fitsWith whether the gang finds its workers once these have made way, too: more of them never make it worse
 * @returns the fewest that are found by leaving out, from the one that is to be spared most; null when it would not help
 */
export function chooseLower(
  gang: Pick<WaitingGang, "project" | "priority">,
  holders: readonly Holder[],
  fitsWith: FitsWith,
): Reclaim | null {
  const below = holders
    .map((holder) => holder.gang)
    .filter((one) => one.project === gang.project && one.priority < gang.priority)
    .toSorted((a, b) => compareVictims(a, b, ({ priority }) => priority));
  const victims = fewest(below, fitsWith);
  return victims === null ? null : { reason: "class", victims };
}

/**
 * Those that were lent what the gang's project is guaranteed. They are asked in their order first. That may spend what a project has to give back on gangs
 * that don't help, so those of one node are asked by themselves then, each of them first.
 * @param mayFitWith false: it fits with no part of these
 * @param fitsWith as with {@link chooseLower}
 * @param nodesOf on which nodes the gang would have workers of a holder
 * @returns null when nobody may be made to go, or it would not help
 */
export function chooseBorrowers(
  project: string,
  holders: readonly Holder[],
  {
    ledger,
    mayFitWith,
    fitsWith,
    nodesOf,
  }: {
    ledger: ShareLedger;
    mayFitWith: FitsWith;
    fitsWith: FitsWith;
    nodesOf: (holder: RunningGang) => Iterable<string>;
  },
): Reclaim | null {
  // Who goes makes no other a borrower: whoever is none now stays.
  const borrows = new Map<HolderRow, boolean>();
  const borrowers = holders.filter(({ row }) => {
    if (row.project === project) return false;
    let does = borrows.get(row);
    if (does === undefined) borrows.set(row, (does = ledger.borrows(row.project, row.amounts)));
    return does;
  });
  if (!mayFitWith(borrowers.map((holder) => holder.gang))) return null;
  const inOrder = fewestOf(borrowersAmong(borrowers, ledger), fitsWith);
  if (inOrder !== null) return { reason: "guarantee", victims: inOrder };
  const onNodes = new Map<string, Holder[]>();
  for (const holder of borrowers)
    for (const node of nodesOf(holder.gang)) {
      const on = onNodes.get(node);
      if (on === undefined) onNodes.set(node, [holder]);
      else if (on.at(-1) !== holder) on.push(holder);
    }
  for (const [, on] of [...onNodes].toSorted(([a], [b]) => compareIds(a, b))) {
    if (!mayFitWith(on.map((holder) => holder.gang))) continue;
    for (const first of on.toSorted((a, b) => compareVictims(a.gang, b.gang))) {
      const victims = fewestOf(borrowersAmong(on, ledger, first), fitsWith);
      if (victims !== null) return { reason: "guarantee", victims };
    }
  }
  return null;
}

type FitsWith = (victims: readonly RunningGang[]) => boolean;

/**
 * In the order in which they would go: nobody's that would leave a project without what it is guaranteed. The ledger is as before once it is returned.
 * @param first goes before all others
 */
function* borrowersAmong(
  holders: readonly Holder[],
  ledger: ShareLedger,
  first: Holder | null = null,
): Generator<RunningGang, void> {
  const rows = [...Map.groupBy(holders, ({ row }) => row)].map(([{ amounts, project }, row]) => ({
    ...{ amounts, project, next: 0 },
    gangs: row
      .map(({ gang }) => gang)
      .toSorted(
        (a, b) => Number(b === first?.gang) - Number(a === first?.gang) || compareVictims(a, b),
      ),
  }));
  type Row = (typeof rows)[number];
  const released: Row[] = [];
  const comesBefore = (a: Row, b: Row) => {
    const [one, other] = [a.gangs[a.next]!, b.gangs[b.next]!];
    if (one === first?.gang || other === first?.gang) return one === first?.gang;
    const difference =
      lentPriorityOf(one) - lentPriorityOf(other) ||
      ledger.excess(b.project, b.amounts) - ledger.excess(a.project, a.amounts) ||
      compareVictims(one, other);
    return difference < 0;
  };
  try {
    for (;;) {
      let best: Row | null = null;
      for (const row of rows)
        if (row.next < row.gangs.length && ledger.borrows(row.project, row.amounts))
          if (best === null || comesBefore(row, best)) best = row;
      if (best === null) return;
      const next = best.gangs[best.next]!;
      best.next += 1;
      released.push(best);
      ledger.release(best.project, best.amounts);
      yield next;
    }
  } finally {
    for (const { project, amounts } of released) ledger.hold(project, amounts);
  }
}

/** As {@link fewest}, asking for no more candidates than twice those that it takes. */
function fewestOf(
  candidates: Iterable<RunningGang>,
  fitsWith: (victims: readonly RunningGang[]) => boolean,
): RunningGang[] | null {
  const seen: RunningGang[] = [];
  let asked = 1;
  for (const one of candidates) {
    seen.push(one);
    if (seen.length < asked) continue;
    if (fitsWith(seen)) break;
    asked *= 2;
  }
  return fewest(seen, fitsWith);
}

function lentPriorityOf({ priority, lentPriority = priority }: RunningGang): number {
  return lentPriority;
}

/** The lowest class first, then who loses least, then the newest. */
export function compareVictims(
  a: RunningGang,
  b: RunningGang,
  priorityOf: (gang: RunningGang) => number = lentPriorityOf,
): number {
  return (
    priorityOf(a) - priorityOf(b) ||
    b.committedAt - a.committedAt ||
    b.startedAt - a.startedAt ||
    (a.attempt < b.attempt ? -1 : 1)
  );
}

/** The fewest in their order that are enough, without those that are to be spared; null where all are not enough. */
export function fewest(
  candidates: readonly RunningGang[],
  fitsWith: (victims: readonly RunningGang[]) => boolean,
): RunningGang[] | null {
  if (candidates.length === 0 || !fitsWith(candidates)) return null;
  let [tooFew, enough] = [0, candidates.length];
  while (enough - tooFew > 1) {
    const middle = (tooFew + enough) >> 1;
    if (fitsWith(candidates.slice(0, middle))) enough = middle;
    else tooFew = middle;
  }
  let victims = candidates.slice(0, enough);
  for (const one of victims.toReversed()) {
    const others = victims.filter((other) => other !== one);
    if (others.length > 0 && fitsWith(others)) victims = others;
  }
  return victims;
}
