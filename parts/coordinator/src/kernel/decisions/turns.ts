/** Whose turn it is to be placed. Pure, total and deterministic. */
import type { WaitingGang } from "./placement-facts.ts";
import { CLASS_PRIORITIES } from "./priorities.ts";
import { type Amounts, compareStandings, type ShareLedger, type Standing } from "./shares.ts";

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
  // A scavenger takes what nobody else waits for, with shares and without.
  const isLast = ({ priority }: WaitingGang) => priority === CLASS_PRIORITIES.scavenger;
  const queued = gangs
    .filter(({ isFurther }) => !isFurther)
    .toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)) || bySequence(a, b));
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
  readonly #isOver: (gang: WaitingGang) => boolean;
  readonly #queues: Queue[];
  /** The ledger's version that standings are of. */
  #version = -1;

  /**
   * @param demandOf workers that the gang would be given, by model
   * @param isOver others of its project that are like it had their turn in vain: it waits, and needs none
   */
  constructor(
    gangs: readonly WaitingGang[],
    ledger: ShareLedger,
    demandOf: (gang: WaitingGang) => Amounts,
    isOver: (gang: WaitingGang) => boolean,
  ) {
    this.#ledger = ledger;
    this.#demandOf = demandOf;
    this.#isOver = isOver;
    this.#queues = [...Map.groupBy(gangs, ({ project }) => project).values()].map((queue) => ({
      ...{ gangs: queue.toSorted(compareInProject), next: 0, standing: null },
    }));
  }

  /** @returns the next gang, once; null when each had its turn */
  next(): WaitingGang | null {
    const isNew = this.#version !== this.#ledger.version;
    this.#version = this.#ledger.version;
    let best: (Queue & { standing: Standing }) | null = null;
    for (const queue of this.#queues) {
      if (isNew) queue.standing = null;
      if (!this.#advance(queue)) continue;
      if (best === null || comesBefore(queue, best)) best = queue;
    }
    if (best === null) return null;
    const gang = best.gangs[best.next]!;
    best.next += 1;
    (best as Queue).standing = null;
    return gang;
  }

  /** To the next gang that needs a turn, and how its project would stand with it; false when none is left. */
  #advance(queue: Queue): queue is Queue & { standing: Standing } {
    if (queue.standing !== null) return true;
    const { gangs } = queue;
    while (queue.next < gangs.length && this.#isOver(gangs[queue.next]!)) queue.next += 1;
    const gang = gangs[queue.next];
    if (gang === undefined) return false;
    queue.standing = this.#ledger.standingOf(gang.project, this.#demandOf(gang));
    return true;
  }
}

/** Of one project. @property next the place of the gang whose turn comes @property standing with that gang; null: not looked at yet */
type Queue = { gangs: readonly WaitingGang[]; next: number; standing: Standing | null };
type Head = Queue & { standing: Standing };

function comesBefore(a: Head, b: Head): boolean {
  return (
    (compareStandings(a.standing, b.standing) ||
      compareInProject(a.gangs[a.next]!, b.gangs[b.next]!)) < 0
  );
}

function compareInProject(a: WaitingGang, b: WaitingGang): number {
  return b.priority - a.priority || (a.before ?? 0) - (b.before ?? 0) || a.sequence - b.sequence;
}
