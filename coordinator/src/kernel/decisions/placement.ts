/**
 * `snapshot → plan`, pure: which waiting jobs get which workers now, and why the others don't. A gang is placed wholly or not at
 * all: on one node where one has room, else on as few as do, the member that the others reach beside most of them. Jobs in order of arrival, nodes
 * by what they offer, every tie ended by an id: the same snapshot gives the same plan.
 */
import { catalogueModel } from "@resontech/contracts/gpu-catalogue";
import type { DeviceFacts } from "@resontech/contracts/image-needs";
import type { WorkerSelection } from "../accepted-task.ts";
import { type MemberImage, whyNoImage } from "./member-image.ts";

export type WaitingJob = {
  id: string;
  sequence: number;
  userId: string;
  /** How many workers its gang takes. */
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
  /** Of one with replicas: those that it has, and those of its own that come before this one. Absent: it has none ever. */
  replicas?: number;
};
/** The place of a lost member in an attempt that runs; `home` is its hub's node. */
export type Vacancy = Omit<WaitingJob, "id" | "size" | "hubBytes" | "isReached" | "replicas"> & {
  job: string;
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
  /** What holds it ends by nothing but somebody's word. @default false */
  isHeldForGood?: boolean;
};
export type Snapshot = {
  jobs: readonly WaitingJob[];
  /** One more of a job that runs, each, which is there once for every one: placed before all jobs. Whoever has none has the first turn. */
  replicas?: readonly WaitingJob[];
  vacancies?: readonly Vacancy[];
  nodes: readonly PlacementNode[];
  workers: readonly PlacementWorker[];
};

/** `workers` in the order of the gang, of one node or of several; `home` is one of theirs, and the hub's. */
export type Placement = { job: string; home: string; workers: string[] };
export type Replacement = { job: string; member: string; worker: string };
export type Plan = {
  placements: Placement[];
  replacements: Replacement[];
  replicas: Placement[];
  waiting: { job: string; why: string }[];
};

const MIB = 1024 ** 2;

export function priceCents(model: string): number {
  return catalogueModel(model)?.pricePerGpuHourCents ?? 0;
}

export function plan({
  jobs,
  replicas: more = [],
  vacancies = [],
  nodes,
  workers,
}: Snapshot): Plan {
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
  const [placements, replicas]: [Placement[], Placement[]] = [[], []];
  const waiting: Plan["waiting"] = [];
  for (const { job, isMore } of inTurn(more, jobs)) {
    const placed = isMore ? replicas : placements;
    const fits = workers.map((worker) => ({
      worker,
      why:
        whyNeverNow(job, worker, nodesById.get(worker.node)) ??
        (job.isReached && !hasPort(doors, worker.node) ? "on nodes without a free job port" : null),
    }));
    const homes = {
      ports,
      hasRoom: (node: string) => (nodesById.get(node)?.capacityBytes ?? 0) >= (job.hubBytes ?? 0),
    };
    const avoided = avoidedNodes(job, fits, homes);
    const judged = fits.map(({ worker, why }) => ({
      worker,
      why:
        why ??
        (avoided.has(worker.node) ? "on nodes where the job has failed" : null) ??
        (isBusy(worker, taken) ? busyWords(worker) : null),
    }));
    const eligible = judged.filter(({ why }) => why === null).map(({ worker }) => worker);
    const chosen = choose(job, eligible, homes);
    if (chosen === null) {
      const hasHome = eligible.some(({ node }) => homes.hasRoom(node));
      waiting.push({ job: job.id, why: explain(job, eligible.length, judged, hasHome) });
      continue;
    }
    const { home } = chosen;
    for (const { id } of chosen.workers) taken.add(id);
    if (job.isReached || chosen.workers.some(({ node }) => node !== home)) takePort(home);
    placed.push({ job: job.id, home, workers: chosen.workers.map(({ id }) => id) });
  }
  return { placements, replacements, replicas, waiting };
}

/**
 * Replicas, then jobs. Of replicas the first of each deployment comes before the second of any: one that answers nobody weighs more than one that
 * could answer more. So does the first of a deployment that is a job still, where others would grow.
 */
