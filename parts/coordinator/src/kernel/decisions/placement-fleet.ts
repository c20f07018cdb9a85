/** The fleet while a plan is made: what is taken of it so far, and what a gang would find. A working copy of one cycle. */
import {
  choose,
  type Chosen,
  hasPort,
  type Homes,
  rankOf,
  scoredRankOf,
} from "./choose-workers.ts";
import { compareIds } from "./compare-ids.ts";
import { GateClasses } from "./gate-classes.ts";
import { filterKeyOf, shapeOf } from "./gang-shapes.ts";
import { type Bundle, bundleCounts, bundlesOf, membersOfGang } from "./member-bundles.ts";
import { type NodeBucket, NodeBuckets, type NodeCell } from "./node-buckets.ts";
import { modelsInOrder } from "./narrowed-gang.ts";
import type { NodeGate } from "./gate-facts.ts";
import { gateOwner } from "./node-gate.ts";
import type { PlacementNode, PlacementWorker, Vacancy, WaitingGang } from "./placement-facts.ts";
import { PoolLedger, type PoolUse } from "./pool-ledger.ts";
import type { Reservation } from "./reservation.ts";
import { whyNeverNow } from "./worker-filter.ts";
import { levelOf, WorkerKinds } from "./worker-kinds.ts";

/** A worker as a gang finds it: why it may have this one neither now nor later, and why not now. Null: it may. */
export type JudgedWorker = { worker: PlacementWorker; never: string | null; why: string | null };

/** @property hasHome among the eligible is one whose node has memory for the hub @property excluded how many by the first reason of each @property members how many of its members the eligible are enough for, wherever they lie */
export type FleetCount = {
  eligible: number;
  members: number;
  all: number;
  hasHome: boolean;
  excluded: ReadonlyMap<string, number>;
};
/** Workers of one kind. @property busy how many by why */
type Tally = { all: number; free: number; busy: Map<string, number> };

const BUSY = "busy";
const NO_NODES: ReadonlySet<string> = new Set();
const RESERVED = "reserved for a job that has waited longer";

/** By the place of a kind of workers: why none of them ever serves the gang, or null. */
type Fits = readonly (string | null)[];
type Cell = NodeCell & { workers: number[] };

export class PlacementFleet {
  readonly nodes: readonly PlacementNode[];
  readonly #workers: readonly PlacementWorker[];
  readonly #nodes: ReadonlyMap<string, PlacementNode>;
  readonly #kinds: WorkerKinds;
  readonly #gates: GateClasses;
  readonly #pools: PoolLedger;
  /** Amounts of memory that hubs ask for, in rising order. */
  readonly #rooms: readonly number[];
  readonly #cells = new Map<string, Cell>();
  readonly #buckets = new NodeBuckets();
  /** By the place of a kind. */
  readonly #tallies: Tally[] = [];
  readonly #at = new Map<string, number>();
  /** Those that are free for anybody, or for the job that they are kept for. */
  readonly #open = new Set<number>();
  /** Job ports of a node for members elsewhere, and for the gateway. */
  readonly #ports: Map<string, number>;
  readonly #doors: Map<string, number>;
  readonly #taken = new Set<string>();
  readonly #fits = new Map<string, Fits>();
  readonly #models = new Map<string, readonly string[]>();
  /** Of nodes as they are until one of them is filed elsewhere. */
  readonly #offered = new Map<string, { changes: number; offers: readonly Offer[] }>();
  #reserved: (Reservation & { now: number }) | null = null;

  readonly #scoreOf = (node: string): number => this.#nodes.get(node)?.score ?? 1;

