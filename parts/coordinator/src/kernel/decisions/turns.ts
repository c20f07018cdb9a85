/** Whose turn it is to be placed. Pure, total and deterministic. */
import type { WaitingGang } from "./placement-facts.ts";
import type { Amounts, ShareLedger } from "./shares.ts";

/**
 * What runs grows before what waits begins. Of jobs that may have several gangs the first of each comes before the second of any: one that has none
 * does nothing at all. So does the first gang of such a job that waits still, where others would grow.
 */
export function inOrderOfArrival(gangs: readonly WaitingGang[]): WaitingGang[] {
  const bySequence = (a: WaitingGang, b: WaitingGang) => a.sequence - b.sequence;
  const before = (gang: WaitingGang) => gang.before ?? 0;
  const further = gangs
    .filter(({ isFurther }) => isFurther)
    .toSorted((a, b) => before(a) - before(b) || bySequence(a, b));
  const queued = gangs.filter(({ isFurther }) => !isFurther).toSorted(bySequence);
  const isFirst = (gang: WaitingGang) => gang.before === 0;
  const grown = further.filter((gang) => !isFirst(gang));
  if (grown.length === 0) return [...further, ...queued];
  return [
    ...further.filter(isFirst),
    ...queued.filter(isFirst),
    ...grown,
    ...queued.filter((gang) => !isFirst(gang)),
  ];
}

/**
 * Gangs by the shares of their projects: in each project by class, then those that have least, then by arrival; of the projects' first gangs the one
 * whose project would stand lowest with it. What each placement changes is asked of the ledger before the next.
 */
export class ShareTurns {
  readonly #ledger: ShareLedger;
  readonly #demandOf: (gang: WaitingGang) => Amounts;
  readonly #queues: WaitingGang[][];

  /** @param demandOf workers that the gang would be given, by model */
  constructor(
    gangs: readonly WaitingGang[],
    ledger: ShareLedger,
    demandOf: (gang: WaitingGang) => Amounts,
  ) {
    this.#ledger = ledger;
    this.#demandOf = demandOf;
    // The last of a queue is the first to go.
    this.#queues = [...Map.groupBy(gangs, ({ project }) => project).values()].map((queue) =>
      queue.toSorted((a, b) => -compareInProject(a, b)),
    );
  }

  /** @returns the next gang, once; null when each had its turn */
  next(): WaitingGang | null {
    let best: { gang: WaitingGang; amounts: Amounts; queue: WaitingGang[] } | null = null;
    for (const queue of this.#queues) {
      const gang = queue.at(-1);
      if (gang === undefined) continue;
      const amounts = this.#demandOf(gang);
      if (best === null || this.#comesBefore({ gang, amounts }, best))
        best = { gang, amounts, queue };
    }
    best?.queue.pop();
    return best?.gang ?? null;
  }

  #comesBefore(
    a: { gang: WaitingGang; amounts: Amounts },
    b: { gang: WaitingGang; amounts: Amounts },
  ): boolean {
    const by = ({ gang, amounts }: typeof a) => ({ project: gang.project, amounts });
    return (this.#ledger.compare(by(a), by(b)) || compareInProject(a.gang, b.gang)) < 0;
  }
}

function compareInProject(a: WaitingGang, b: WaitingGang): number {
  return b.priority - a.priority || (a.before ?? 0) - (b.before ?? 0) || a.sequence - b.sequence;
}
