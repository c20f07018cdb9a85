/** The fleet while a plan is made: what is taken of it so far, and what a gang would find. A working copy of one cycle. */
import { choose, type Chosen, compareIds, hasPort, type Homes, rankOf } from "./choose-workers.ts";
import type { PlacementNode, PlacementWorker, Vacancy, WaitingGang } from "./placement-facts.ts";
import { whyNeverNow } from "./worker-filter.ts";

/** A worker as a gang finds it: why it may have this one neither now nor later, and why not now. Null: it may. */
export type JudgedWorker = { worker: PlacementWorker; never: string | null; why: string | null };

/** Null: the worker serves the gang whenever it is free. */
type Fit = { worker: PlacementWorker; why: string | null };

export class PlacementFleet {
  readonly #workers: readonly PlacementWorker[];
  readonly #nodes: ReadonlyMap<string, PlacementNode>;
  /** Job ports of a node for members elsewhere, and for the gateway. */
  readonly #ports: Map<string, number>;
  readonly #doors: Map<string, number>;
  readonly #taken = new Set<string>();
  /** By all that whether a worker serves hangs on: many gangs ask the same. */
  readonly #fits = new Map<string, readonly Fit[]>();

  constructor(nodes: readonly PlacementNode[], workers: readonly PlacementWorker[]) {
    this.#workers = workers;
    this.#nodes = new Map(nodes.map((node) => [node.id, node]));
    this.#ports = new Map(nodes.map(({ id, freePorts }) => [id, freePorts]));
    this.#doors = new Map(nodes.map(({ id, gatewayPorts }) => [id, gatewayPorts]));
  }

  /** Each worker, with the first reason for which the gang can't have it. */
  judge(gang: WaitingGang): JudgedWorker[] {
    const fits = this.#fitsOf(gang).map(({ worker, why }) => ({
      worker,
      why:
        why ??
        (gang.isReached && !hasPort(this.#doors, worker.node)
          ? "on nodes without a free job port"
          : null),
    }));
    const avoided = this.#avoidedNodes(gang, fits);
    return fits.map(({ worker, why }) => {
      const never = why ?? (avoided.has(worker.node) ? "on nodes where the job has failed" : null);
      return { worker, never, why: never ?? this.#whyBusy(worker, gang.job) };
    });
  }

  /** The workers that it gets of those that it is given; null when they are too few. */
  choose(gang: WaitingGang, eligible: readonly PlacementWorker[]): Chosen | null {
    return choose(gang, eligible, this.#homesOf(gang));
  }

  hasHome(gang: WaitingGang, eligible: readonly PlacementWorker[]): boolean {
    const { hasRoom } = this.#homesOf(gang);
    return eligible.some(({ node }) => hasRoom(node));
  }

  take(gang: Pick<WaitingGang, "isReached">, { home, workers }: Chosen): void {
    for (const { id } of workers) this.#taken.add(id);
    if (gang.isReached || workers.some(({ node }) => node !== home)) this.#takePort(home);
  }

  /** Nobody is given these in this plan. */
  withhold(workers: Iterable<string>): void {
    for (const id of workers) this.#taken.add(id);
  }

  /** The best worker for a lost member's place, on the hub's node where there is one, and takes it; null while there is none. */
  fill(vacancy: Vacancy): PlacementWorker | null {
    const { home, hasPort: isOpen } = vacancy;
    const rank = rankOf(vacancy.selection);
    const fitting = this.#workers.filter((worker) => {
      const isReached = worker.node === home || isOpen || hasPort(this.#ports, home);
      return isReached && whyNeverNow(vacancy, worker, this.#nodes.get(worker.node)) === null;
    });
    const elsewhere = fitting.filter(({ node }) => !vacancy.avoidNodes.includes(node));
    const free = (elsewhere.length > 0 ? elsewhere : fitting).filter(
      (worker) => this.#whyBusy(worker, vacancy.job) === null,
    );
    const isAway = ({ node }: PlacementWorker) => Number(node !== home);
    const [best] = free.toSorted(
      (a, b) => rank(a) - rank(b) || isAway(a) - isAway(b) || compareIds(a.id, b.id),
    );
    if (best === undefined) return null;
    this.#taken.add(best.id);
    if (best.node !== home && !isOpen) this.#takePort(home);
    return best;
  }

  /** The model that a gang would be given first, of those that may serve it at all; null where none does. */
  firstModelFor(gang: WaitingGang): string | null {
    const rank = rankOf(gang.selection);
    let best: PlacementWorker | null = null;
    for (const { worker, why } of this.#fitsOf(gang))
      if (why === null && (best === null || rank(worker) < rank(best))) best = worker;
    return best?.model ?? null;
  }

  #takePort(node: string): void {
    for (const left of [this.#ports, this.#doors]) left.set(node, (left.get(node) ?? 0) - 1);
  }

  #whyBusy({ id, isFree, whyHeld = null, keptFor = null }: PlacementWorker, job: string) {
    if (!isFree) return whyHeld ?? "busy";
    if (keptFor !== null && keptFor !== job) return "taken back for another job";
    return this.#taken.has(id) ? "busy" : null;
  }

  #fitsOf(gang: WaitingGang): readonly Fit[] {
    const { selection, onlyMine, userId, images, estimatedMemoryMb, agentProtocol } = gang;
    const key = JSON.stringify([
      ...[selection, onlyMine ? userId : null, images, estimatedMemoryMb, agentProtocol],
    ]);
    const known = this.#fits.get(key);
    if (known !== undefined) return known;
    const fits = this.#workers.map((worker) => ({
      worker,
      why: whyNeverNow(gang, worker, this.#nodes.get(worker.node)),
    }));
    this.#fits.set(key, fits);
    return fits;
  }

  /** Nodes that failed the job are left alone as long as another one could take it, if only later. */
  #avoidedNodes(gang: WaitingGang, fits: readonly Fit[]): ReadonlySet<string> {
    const avoid = new Set(gang.avoidNodes);
    if (avoid.size === 0) return avoid;
    const fitting = fits.flatMap(({ why, worker }) =>
      why === null && !avoid.has(worker.node) ? [worker] : [],
    );
    return this.choose(gang, fitting) === null ? new Set() : avoid;
  }

  #homesOf({ hubBytes }: WaitingGang): Homes {
    return {
      ports: this.#ports,
      hasRoom: (node) => (this.#nodes.get(node)?.capacityBytes ?? 0) >= (hubBytes ?? 0),
    };
  }
}