  /** @param gangs that will ask: what they can't tell apart is looked at once @param poolUse what projects hold in pools that limit them */
  constructor(
    nodes: readonly PlacementNode[],
    workers: readonly PlacementWorker[],
    gangs: Iterable<Pick<WaitingGang, "hubBytes" | "estimatedMemoryMb" | "asks">>,
    poolUse?: PoolUse,
  ) {
    this.nodes = nodes;
    this.#pools = new PoolLedger(nodes, poolUse);
    this.#workers = workers;
    this.#nodes = new Map(nodes.map((node) => [node.id, node]));
    this.#gates = new GateClasses(nodes);
    this.#ports = new Map(nodes.map(({ id, freePorts }) => [id, freePorts]));
    this.#doors = new Map(nodes.map(({ id, gatewayPorts }) => [id, gatewayPorts]));
    const needs = new Set<number>();
    const rooms = new Set<number>();
    let isPartAsked = false;
    for (const { hubBytes, estimatedMemoryMb, asks } of gangs) {
      isPartAsked ||= asks !== undefined;
      rooms.add(hubBytes ?? 0);
      if (estimatedMemoryMb !== null) needs.add(estimatedMemoryMb);
    }
    this.#rooms = [...rooms].toSorted((a, b) => a - b);
    this.#kinds = new WorkerKinds(workers, this.#nodes, needs, isPartAsked);
    for (const [at, worker] of workers.entries()) this.#shelve(at, worker);
    for (const cell of this.#cells.values()) this.#buckets.file(cell);
  }

  /** The key of a gang, with the class that the gates and limits of the nodes make of it. */
  withGates(key: string, gang: WaitingGang): string {
    return this.#gates.joined(key, gang) + this.#pools.classOf(gang);
  }

  /** What was taken back for the gang counts in pools as held, until it is released. */
  promise(gang: WaitingGang, workers: readonly PlacementWorker[]): void {
    this.#pools.promise(
      gang,
      workers.map(({ node }) => node),
    );
  }

  release({ job }: Pick<WaitingGang, "job">): void {
    this.#pools.release(job);
  }

  /** Whether some node is its project's own now. */
  owns(gang: WaitingGang): boolean {
    return this.#gates.owners.has(gang.project);
  }

  worker(id: string): PlacementWorker | undefined {
    const at = this.#at.get(id);
    return at === undefined ? undefined : this.#workers[at];
  }

  /** Of the worker's node. */
  gateOf(worker: string): NodeGate | undefined {
    const at = this.#at.get(worker);
    return at === undefined ? undefined : this.#nodes.get(this.#workers[at]!.node)?.gate;
  }

