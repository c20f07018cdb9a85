/**
 * `snapshot → plan`, pure: which waiting gangs get which workers now, and why the others don't. A gang is placed wholly or not at
 * all: on one node where one has room, else on as few as do, the member that the others reach beside most of them. Gangs in order of arrival, nodes
 * by what they offer, every tie ended by an id: the same snapshot gives the same plan.
 */
import { catalogueModel } from "@resontech/contracts/gpu-catalogue";
import type { DeviceFacts } from "@resontech/contracts/image-needs";
import type { WorkerSelection } from "../accepted-task.ts";
import { type MemberImage, whyNoImage } from "./member-image.ts";

export type WaitingGang = {
  job: string;
  /** Of its job, by which all gangs are in order. */
  sequence: number;
  /** Its job runs already: this one joins those that it has. */
  isFurther: boolean;
  /** Of a job that may have several: those that it has, and those of its own that come before this one. Absent: it has one at a time. */
  before?: number;
  userId: string;
  /** How many workers it takes. */
  size: number;
  selection: WorkerSelection;
  onlyMine: boolean;
  estimatedMemoryMb: number | null;
  /** Memory that its hub asks for; nodes with less hold none. Null: it has no hub, and lies on one node. */
  hubBytes: number | null;
  avoidNodes: readonly string[];
  /** Null: one that any worker is given. */
  images: readonly Pick<MemberImage, "needs">[] | null;
  /** The oldest version of the agent protocol that will do. */
  agentProtocol: number;
  /** Its node needs a port, also where it lies on one. */
  isReached: boolean;
};
/** The place of a lost member in an attempt that runs; `home` is its hub's node. */
export type Vacancy = Omit<
  WaitingGang,
  "size" | "hubBytes" | "isReached" | "isFurther" | "before"
> & {
  member: string;
  home: string;
  /** The attempt has its port for other nodes already. */
  hasPort: boolean;
};
export type PlacementNode = {
  id: string;
  ownerId: string | null;
  isReady: boolean;
  isCordoned: boolean;
  /** Room on its disk for another member. */
  hasDisk: boolean;
  /** Attempts whose hub it can still hold for members on other nodes; 0 where no other node can reach it. */
  freePorts: number;
  /** Of the same ports, those that are free for the gateway: also where no other node can reach it. */
  gatewayPorts: number;
  /** The most that one container may have there. */
  capacityBytes: number;
  /** The version that its agent and the coordinator speak. */
  agentProtocol: number;
};
export type PlacementWorker = {
  id: string;
  node: string;
  model: string;
  memoryBytes: number;
  device: DeviceFacts;
  isHealthy: boolean;
  isFree: boolean;
  /** What those are told who wait for it, where it is not merely busy. */
  whyHeld?: string | null;
};
export type Snapshot = {
  gangs: readonly WaitingGang[];
  vacancies?: readonly Vacancy[];
  nodes: readonly PlacementNode[];
  workers: readonly PlacementWorker[];
};

/** `workers` in the order of the gang, of one node or of several; `home` is one of theirs, and the hub's. */
export type Placement = { job: string; isFurther: boolean; home: string; workers: string[] };
export type Replacement = { job: string; member: string; worker: string };
export type Plan = {
  /** In the order in which the gangs had their turn. */
  placements: Placement[];
  replacements: Replacement[];
  waiting: { job: string; why: string }[];
};

const MIB = 1024 ** 2;

export function priceCents(model: string): number {
  return catalogueModel(model)?.pricePerGpuHourCents ?? 0;
}