function inTurn(
  more: readonly WaitingJob[],
  jobs: readonly WaitingJob[],
): { job: WaitingJob; isMore: boolean }[] {
  const bySequence = (a: WaitingJob, b: WaitingJob) => a.sequence - b.sequence;
  const there = ({ replicas = 0 }: WaitingJob) => replicas;
  const growing = more
    .toSorted((a, b) => there(a) - there(b) || bySequence(a, b))
    .map((job) => ({ job, isMore: true }));
  const queued = jobs.toSorted(bySequence).map((job) => ({ job, isMore: false }));
  const isFirst = ({ job }: { job: WaitingJob }) => job.replicas === 0;
  const grown = growing.filter((turn) => !isFirst(turn));
  if (grown.length === 0) return [...growing, ...queued];
  return [
    ...growing.filter(isFirst),
    ...queued.filter(isFirst),
    ...grown,
    ...queued.filter((turn) => !isFirst(turn)),
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
  const { home, hasPort: isOpen, job: id } = vacancy;
  const rank = rankOf(vacancy.selection);
  const fitting = workers.filter((worker) => {
    const isReached = worker.node === home || isOpen || hasPort(ports, home);
    return (
      isReached && whyNeverNow({ ...vacancy, id, size: 1 }, worker, nodes.get(worker.node)) === null
    );
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
  job: Omit<WaitingJob, "hubBytes" | "isReached">,
  worker: PlacementWorker,
  node: PlacementNode | undefined,
): string | null {
  const { selection } = job;
  if (selection.kind === "pinned" && !selection.workerIds.includes(worker.id))
    return "not among the pinned workers";
  if (selection.kind === "auto") {
    if (selection.gpuModels !== null && !selection.gpuModels.includes(worker.model))
      return "of other models";
    if (selection.maxPriceCents !== null && priceCents(worker.model) > selection.maxPriceCents)
      return "above the price ceiling";
  }
  if (job.onlyMine && node?.ownerId !== null && node?.ownerId !== job.userId)
    return "of other owners";
  const unfit = job.images === null ? null : whyNoImage(job.images, worker.device);
  if (unfit !== null) return unfit;
  if (job.estimatedMemoryMb !== null && worker.memoryBytes < job.estimatedMemoryMb * MIB)
    return "with too little memory";
  if (node === undefined || !node.isReady) return "on nodes that do not answer";
  if (node.agentProtocol < job.agentProtocol) return "on nodes whose agent is too old";
  if (node.isCordoned) return "on cordoned nodes";
  if (!node.hasDisk) return "on nodes whose disk is full";
  if (!worker.isHealthy) return "unhealthy or quarantined";
  return null;
}

function isBusy(worker: PlacementWorker, taken: ReadonlySet<string>): boolean {
  return !worker.isFree || taken.has(worker.id);
}

function busyWords({ isFree, isHeldForGood }: PlacementWorker): string {
  return !isFree && isHeldForGood === true
    ? "held by endpoints, which have no end of their own: stop one, or let it run fewer replicas"
    : "busy";
}

/** Nodes that failed the job are left alone as long as another one could take it, if only later. */
function avoidedNodes(
  job: WaitingJob,
  fits: readonly { worker: PlacementWorker; why: string | null }[],
  homes: Homes,
): ReadonlySet<string> {
  const avoid = new Set(job.avoidNodes);
  const fitting = fits.flatMap(({ why, worker }) =>
    why === null && !avoid.has(worker.node) ? [worker] : [],
  );
  return choose(job, fitting, homes) === null ? new Set() : avoid;
}

/** Where a hub may be: with memory for it, and for members elsewhere a port. */
type Homes = { ports: ReadonlyMap<string, number>; hasRoom: (node: string) => boolean };
type Chosen = { home: string; workers: PlacementWorker[] };

/** Null when there are too few workers, or when none of their nodes has memory for the hub and, of several, can be reached by the others. */
function choose(
  job: WaitingJob,
  eligible: readonly PlacementWorker[],
  homes: Homes,
): Chosen | null {
  const rank = rankOf(job.selection);
  const offers = [...Map.groupBy(eligible, ({ node }) => node).values()].map((workers) =>
    workers.toSorted((a, b) => rank(a) - rank(b) || compareIds(a.id, b.id)),
  );
  const ofHomes = offers.filter(([first]) => homes.hasRoom(first!.node));
  const whole = bestOf(ofHomes, job.size, rank);
  const workers = whole ?? (job.hubBytes === null ? null : gather(offers, job.size, rank, homes));
  if (workers === null) return null;
  const { selection } = job;
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

/** From the largest offer down, so that the gang lies on as few nodes as it can; the first is one that others can reach. */
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
  job: WaitingJob,
  eligible: number,
  judged: readonly { why: string | null }[],
  hasHome: boolean,
): string {
  const counts = [...Map.groupBy(judged, ({ why }) => why)]
    .filter(([why]) => why !== null)
    .map(([why, { length }]) => `${length} ${why}`)
    .sort();
  const excluded = counts.length === 0 ? "" : `; excluded: ${counts.join(", ")}`;
  if (eligible >= job.size && !hasHome)
    return `its server needs ${job.hubBytes} bytes of memory; no node that has its workers free has as much`;
  const unreached =
    eligible >= job.size
      ? "; they are on several nodes, none of which the others can reach on a free job port"
      : "";
  return `needs ${job.size} workers; ${eligible} of ${judged.length} would do now${unreached}${excluded}`;
}