  /** Each worker, with the first reason for which the gang can't have it. */
  judge(gang: WaitingGang): JudgedWorker[] {
    const whyNever = this.#whyNever(gang);
    const avoided = this.#avoidedNodes(gang, whyNever);
    return this.#workers.map((worker, at) => {
      const never =
        whyNever(worker, at) ??
        (avoided.has(worker.node) ? "on nodes where the job has failed" : null);
      return { worker, never, why: never ?? this.#whyBusy(worker, gang) };
    });
  }

  /** How many workers the gang may have now, and why not the others: the first reason of each. */
  count(gang: WaitingGang, hasKept: boolean): FleetCount {
    const all = this.#workers.length;
    const excluded = new Map<string, number>();
    const exclude = (why: string, count: number) => {
      if (count > 0) excluded.set(why, (excluded.get(why) ?? 0) + count);
    };
    if (this.#isPlain(gang, hasKept) || gang.isReached) {
      const eligible = this.eligible(gang);
      const isEligible = new Set(eligible);
      const serves = this.#whyNever(gang);
      const avoided = this.#avoidedNodes(gang, serves);
      for (const [at, worker] of this.#workers.entries())
        if (!isEligible.has(worker))
          exclude(
            serves(worker, at) ??
              (avoided.has(worker.node) ? "on nodes where the job has failed" : null) ??
              this.#whyBusy(worker, gang)!,
            1,
          );
      const members = this.#bundlesOf(gang, eligible).length;
      return {
        ...{ eligible: eligible.length, members, all, excluded },
        hasHome: this.#hasHome(gang, eligible),
      };
    }
    let eligible = 0;
    for (const [place, why] of this.#fitsOf(gang).entries()) {
      const tally = this.#tallies[place]!;
      if (why !== null) exclude(why, tally.all);
      else {
        eligible += tally.free;
        for (const [busy, count] of tally.busy) exclude(busy, count);
      }
    }
    const room = this.#roomFor(gang);
    const offers = this.#offers(gang);
    const hasHome = offers.some(({ bucket }) => bucket.room > room);
    return { eligible, members: sumOf(offers), all, excluded, hasHome };
  }

  /** Those that the gang may have at once. */
  eligible(gang: WaitingGang): PlacementWorker[] {
    const whyNever = this.#whyNever(gang);
    const avoided = this.#avoidedNodes(gang, whyNever);
    const found: PlacementWorker[] = [];
    for (const at of this.#open) {
      const worker = this.#workers[at]!;
      if (
        this.#whyBusy(worker, gang) === null &&
        whyNever(worker, at) === null &&
        !avoided.has(worker.node)
      )
        found.push(worker);
    }
    return found;
  }

  /** The workers that it gets; null when they are too few. @param hasKept workers were taken back for it */
  find(gang: WaitingGang, hasKept: boolean): Chosen | null {
    if (this.#isPlain(gang, hasKept)) return this.choose(gang, this.eligible(gang));
    const offers = this.#offers(gang);
    const whole = this.#bestNode(gang, offers);
    if (whole !== null || gang.hubBytes === null) return whole;
    // Spread over several nodes: too few of all are too few, and most gangs that wait find that.
    return sumOf(offers) < membersOfGang(gang) ? null : this.choose(gang, this.eligible(gang));
  }

  /** The workers that it gets of those that it is given; null when they are too few. */
  choose(gang: WaitingGang, eligible: readonly PlacementWorker[]): Chosen | null {
    return choose(gang, eligible, this.#homesOf(gang));
  }

  /** Whether workers of one kind serve the gang all, or none of them does. */
  goesByKind(gang: WaitingGang): boolean {
    return !this.#isPlain(gang, false) && !gang.isReached;
  }

  /** The kinds that are among them, as a key. Of what is free already, and of what left the fleet, nothing is told. */
  kindsOf(workers: readonly string[]): string {
    // Most hold one.
    if (workers.length === 1) {
      const at = this.#at.get(workers[0]!);
      return at === undefined || this.#workers[at]!.isFree ? "" : String(this.#kinds.places[at]);
    }
    const kinds = new Set<number>();
    for (const id of workers) {
      const at = this.#at.get(id);
      if (at !== undefined && !this.#workers[at]!.isFree) kinds.add(this.#kinds.places[at]!);
    }
    return [...kinds].toSorted((a, b) => a - b).join();
  }

  /** Whether a worker serves the gang whenever it is free. */
  servesOnceFree(gang: WaitingGang): (worker: PlacementWorker) => boolean {
    const whyNever = this.#whyNever(gang);
    const avoided = this.#avoidedNodes(gang, whyNever);
    return (worker) =>
      whyNever(worker, this.#at.get(worker.id)!) === null && !avoided.has(worker.node);
  }

  take(gang: Pick<WaitingGang, "isReached" | "project">, { home, workers }: Chosen): void {
    this.withhold(
      workers.map(({ id }) => id),
      gang.project,
    );
    if (gang.isReached || workers.some(({ node }) => node !== home)) this.#takePort(home);
  }

  /** Nobody is given these in this plan: the project has them. */
  withhold(workers: Iterable<string>, project = ""): void {
    for (const id of workers) {
      if (this.#taken.has(id)) continue;
      this.#taken.add(id);
      const at = this.#at.get(id);
      if (at === undefined) continue;
      this.#unshelve(at);
      this.#pools.hold(project, [this.#workers[at]!.node]);
    }
  }

  /** All that would ever serve the gang, whoever has them, and may be kept for it. */
  serving(gang: WaitingGang): PlacementWorker[] {
    const serves = this.servesOnceFree(gang);
    // Nothing of what is another project's is kept for a guest.
    const isGuest = ({ id }: PlacementWorker) => {
      const owner = gateOwner(this.gateOf(id));
      return owner !== null && owner !== gang.project;
    };
    return this.#workers.filter(
      (worker) =>
        !this.#taken.has(worker.id) &&
        (worker.keptFor ?? null) === null &&
        serves(worker) &&
        !isGuest(worker),
    );
  }

  /** Gangs that come later get none of these, but those that end in time. Once in a cycle. */
  reserve(reservation: Reservation, now: number): void {
    for (const id of reservation.workers) {
      const at = this.#at.get(id);
      if (at === undefined || this.#taken.has(id)) continue;
      if (this.#workers[at]!.isFree) this.#unfile(at, RESERVED);
    }
    this.#reserved = { ...reservation, now };
  }

  /** Whether the gang states that it ends before reserved workers are needed. */
  mayBackfill(gang: { runsMs?: number | null } | null): boolean {
    const runsMs = gang?.runsMs ?? null;
    if (this.#reserved === null || runsMs === null) return false;
    return this.#reserved.now + runsMs <= this.#reserved.until;
  }

  /** The best workers for a lost member's place, on the hub's node where there are some, and takes them; null while there are none. */
  fill(vacancy: Vacancy): Bundle | null {
    const { home, hasPort: isOpen } = vacancy;
    const rank = rankOf(vacancy.selection);
    const fitting = this.#workers.filter((worker) => {
      const isReached = worker.node === home || isOpen || hasPort(this.#ports, home);
      return isReached && whyNeverNow(vacancy, worker, this.#nodes.get(worker.node)) === null;
    });
    const elsewhere = fitting.filter(({ node }) => !vacancy.avoidNodes.includes(node));
    const isEnough = this.#bundlesOf(vacancy, elsewhere).length > 0;
    const free = (isEnough ? elsewhere : fitting).filter(
      (worker) => this.#whyBusy(worker, vacancy) === null,
    );
    const isAway = ({ node }: PlacementWorker) => Number(node !== home);
    const [best] = this.#bundlesOf(vacancy, free).toSorted(
      ([a], [b]) =>
        rank(a!) - rank(b!) ||
        isAway(a!) - isAway(b!) ||
        this.#scoreOf(b!.node) - this.#scoreOf(a!.node) ||
        compareIds(a!.id, b!.id),
    );
    if (best === undefined) return null;
    this.withhold(
      best.map(({ id }) => id),
      vacancy.project,
    );
    if (best[0]!.node !== home && !isOpen) this.#takePort(home);
    return best;
  }

  /** Models of those that may serve a gang at all, the one first that it would be given first. */
  modelsFor(gang: WaitingGang): readonly string[] {
    // Of a member of several workers, nodes and their ports count as well.
    const isOfShape = (gang.workersEach ?? 1) > 1;
    const key = this.#withRoom(isOfShape ? shapeOf(gang) : filterKeyOf(gang), gang);
    const known = this.#models.get(key);
    if (known !== undefined) return known;
    const models = modelsInOrder(gang, this.#servingAtAll(gang), this.#scoreOf);
    this.#models.set(key, models);
    return models;
  }

  /** The same, if its project had nothing in any pool: one that is full for it now has room later. */
  modelsWithEmptyPools(gang: WaitingGang): readonly string[] {
    if (!this.#pools.areLimited) return this.modelsFor(gang);
    const key = `${this.withGates(shapeOf(gang), gang)} of empty pools`;
    const known = this.#models.get(key);
    if (known !== undefined) return known;
    const whyNever = this.#whyNever(gang, "empty");
    const serving = this.#workers.filter((worker, at) => whyNever(worker, at) === null);
    const first =
      (gang.workersEach ?? 1) > 1 ? this.#bundlesOf(gang, serving).map(([one]) => one!) : serving;
    const models = modelsInOrder(gang, first, this.#scoreOf);
    this.#models.set(key, models);
    return models;
  }

  /** One or more of each model that may serve the gang. */
  #servingAtAll(gang: WaitingGang): PlacementWorker[] {
    if ((gang.workersEach ?? 1) > 1) {
      const serves = this.servesOnceFree({ ...gang, avoidNodes: [] });
      // Of a model of which no node has enough it is given nothing.
      return this.#bundlesOf(gang, this.#workers.filter(serves)).map(([first]) => first!);
    }
    const fits = this.#fitsOf(gang);
    return this.#kinds.kinds.flatMap(({ worker }, place) => (fits[place] === null ? [worker] : []));
  }

  /** Nodes where the gang failed: it leaves them alone as long as another one could take it, if only later. */
  avoidedBy(gang: WaitingGang): ReadonlySet<string> {
    return gang.avoidNodes.length === 0 ? NO_NODES : this.#avoidedNodes(gang, this.#whyNever(gang));
  }

  /** The members that these could be, node by node. */
  #bundlesOf(
    gang: Pick<WaitingGang, "selection" | "workersEach">,
    workers: readonly PlacementWorker[],
  ): Bundle[] {
    const rank = scoredRankOf(gang.selection, this.#scoreOf);
    return [...Map.groupBy(workers, ({ node }) => node).values()].flatMap((ofNode) =>
      bundlesOf(gang, ofNode, rank),
    );
  }

  #hasHome(gang: WaitingGang, eligible: readonly PlacementWorker[]): boolean {
    const { hasRoom } = this.#homesOf(gang);
    return eligible.some(({ node }) => hasRoom(node));
  }

  /** Its workers are told apart one by one, not by kind and bucket. */
  #isPlain(gang: WaitingGang, hasKept: boolean): boolean {
    const { avoidNodes, selection } = gang;
    return hasKept || avoidNodes.length > 0 || selection.kind !== "auto" || this.mayBackfill(gang);
  }

  #shelve(at: number, worker: PlacementWorker): void {
    const { id, node: nodeId } = worker;
    this.#at.set(id, at);
    let cell = this.#cells.get(nodeId);
    if (cell === undefined) {
      cell = {
        ...{ id: nodeId, free: new Map(), workers: [], bucket: null },
        room: levelOf(this.#rooms, this.#nodes.get(nodeId)?.capacityBytes ?? 0),
        ...{ hasPort: hasPort(this.#ports, nodeId), hasDoor: hasPort(this.#doors, nodeId) },
      };
      this.#cells.set(nodeId, cell);
    }
    cell.workers.push(at);
    const kind = this.#kinds.places[at]!;
    const tally = (this.#tallies[kind] ??= { all: 0, free: 0, busy: new Map() });
    tally.all += 1;
    if (worker.isFree) this.#open.add(at);
    const why = this.#whyBusy(worker, null);
    if (why === null) {
      tally.free += 1;
      cell.free.set(kind, (cell.free.get(kind) ?? 0) + 1);
    } else tally.busy.set(why, (tally.busy.get(why) ?? 0) + 1);
  }

  #unshelve(at: number): void {
    this.#open.delete(at);
    const { id, isFree, keptFor = null } = this.#workers[at]!;
    if (isFree && keptFor === null && this.#reserved?.workers.has(id) !== true)
      this.#unfile(at, BUSY);
  }

  /** It is no longer free for anybody. */
  #unfile(at: number, why: string): void {
    const cell = this.#cells.get(this.#workers[at]!.node)!;
    const kind = this.#kinds.places[at]!;
    const tally = this.#tallies[kind]!;
    tally.free -= 1;
    tally.busy.set(why, (tally.busy.get(why) ?? 0) + 1);
    cell.free.set(kind, cell.free.get(kind)! - 1);
    this.#buckets.file(cell);
  }

  #takePort(node: string): void {
    for (const left of [this.#ports, this.#doors]) left.set(node, (left.get(node) ?? 0) - 1);
    const cell = this.#cells.get(node);
    if (cell === undefined) return;
    cell.hasPort = hasPort(this.#ports, node);
    cell.hasDoor = hasPort(this.#doors, node);
    this.#buckets.file(cell);
  }

  #whyBusy(
    { id, isFree, whyHeld = null, keptFor = null }: PlacementWorker,
    gang: (Pick<WaitingGang, "job"> & { runsMs?: number | null }) | null,
  ): string | null {
    if (!isFree) return whyHeld ?? BUSY;
    if (keptFor !== null && keptFor !== gang?.job) return "taken back for another job";
    if (this.#taken.has(id)) return BUSY;
    const isReserved = this.#reserved?.workers.has(id) === true;
    return isReserved && !this.mayBackfill(gang) ? RESERVED : null;
  }

  /** As {@link withGates}, with the pools that are full for it now. */
  #withRoom(key: string, gang: WaitingGang): string {
    return this.withGates(key, gang) + this.#pools.roomsFor(gang);
  }

  #fitsOf(gang: WaitingGang): Fits {
    const key = this.#withRoom(filterKeyOf(gang), gang);
    const known = this.#fits.get(key);
    if (known !== undefined) return known;
    const fits = this.#kinds.kinds.map(
      ({ worker, node }) =>
        whyNeverNow(gang, worker, node) ?? this.#pools.whyFull(gang, worker.node),
    );
    this.#fits.set(key, fits);
    return fits;
  }

  /** Why a worker never serves the gang, avoided nodes apart. @param pools as they are now, or once its project holds nothing there */
  #whyNever(
    gang: WaitingGang,
    pools: "now" | "empty" = "now",
  ): (worker: PlacementWorker, at: number) => string | null {
    const fits = pools === "now" && gang.selection.kind === "auto" ? this.#fitsOf(gang) : null;
    const whyFull = (node: string) =>
      pools === "now" ? this.#pools.whyFull(gang, node) : this.#pools.whyTooFew(gang, node);
    return (worker, at) =>
      (fits === null
        ? (whyNeverNow(gang, worker, this.#nodes.get(worker.node)) ?? whyFull(worker.node))
        : fits[this.#kinds.places[at]!]!) ??
      (gang.isReached && !hasPort(this.#doors, worker.node)
        ? "on nodes without a free job port"
        : null);
  }

  /** Nodes that failed the job are left alone as long as another one could take it, if only later. */
  #avoidedNodes(
    gang: WaitingGang,
    whyNever: (worker: PlacementWorker, at: number) => string | null,
  ): ReadonlySet<string> {
    const avoid = new Set(gang.avoidNodes);
    if (avoid.size === 0) return avoid;
    const whyNot = this.#pools.areLimited ? this.#whyNever(gang, "empty") : whyNever;
    const fitting = this.#workers.filter(
      (worker, at) => !avoid.has(worker.node) && whyNot(worker, at) === null,
    );
    return this.choose(gang, fitting) === null ? new Set() : avoid;
  }

  /** What each bucket of nodes offers the gang, its kinds by rank: without those that offer nothing. */
  #offers(gang: WaitingGang): readonly Offer[] {
    const filter = this.#withRoom(filterKeyOf(gang), gang);
    const key = gang.isReached ? `${filter} reached` : filter;
    const known = this.#offered.get(key);
    const { changes } = this.#buckets;
    if (known?.changes === changes) return known.offers;
    const offers = this.#offersNow(gang);
    this.#offered.set(key, { changes, offers });
    return offers;
  }

  #offersNow(gang: WaitingGang): Offer[] {
    const fits = this.#fitsOf(gang);
    const rank = scoredRankOf(gang.selection, this.#scoreOf);
    const offers: Offer[] = [];
    for (const bucket of this.#buckets.all()) {
      if (bucket.size === 0 || (gang.isReached && !bucket.hasDoor)) continue;
      const found: [model: string, rank: number, count: number][] = [];
      let spare = 0;
      for (const [kind, free] of bucket.free)
        if (fits[kind] === null) {
          const { worker } = this.#kinds.kinds[kind]!;
          found.push([worker.model, rank(worker), free]);
          spare += free;
        }
      if (spare === 0) continue;
      const ranks = bundleCounts(found, gang.workersEach ?? 1).toSorted(([a], [b]) => a - b);
      const count = ranks.reduce((sum, [, free]) => sum + free, 0);
      offers.push({ bucket, ranks, count, spare });
    }
    return offers;
  }

  /** The best workers that one node offers, of equals the node with the least to spare. */
  #bestNode(gang: WaitingGang, offers: readonly Offer[]): Chosen | null {
    const room = this.#roomFor(gang);
    const members = membersOfGang(gang);
    let best: Offer | null = null;
    for (const offer of offers)
      if (offer.count >= members && offer.bucket.room > room)
        if (best === null || compareOffers(offer, best, members) < 0) best = offer;
    if (best === null) return null;
    const cell = this.#cells.get(best.bucket.first()!.id)!;
    const fits = this.#fitsOf(gang);
    const rank = scoredRankOf(gang.selection, this.#scoreOf);
    const workers = cell.workers
      .filter((at) => fits[this.#kinds.places[at]!] === null)
      .map((at) => this.#workers[at]!)
      .filter(
        (worker) => (worker.keptFor ?? null) === null && this.#whyBusy(worker, gang) === null,
      );
    return { home: cell.id, workers: bundlesOf(gang, workers, rank).slice(0, members).flat() };
  }

  /** A node has room for its hub whose level is above this one. */
  #roomFor({ job, hubBytes }: WaitingGang): number {
    const room = this.#rooms.indexOf(hubBytes ?? 0);
    if (room === -1) throw new Error(`${job} was not announced to this fleet`);
    return room;
  }

  #homesOf({ hubBytes }: WaitingGang): Homes {
    return {
      ports: this.#ports,
      hasRoom: (node) => (this.#nodes.get(node)?.capacityBytes ?? 0) >= (hubBytes ?? 0),
      scoreOf: this.#scoreOf,
    };
  }
}

/** Of one node of a bucket. @property count how many members it has room for @property spare of all its free workers that serve the gang */
type Offer = {
  bucket: NodeBucket;
  ranks: readonly (readonly [rank: number, count: number])[];
  count: number;
  spare: number;
};

/** How many members all nodes have room for. */
function sumOf(offers: readonly Offer[]): number {
  return offers.reduce((sum, { count, bucket }) => sum + count * bucket.size, 0);
}

/** Over the first `size` members: member by member the better rank wins, then the node with the least to spare, then the lowest id. */
function compareOffers(a: Offer, b: Offer, size: number): number {
  return (
    compareRanks(a, b, size) ||
    a.spare - b.spare ||
    compareIds(a.bucket.first()!.id, b.bucket.first()!.id)
  );
}

function compareRanks(a: Offer, b: Offer, size: number): number {
  let [left, right] = [0, 0];
  let [restLeft, restRight] = [a.ranks[0]![1], b.ranks[0]![1]];
  for (let seen = 0; seen < size; ) {
    const difference = a.ranks[left]![0] - b.ranks[right]![0];
    if (difference !== 0) return difference;
    const same = Math.min(restLeft, restRight, size - seen);
    seen += same;
    restLeft -= same;
    restRight -= same;
    if (seen >= size) return 0;
    if (restLeft === 0) restLeft = a.ranks[(left += 1)]![1];
    if (restRight === 0) restRight = b.ranks[(right += 1)]![1];
  }
  return 0;
}
