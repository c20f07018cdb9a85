/** Whose turn it is to be placed. Pure, total and deterministic. */
import { Heap } from "./heap.ts";
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
  /** Those that have a gang left, the one first whose turn it is. Null: not looked at yet. */
  #heads: Heap<Head> | null = null;
  readonly #queues: readonly Queue[];
  /** Its first gang had its turn, and the next is not looked for yet. */
  #served: Head | null = null;
  /** The ledger's version that standings are of. */
  #version = -1;

  /**
   * @param demandOf workers that the gang would be given, by model; one object for gangs that would be given as many
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
    this.#queues = [...Map.groupBy(gangs, ({ project }) => project).values()].map(
      (queue, place) => ({ place, gangs: inOrderOfProject(queue), next: 0, standings: new Map() }),
    );
  }

  /** @returns the next gang, once; null when each had its turn */
  next(): WaitingGang | null {
    const heads = this.#upToDate();
    const best = heads.first();
    if (best === null) return null;
    this.#served = best;
    const gang = best.queue.gangs[best.queue.next]!;
    best.queue.next += 1;
    return gang;
  }

  /** Of the other queues only those stand otherwise of whose models somebody holds more or less since. */
  #upToDate(): Heap<Head> {
    const isNew = this.#version !== this.#ledger.version;
    this.#version = this.#ledger.version;
    if (this.#heads === null)
      return (this.#heads = new Heap(
        this.#queues.flatMap((queue) => this.#headOf(queue) ?? []),
        comesBefore,
      ));
    if (isNew) {
      const heads = [...this.#heads.all()].flatMap((head) =>
        head !== this.#served && head.version === this.#ledger.versionOf(head.demand)
          ? head
          : (this.#headOf(head.queue) ?? []),
      );
      this.#heads = new Heap(heads, comesBefore);
    } else if (this.#served !== null) this.#heads.replaceFirst(this.#headOf(this.#served.queue));
    this.#served = null;
    return this.#heads;
  }

  /** The next gang of a queue that needs a turn, and how its project would stand with it; null when none is left. */
  #headOf(queue: Queue): Head | null {
    const { gangs } = queue;
    while (queue.next < gangs.length && this.#isOver(gangs[queue.next]!)) queue.next += 1;
    const gang = gangs[queue.next];
    if (gang === undefined) return null;
    const demand = this.#demandOf(gang);
    const version = this.#ledger.versionOf(demand);
    let known = queue.standings.get(demand);
    if (known?.version !== version) {
      known = { version, standing: this.#ledger.standingOf(gang.project, demand) };
      queue.standings.set(demand, known);
    }
    return { queue, gang, demand, ...known };
  }
}

/** @property version of the ledger, as to the demand */
type Known = { standing: Standing; version: number };
/** Of one project. @property place among the queues @property next the place of the gang whose turn comes @property standings by demand */
type Queue = {
  place: number;
  gangs: readonly WaitingGang[];
  next: number;
  standings: Map<Amounts, Known>;
};
type Head = Known & { queue: Queue; gang: WaitingGang; demand: Amounts };

function comesBefore(a: Head, b: Head): boolean {
  return (
    (compareStandings(a.standing, b.standing) ||
      compareInProject(a.gang, b.gang) ||
      a.queue.place - b.queue.place) < 0
  );
}

/** A queue comes in order of arrival as a rule: classes are told apart first, and what is in order is not sorted. */
function inOrderOfProject(gangs: readonly WaitingGang[]): WaitingGang[] {
  const alike = new Map<number, WaitingGang[]>();
  for (const gang of gangs) {
    const some = alike.get(gang.priority);
    if (some === undefined) alike.set(gang.priority, [gang]);
    else some.push(gang);
  }
  const classes = [...alike].toSorted(([a], [b]) => b - a);
  return classes.flatMap(([, some]) => (isSorted(some) ? some : some.toSorted(compareInProject)));
}

function isSorted(gangs: readonly WaitingGang[]): boolean {
  for (let at = 1; at < gangs.length; at += 1)
    if (compareInProject(gangs[at - 1]!, gangs[at]!) > 0) return false;
  return true;
}

function compareInProject(a: WaitingGang, b: WaitingGang): number {
  return b.priority - a.priority || (a.before ?? 0) - (b.before ?? 0) || a.sequence - b.sequence;
}