export function plan({ gangs, vacancies = [], nodes, workers }: Snapshot): Plan {
  const nodesById = new Map(nodes.map((node) => [node.id, node]));
  const ports = new Map(nodes.map(({ id, freePorts }) => [id, freePorts]));
  const doors = new Map(nodes.map(({ id, gatewayPorts }) => [id, gatewayPorts]));
  const takePort = (node: string) => {
    for (const left of [ports, doors]) left.set(node, (left.get(node) ?? 0) - 1);
  };
  const taken = new Set<string>();
  // What runs comes before what waits.
  const replacements = vacancies
    .toSorted((a, b) => a.sequence - b.sequence || compareIds(a.member, b.member))
    .flatMap((vacancy) => {
      const worker = fill(vacancy, workers, nodesById, ports, taken);
      if (worker === null) return [];
      taken.add(worker.id);
      if (worker.node !== vacancy.home && !vacancy.hasPort) takePort(vacancy.home);
      return [{ job: vacancy.job, member: vacancy.member, worker: worker.id }];
    });
  const placements: Placement[] = [];
  const waiting: Plan["waiting"] = [];
  for (const gang of inTurn(gangs)) {
    const fits = workers.map((worker) => ({
      worker,
      why:
        whyNeverNow(gang, worker, nodesById.get(worker.node)) ??
        (gang.isReached && !hasPort(doors, worker.node)
          ? "on nodes without a free job port"
          : null),
    }));
    const homes = {
      ports,
      hasRoom: (node: string) => (nodesById.get(node)?.capacityBytes ?? 0) >= (gang.hubBytes ?? 0),
    };
    const avoided = avoidedNodes(gang, fits, homes);
    const judged = fits.map(({ worker, why }) => ({
      worker,
      why:
        why ??
        (avoided.has(worker.node) ? "on nodes where the job has failed" : null) ??
        (isBusy(worker, taken) ? busyWords(worker) : null),
    }));
    const eligible = judged.filter(({ why }) => why === null).map(({ worker }) => worker);
    const chosen = choose(gang, eligible, homes);
    if (chosen === null) {
      const hasHome = eligible.some(({ node }) => homes.hasRoom(node));
      waiting.push({ job: gang.job, why: explain(gang, eligible.length, judged, hasHome) });
      continue;
    }
    const { home } = chosen;
    for (const { id } of chosen.workers) taken.add(id);
    if (gang.isReached || chosen.workers.some(({ node }) => node !== home)) takePort(home);
    const { job, isFurther } = gang;
    placements.push({ job, isFurther, home, workers: chosen.workers.map(({ id }) => id) });
  }
  return { placements, replacements, waiting };
}

/**
 * What runs grows before what waits begins. Of jobs that may have several gangs the first of each comes before the second of any: one that has none
 * does nothing at all. So does the first gang of such a job that waits still, where others would grow.
 */
