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

/** Gangs of one project that hold alike: by shares they are one another's equals. */
export type HolderRow = { project: string; amounts: Amounts };
/** A gang that holds workers, and may be made to go. */
export type Holder = { gang: RunningGang; row: HolderRow };

export function mayGo({ isPreemptible, preemptedAt }: RunningGang, now: number): boolean {
  if (!isPreemptible || preemptedAt.length < MOST_PREEMPTIONS) return isPreemptible;
  return preemptedAt.filter((at) => now - at < PREEMPTIONS_WINDOW_MS).length < MOST_PREEMPTIONS;
}

/**
 * @param amounts workers that the gang would hold, by model
 * @param holders those that hold workers which would serve it
 * @param isAbove something of its own project is of a lower class
 * @param mayFitWith false: it fits with no part of these
 * @param fitsWith whether the gang finds its workers once these have made way, too: more of them never make it worse
 * @returns the fewest that are found by leaving out, from the one that is to be spared most; null when nobody may be made to go, or it would not help
 */
export function chooseVictims(
  gang: Pick<WaitingGang, "job" | "project" | "priority">,
  amounts: Amounts,
  {
    holders,
    ledger,
    isAbove,
    mayFitWith,
    fitsWith,
  }: {
    holders: readonly Holder[];
    ledger: ShareLedger;
    isAbove: boolean;
    mayFitWith: (victims: readonly RunningGang[]) => boolean;
    fitsWith: (victims: readonly RunningGang[]) => boolean;
  },
): Reclaim | null {
  const below = isAbove
    ? holders
        .map((holder) => holder.gang)
        .filter((one) => one.project === gang.project && one.priority < gang.priority)
        .toSorted((a, b) => compareVictims(a, b, ({ priority }) => priority))
    : [];
  const ofClass = fewest(below, fitsWith);
  if (ofClass !== null) return { reason: "class", victims: ofClass };
  if (!ledger.isGuaranteed(gang.project, amounts)) return null;
  // Who goes makes no other a borrower: whoever is none now stays.
  const borrows = new Map<HolderRow, boolean>();
  const borrowers = holders.filter(({ row }) => {
    if (row.project === gang.project) return false;
    let does = borrows.get(row);
    if (does === undefined) borrows.set(row, (does = ledger.borrows(row.project, row.amounts)));
    return does;
  });
  if (!mayFitWith(borrowers.map((holder) => holder.gang))) return null;
  const lent = fewestOf(borrowersAmong(borrowers, ledger), fitsWith);
  return lent === null ? null : { reason: "guarantee", victims: lent };
}

/** In the order in which they would go: nobody's that would leave a project without what it is guaranteed. The ledger is as before once it is returned. */
function* borrowersAmong(
  holders: readonly Holder[],
  ledger: ShareLedger,
): Generator<RunningGang, void> {
  const rows = [...Map.groupBy(holders, ({ row }) => row)].map(([{ amounts, project }, row]) => ({
    ...{ amounts, project, next: 0 },
    gangs: row.map(({ gang }) => gang).toSorted((a, b) => compareVictims(a, b, lentPriorityOf)),
  }));
  type Row = (typeof rows)[number];
  const released: Row[] = [];
  const comesBefore = (a: Row, b: Row) => {
    const [one, other] = [a.gangs[a.next]!, b.gangs[b.next]!];
    const difference =
      lentPriorityOf(one) - lentPriorityOf(other) ||
      ledger.excess(b.project, b.amounts) - ledger.excess(a.project, a.amounts) ||
      compareVictims(one, other, lentPriorityOf);
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
function compareVictims(
  a: RunningGang,
  b: RunningGang,
  priorityOf: (gang: RunningGang) => number,
): number {
  return (
    priorityOf(a) - priorityOf(b) ||
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