function inTurn(gangs: readonly WaitingGang[]): WaitingGang[] {
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

/** The best worker for a lost member's place, on the hub's node where there is one; null while there is none. */
function fill(
  vacancy: Vacancy,
  workers: readonly PlacementWorker[],
  nodes: ReadonlyMap<string, PlacementNode>,
  ports: ReadonlyMap<string, number>,
  taken: ReadonlySet<string>,
): PlacementWorker | null {
  const { home, hasPort: isOpen } = vacancy;
  const rank = rankOf(vacancy.selection);
  const fitting = workers.filter((worker) => {
    const isReached = worker.node === home || isOpen || hasPort(ports, home);
    return isReached && whyNeverNow(vacancy, worker, nodes.get(worker.node)) === null;
  });
  const elsewhere = fitting.filter(({ node }) => !vacancy.avoidNodes.includes(node));
  const free = (elsewhere.length > 0 ? elsewhere : fitting).filter(
    (worker) => !isBusy(worker, taken),
  );
  const isAway = ({ node }: PlacementWorker) => Number(node !== home);
  return (
    free.toSorted(
      (a, b) => rank(a) - rank(b) || isAway(a) - isAway(b) || compareIds(a.id, b.id),
    )[0] ?? null
  );
}

/** The first filter that excludes a worker even when it is free, as an end of "n …"; null when it may serve. */
function whyNeverNow(
  gang: Omit<Vacancy, "member" | "home" | "hasPort">,
  worker: PlacementWorker,
  node: PlacementNode | undefined,
): string | null {
  const { selection } = gang;
  if (selection.kind === "pinned" && !selection.workerIds.includes(worker.id))
    return "not among the pinned workers";
  if (selection.kind === "auto") {
    if (selection.gpuModels !== null && !selection.gpuModels.includes(worker.model))
      return "of other models";
    if (selection.maxPriceCents !== null && priceCents(worker.model) > selection.maxPriceCents)
      return "above the price ceiling";
  }
  if (gang.onlyMine && node?.ownerId !== null && node?.ownerId !== gang.userId)
    return "of other owners";
  const unfit = gang.images === null ? null : whyNoImage(gang.images, worker.device);
  if (unfit !== null) return unfit;
  if (gang.estimatedMemoryMb !== null && worker.memoryBytes < gang.estimatedMemoryMb * MIB)
    return "with too little memory";
  if (node === undefined || !node.isReady) return "on nodes that do not answer";
  if (node.agentProtocol < gang.agentProtocol) return "on nodes whose agent is too old";
  if (node.isCordoned) return "on cordoned nodes";
  if (!node.hasDisk) return "on nodes whose disk is full";
  if (!worker.isHealthy) return "unhealthy or quarantined";
  return null;
}

function isBusy(worker: PlacementWorker, taken: ReadonlySet<string>): boolean {
  return !worker.isFree || taken.has(worker.id);
}

function busyWords({ isFree, whyHeld = null }: PlacementWorker): string {
  return isFree || whyHeld === null ? "busy" : whyHeld;
}

/** Nodes that failed the job are left alone as long as another one could take it, if only later. */
function avoidedNodes(
  gang: WaitingGang,
  fits: readonly { worker: PlacementWorker; why: string | null }[],
  homes: Homes,
): ReadonlySet<string> {
  const avoid = new Set(gang.avoidNodes);
  const fitting = fits.flatMap(({ why, worker }) =>
    why === null && !avoid.has(worker.node) ? [worker] : [],
  );
  return choose(gang, fitting, homes) === null ? new Set() : avoid;
}

/** Where a hub may be: with memory for it, and for members elsewhere a port. */
type Homes = { ports: ReadonlyMap<string, number>; hasRoom: (node: string) => boolean };
type Chosen = { home: string; workers: PlacementWorker[] };

/** Picks a gang's workers; null when there are too few. It is null, too, when none of their nodes has memory for the hub and, of several, can be reached by the others. */
function choose(
  gang: WaitingGang,
  eligible: readonly PlacementWorker[],
  homes: Homes,
): Chosen | null {
  const rank = rankOf(gang.selection);
  const offers = [...Map.groupBy(eligible, ({ node }) => node).values()].map((workers) =>
    workers.toSorted((a, b) => rank(a) - rank(b) || compareIds(a.id, b.id)),
  );
  const ofHomes = offers.filter(([first]) => homes.hasRoom(first!.node));
  const whole = bestOf(ofHomes, gang.size, rank);
  const workers = whole ?? (gang.hubBytes === null ? null : gather(offers, gang.size, rank, homes));
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
type Offer = readonly PlacementWorker[];

/** The best `count` workers that one node offers, of equals the node with the least to spare; null when none has as many. */
function bestOf(offers: readonly Offer[], count: number, rank: Rank): PlacementWorker[] | null {
  const best = offers
    .filter(({ length }) => length >= count)
    .toSorted(
      (a, b) => compareRanks(a, b, count, rank) || a.length - b.length || compareNodes(a, b),
    )[0];
  return best?.slice(0, count) ?? null;
}

/** Takes from the largest offer down, so that the gang lies on as few nodes as it can. The first node is one that others can reach. */
function gather(
  offers: readonly Offer[],
  count: number,
  rank: Rank,
  { ports, hasRoom }: Homes,
): PlacementWorker[] | null {
  const largestFirst = offers.toSorted(
    (a, b) => b.length - a.length || compareRanks(a, b, a.length, rank) || compareNodes(a, b),
  );
  const home = largestFirst.find(([first]) => hasPort(ports, first!.node) && hasRoom(first!.node));
  if (home === undefined) return null;
  const chosen = [...home];
  const others = largestFirst.filter((offer) => offer !== home);
  while (chosen.length < count) {
    const last = bestOf(others, count - chosen.length, rank);
    const next = last ?? others.shift();
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

function hasPort(ports: ReadonlyMap<string, number>, node: string): boolean {
  return (ports.get(node) ?? 0) > 0;
}

/** Order of preference among the eligible: the user's models in their order, else the cheapest. */
function rankOf(selection: WorkerSelection): Rank {
  if (selection.kind === "auto" && selection.gpuModels !== null) {
    const models = selection.gpuModels;
    return ({ model }) => models.indexOf(model);
  }
  return ({ model }) => priceCents(model);
}

/** Over the first `count` workers: worker by worker the better rank wins. */
function compareRanks(a: Offer, b: Offer, count: number, rank: Rank): number {
  for (let at = 0; at < count; at++) {
    const difference = rank(a[at]!) - rank(b[at]!);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareNodes(a: Offer, b: Offer): number {
  return compareIds(a[0]!.node, b[0]!.node);
}

/** `node-2` before `node-10`. */
function compareIds(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true }) || (a < b ? -1 : a > b ? 1 : 0);
}

function explain(
  gang: WaitingGang,
  eligible: number,
  judged: readonly { why: string | null }[],
  hasHome: boolean,
): string {
  const counts = [...Map.groupBy(judged, ({ why }) => why)]
    .filter(([why]) => why !== null)
    .map(([why, { length }]) => `${length} ${why}`)
    .sort();
  const excluded = counts.length === 0 ? "" : `; excluded: ${counts.join(", ")}`;
  if (eligible >= gang.size && !hasHome)
    return `its server needs ${gang.hubBytes} bytes of memory; no node that has its workers free has as much`;
  const unreached =
    eligible >= gang.size
      ? "; they are on several nodes, none of which the others can reach on a free job port"
      : "";
  return `needs ${gang.size} workers; ${eligible} of ${judged.length} would do now${unreached}${excluded}`;
}
