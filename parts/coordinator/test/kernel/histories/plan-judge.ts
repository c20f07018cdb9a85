/**
 * What must hold of a plan, told from its snapshot by the plainest means: no code of the planner is used, so that a fault of the planner is not a fault
 * of its judge.
 */
import type {
  PlacementNode,
  PlacementWorker,
  RunningGang,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import type { Plan, Snapshot } from "../../../src/kernel/decisions/placement.ts";
import type { Amounts, Share } from "../../../src/kernel/decisions/shares.ts";

const HOUR = 3_600_000;
const SIX_HOURS = 6 * HOUR;
const MIB = 1024 ** 2;

/** @returns what is wrong with the plan, in words; nothing where all of it may be done */
export function faultsOfPlan(snapshot: Snapshot, plan: Plan): string[] {
  return [
    ...faultsOfWorkers(snapshot, plan),
    ...faultsOfGangs(snapshot, plan),
    ...faultsOfLimits(snapshot, plan),
    ...faultsOfPools(snapshot, plan),
    ...faultsOfVictims(snapshot, plan),
  ];
}

/** @returns what a plan that decides nothing leaves undone */
export function faultsOfRest(snapshot: Snapshot, { waiting }: Plan): string[] {
  const { sharing } = snapshot;
  // Which workers are reserved is told by no plan.
  if (waiting.some(({ why }) => why.startsWith("has waited long"))) return [];
  const faults: string[] = [];
  const shares = new PlainShares(snapshot);
  holdKept(shares, snapshot.workers, comingOf(waiting), 1);
  const persons = new PlainPersons(snapshot, comingOf(waiting));
  for (const { gang } of waiting) {
    const serving = snapshot.workers.filter(
      (worker) => mayEverServe(snapshot, gang, worker) && hasRoomInPool(snapshot, gang, worker),
    );
    const free = serving.filter((worker) => isFreeFor(worker, gang.job));
    const models = [...new Set(serving.map(({ model }) => model))];
    if (models.length !== 1) continue;
    const amounts = { [models[0]!]: gang.size };
    if (persons.isOverLimit(gang)) continue;
    const isOver = shares.isOverLimit(gang.project, amounts);
    const isBound =
      gang.isOnlyGuaranteed === true &&
      sharing !== undefined &&
      !shares.isGuaranteed(gang.project, amounts);
    if (!isOver && !isBound && fits(snapshot, gang, free))
      faults.push(`${gang.job} waits, and its workers are free`);
    const isKeptFor = serving.some(({ keptFor }) => keptFor === gang.job);
    if (isKeptFor || gang.isFurther || isOver) continue;
    const isUnsure = gang.isOnlyGuaranteed === true && !shares.isGuaranteed(gang.project, amounts);
    if (sharing !== undefined && isUnsure) continue;
    for (const victim of sharing?.running ?? snapshot.backfill?.running ?? []) {
      const isGuest =
        victim.isPreemptible &&
        victim.project !== gang.project &&
        isGuestOf(gang.project, victim, snapshot);
      if (!isGuest && (sharing === undefined || !mayMakeWay(victim, sharing.now))) continue;
      const freed = serving.filter(
        ({ id, keptFor = null }) => victim.workers.includes(id) && keptFor === null,
      );
      if (freed.length === 0 || !fits(snapshot, gang, [...new Set([...free, ...freed])])) continue;
      if (isGuest) faults.push(`${gang.job} waits for its own nodes, which ${victim.job} has`);
      if (sharing === undefined) continue;
      const isEntitled =
        !isOver &&
        victim.project !== gang.project &&
        shares.isGuaranteed(gang.project, amounts) &&
        shares.borrows(victim.project, shares.amountsOf(victim.workers));
      if (isEntitled) faults.push(`${gang.job} is guaranteed what ${victim.job} was lent`);
      const isLower = victim.project === gang.project && victim.priority < gang.priority;
      if (isLower && !shares.isOverLimit(gang.project, amounts, shares.amountsOf(victim.workers)))
        faults.push(`${gang.job} waits beneath ${victim.job} of a lower class of its project`);
    }
  }
  return faults;
}

/** Whether the gang would start if every worker were free, and its project held nothing. */
export function couldStart(snapshot: Snapshot, gang: WaitingGang): boolean {
  const nothing = { ...snapshot, sharing: undefined };
  const serving = snapshot.workers.filter(
    (worker) => mayEverServe(snapshot, gang, worker) && gang.size <= mostInPool(snapshot, worker),
  );
  const shares = new PlainShares(nothing, snapshot.sharing?.shares);
  const models = [...new Set(serving.map(({ model }) => model))];
  const alone = new PlainPersons(
    { ...snapshot, sharing: snapshot.sharing && { ...snapshot.sharing, running: [], leaving: [] } },
    [],
  );
  if (alone.isOverLimit(gang)) return false;
  // Of several models any may be over a limit; one that is over none is enough.
  return models.some((model) => {
    const isSure =
      gang.isOnlyGuaranteed !== true ||
      snapshot.sharing === undefined ||
      shares.isGuaranteed(gang.project, { [model]: gang.size });
    if (!isSure) return false;
    const ofModel = serving.filter((worker) => worker.model === model);
    return (
      fits(snapshot, gang, ofModel) && !shares.isOverLimit(gang.project, { [model]: gang.size })
    );
  });
}

function faultsOfWorkers({ nodes, workers, gangs, vacancies = [] }: Snapshot, plan: Plan) {
  const faults: string[] = [];
  const given = new Set<string>();
  const take = (id: string, job: string, asks: AnyGang) => {
    const worker = workers.find((one) => one.id === id);
    if (worker === undefined) return faults.push(`${job}: there is no ${id}`);
    if (given.has(id)) faults.push(`${id} is given out twice`);
    given.add(id);
    if (!worker.isFree) faults.push(`${job}: ${id} is busy`);
    if ((worker.keptFor ?? job) !== job) faults.push(`${job}: ${id} is kept for another`);
    if (!serves({ nodes, workers }, asks, worker)) faults.push(`${job}: ${id} does not serve it`);
    return undefined;
  };
  for (const { job, workers: ids, member } of plan.replacements) {
    const vacancy = vacancies.find((one) => one.member === member);
    if (vacancy === undefined) faults.push(`${job}: no place of ${member} is vacant`);
    else for (const id of ids) take(id, job, vacancy);
  }
  for (const { job, isFurther, workers: ids } of plan.placements) {
    const gang = gangs.find((one) => one.job === job && one.isFurther === isFurther);
    if (gang === undefined) faults.push(`${job} does not wait`);
    else for (const id of ids) take(id, job, gang);
  }
  return faults;
}

function faultsOfGangs(snapshot: Snapshot, plan: Plan): string[] {
  const { gangs, workers } = snapshot;
  const faults: string[] = [];
  const nodeOf = new Map(workers.map(({ id, node }) => [id, node]));
  for (const { job, isFurther, home, workers: ids } of plan.placements) {
    const gang = gangs.find((one) => one.job === job && one.isFurther === isFurther);
    if (gang === undefined) continue;
    if (ids.length !== gang.size) faults.push(`${job} gets ${ids.length} of ${gang.size} workers`);
    const on = new Set(ids.map((id) => nodeOf.get(id)!));
    if (!on.has(home)) faults.push(`${job}: its home ${home} is none of its nodes`);
    if (gang.hubBytes === null && on.size > 1) faults.push(`${job} is torn over nodes`);
    const { workersEach: each = 1 } = gang;
    for (let at = 0; at < ids.length; at += each) {
      const member = ids.slice(at, at + each).map((id) => workers.find((one) => one.id === id)!);
      const isTorn = member.some(
        ({ node, model }) => node !== member[0]!.node || model !== member[0]!.model,
      );
      if (isTorn) faults.push(`${job}: a member of it is torn`);
    }
    const isAvoided = gang.avoidNodes.some((node) => on.has(node));
    if (isAvoided && couldStart(snapshot, gang)) faults.push(`${job} goes back to where it failed`);
  }
  const key = (job: string, isFurther: boolean) => `${job} ${isFurther}`;
  const left = new Map<string, number>();
  for (const { job, isFurther } of gangs)
    left.set(key(job, isFurther), (left.get(key(job, isFurther)) ?? 0) + 1);
  const settle = (which: string) => left.set(which, (left.get(which) ?? 0) - 1);
  for (const { job, isFurther } of plan.placements) settle(key(job, isFurther));
  for (const { job, gang, why } of plan.waiting) {
    settle(key(job, gang.isFurther));
    if (why === "") faults.push(`${job} waits for no reason`);
  }
  for (const [which, count] of left)
    if (count !== 0) faults.push(`${which} is told ${count > 0 ? "nothing" : "twice"}`);
  return faults;
}

function faultsOfLimits(snapshot: Snapshot, plan: Plan): string[] {
  const shares = new PlainShares(snapshot);
  const wasOver = new Set(shares.overLimits());
  for (const { job, workers: ids } of plan.placements) {
    const project = snapshot.gangs.find((gang) => gang.job === job)?.project ?? "";
    shares.hold(project, ids, 1);
  }
  return shares
    .overLimits()
    .filter((one) => !wasOver.has(one))
    .map((one) => `placed over the limit of ${one}`);
}

/** What was over its limit before may stay so; nobody is placed into it. */
function faultsOfPools(snapshot: Snapshot, plan: Plan): string[] {
  const held = new Map<string, number>();
  return plan.placements.flatMap(({ job, workers: ids }) => {
    const { project } = snapshot.gangs.find((gang) => gang.job === job)!;
    return ids.flatMap((id) => {
      const worker = snapshot.workers.find((one) => one.id === id)!;
      const most = mostInPool(snapshot, worker);
      const pool = poolOf(snapshot, worker)?.id ?? "";
      const key = `${pool} ${project}`;
      const now = (held.get(key) ?? snapshot.poolUse?.get(pool)?.get(project) ?? 0) + 1;
      held.set(key, now);
      return now > most ? [`${job}: ${project} has more of a pool than it may`] : [];
    });
  });
}

/** All of the gang would be within the limit of the worker's pool, with what its project holds there and what is kept for its project. */
function hasRoomInPool(snapshot: Snapshot, gang: WaitingGang, worker: PlacementWorker): boolean {
  const pool = poolOf(snapshot, worker)?.id;
  if (pool === undefined) return true;
  const { project, job, size } = gang;
  const others = new Set(
    snapshot.gangs.flatMap((one) => (one.project === project && one.job !== job ? [one.job] : [])),
  );
  const kept = snapshot.workers.filter(
    (one) => others.has(one.keptFor ?? "") && poolOf(snapshot, one)?.id === pool,
  );
  const held = snapshot.poolUse?.get(pool)?.get(project) ?? 0;
  return held + kept.length + size <= mostInPool(snapshot, worker);
}

/** How many workers one project may have in the worker's pool. */
function mostInPool(snapshot: Fleet, worker: PlacementWorker): number {
  return poolOf(snapshot, worker)?.projectWorkers ?? Infinity;
}

function poolOf({ nodes }: Fleet, { node }: PlacementWorker) {
  return nodes.find(({ id }) => id === node)?.gate?.pool ?? null;
}

function faultsOfVictims(snapshot: Snapshot, plan: Plan): string[] {
  const { preemptions, placements } = plan;
  const { sharing, workers, gangs } = snapshot;
  const running = sharing?.running ?? snapshot.backfill?.running ?? [];
  const faults: string[] = [];
  const gone = new Set<string>();
  const given = new Set(placements.flatMap(({ workers: ids }) => ids));
  // No plan tells what was placed before whom: who is entitled is asked without it, and who borrows with it.
  const shares = new PlainShares(snapshot);
  const most = new PlainShares(snapshot);
  const promised = comingOf(plan.waiting);
  for (const one of [shares, most]) holdKept(one, workers, promised, 1);
  for (const { job, workers: ids } of placements)
    most.hold(gangs.find((gang) => gang.job === job)?.project ?? "", ids, 1);
  for (const { job, reason, victims, workers: ids } of preemptions) {
    const gang = gangs.find((one) => one.job === job && !one.isFurther);
    if (gang === undefined) {
      faults.push(`${job} does not wait, and others make way for it`);
      continue;
    }
    const freed = new Set<string>();
    let isOwners = false;
    for (const { job: victimJob, attempt } of victims) {
      const victim = running.find((one) => one.attempt === attempt);
      if (victim === undefined || gone.has(attempt)) {
        faults.push(`${victimJob} makes way twice, or does not run`);
        continue;
      }
      gone.add(attempt);
      for (const id of victim.workers) freed.add(id);
      if (victim.project !== gang.project && isGuestOf(gang.project, victim, snapshot)) {
        if (!victim.isPreemptible) faults.push(`${victimJob} may never be made to go`);
        isOwners = true;
        continue;
      }
      if (sharing === undefined) {
        faults.push(`${victimJob} makes way, and nobody is guaranteed anything`);
        continue;
      }
      if (!mayMakeWay(victim, sharing.now)) faults.push(`${victimJob} may not be made to go`);
      const isPeer = victim.project === gang.project;
      if (reason === "class" && !(isPeer && victim.priority < gang.priority))
        faults.push(`${victimJob} goes for a class that is not above it`);
      if (reason === "guarantee" && isPeer) faults.push(`${victimJob} goes for its own project`);
    }
    for (const one of [shares, most]) holdKept(one, workers, [gang], -1);
    if (ids.length !== gang.size) faults.push(`${job}: others make way for a part of it`);
    for (const id of ids) {
      const worker = workers.find((one) => one.id === id);
      if (worker === undefined || !serves(snapshot, gang, worker) || given.has(id))
        faults.push(`${job}: others make way for ${id}, which it can't have`);
      else if (!worker.isFree && !freed.has(id)) faults.push(`${job}: nobody leaves ${id}`);
      given.add(id);
    }
    const needed = victims.filter(({ attempt }) => {
      const rest = new Set(
        victims.flatMap((other) =>
          other.attempt === attempt
            ? []
            : (running.find((one) => one.attempt === other.attempt)?.workers ?? []),
        ),
      );
      return ids.some((id) => !rest.has(id));
    });
    if (victims.length === 0 || needed.length === 0) faults.push(`${job}: nobody had to make way`);
    if (
      reason === "guarantee" &&
      !isOwners &&
      !shares.isGuaranteed(gang.project, shares.amountsOf(ids))
    )
      faults.push(`${job}: others make way for more than it is guaranteed`);
    for (const { attempt } of victims) {
      const victim = running.find((one) => one.attempt === attempt);
      if (victim === undefined) continue;
      const amounts = shares.amountsOf(victim.workers);
      if (reason === "guarantee" && !isOwners && !most.borrows(victim.project, amounts))
        faults.push(`${victim.job} goes, and was lent nothing`);
      for (const one of [shares, most]) one.hold(victim.project, victim.workers, -1);
    }
    for (const one of [shares, most]) one.hold(gang.project, ids, 1);
  }
  return faults;
}

/** Those that workers are on their way to. */
function comingOf(waiting: Plan["waiting"]): WaitingGang[] {
  return waiting.flatMap(({ gang, why }) =>
    why.startsWith("workers are taken back") ? [gang] : [],
  );
}

/** What was taken back is as good as held by whom it is kept for. */
function holdKept(
  shares: PlainShares,
  workers: readonly PlacementWorker[],
  gangs: readonly WaitingGang[],
  sign: 1 | -1,
): void {
  for (const { job, project } of gangs) {
    const kept = workers.filter(({ keptFor }) => keptFor === job);
    shares.hold(
      project,
      kept.map(({ id }) => id),
      sign,
    );
  }
}

type AnyGang = Pick<
  WaitingGang,
  "selection" | "onlyMine" | "userId" | "estimatedMemoryMb" | "agentProtocol"
> &
  Partial<Pick<WaitingGang, "project" | "runsMs" | "before">>;
type Fleet = { nodes: readonly PlacementNode[]; workers: readonly PlacementWorker[] };

function serves({ nodes }: Fleet, gang: AnyGang, worker: PlacementWorker): boolean {
  const node = nodes.find(({ id }) => id === worker.node);
  if (node === undefined || !node.isReady || node.isCordoned || !node.hasDisk) return false;
  if (!worker.isHealthy || node.agentProtocol < gang.agentProtocol) return false;
  if (gang.onlyMine && node.ownerId !== null && node.ownerId !== gang.userId) return false;
  if (gang.estimatedMemoryMb !== null && worker.memoryBytes < gang.estimatedMemoryMb * MIB)
    return false;
  if (!isLetIn(node, gang)) return false;
  const { selection } = gang;
  if (selection.kind === "pinned") return selection.workerIds.includes(worker.id);
  return selection.gpuModels === null || selection.gpuModels.includes(worker.model);
}

/** By the node's pool and calendar: an hour before something a gang without a run time stays out, and starting takes five minutes. */
function isLetIn({ gate }: PlacementNode, { project, runsMs = null, before }: AnyGang): boolean {
  if (gate === undefined) return true;
  const { at, pool, closures } = gate;
  if (pool !== null && pool.project !== null && pool.project !== project)
    if (!pool.lends || before !== undefined) return false;
  const until = at + (runsMs === null ? HOUR : runsMs + HOUR / 12);
  return closures.every(
    (closure) =>
      closure.until <= at ||
      closure.from >= until ||
      (closure.project !== null && closure.project === project),
  );
}

/** Whose a node is at the moment: by its calendar, else by its pool. */
function ownerOf({ gate }: PlacementNode): string | null {
  if (gate === undefined) return null;
  const now = gate.closures.filter(({ from, until }) => from <= gate.at && gate.at < until);
  if (now.some(({ project }) => project === null)) return null;
  return now[0]?.project ?? gate.pool?.project ?? null;
}

/** It holds workers of a node that is another project's: that one gets these back whenever it asks. */
function isGuestOf(project: string, { workers: ids }: RunningGang, { nodes, workers }: Fleet) {
  const on = new Set(workers.filter(({ id }) => ids.includes(id)).map(({ node }) => node));
  return nodes.some((node) => on.has(node.id) && ownerOf(node) === project);
}

/** It serves the gang, and lies on no node that the gang would rather avoid. */
function mayEverServe(snapshot: Fleet, gang: WaitingGang, worker: PlacementWorker): boolean {
  const { nodes } = snapshot;
  if (!serves(snapshot, gang, worker) || gang.avoidNodes.includes(worker.node)) return false;
  return !gang.isReached || (nodes.find(({ id }) => id === worker.node)?.gatewayPorts ?? 0) > 0;
}

function isFreeFor({ isFree, keptFor = null }: PlacementWorker, job: string): boolean {
  return isFree && (keptFor === null || keptFor === job);
}

/** Whether the gang lies whole on these: on one node, or with a hub on a node that has room, and a port for the others. */
function fits({ nodes }: Fleet, gang: WaitingGang, workers: readonly PlacementWorker[]): boolean {
  const { hubBytes, size, workersEach: each = 1 } = gang;
  const members = size / each;
  const groups = [...Map.groupBy(workers, ({ node }) => node)].map(([id, ofNode]) => ({
    node: nodes.find((one) => one.id === id)!,
    count: [...Map.groupBy(ofNode, ({ model }) => model).values()].reduce(
      (sum, alike) => sum + Math.floor(alike.length / each),
      0,
    ),
  }));
  const homes = groups.filter(
    ({ node, count }) => count > 0 && (hubBytes === null || node.capacityBytes >= hubBytes),
  );
  if (homes.some(({ count }) => count >= members)) return true;
  if (hubBytes === null) return false;
  const all = groups.reduce((sum, { count }) => sum + count, 0);
  return all >= members && homes.some(({ node }) => node.freePorts > 0);
}

function mayMakeWay({ isPreemptible, preemptedAt }: RunningGang, now: number): boolean {
  return isPreemptible && preemptedAt.filter((at) => now - at < SIX_HOURS).length < 2;
}

/** How many workers each person has below a share that limits it. */
class PlainPersons {
  readonly #shares: readonly Share[];
  readonly #holders: readonly { project: string; userId: string; workers: number }[];

  constructor({ sharing }: Snapshot, coming: readonly WaitingGang[]) {
    this.#shares = sharing?.shares ?? [];
    this.#holders = [
      ...[...(sharing?.running ?? []), ...(sharing?.leaving ?? [])].map((one) => ({
        ...{ project: one.project, userId: one.userId, workers: one.workers.length },
      })),
      ...coming.map(({ project, userId, size }) => ({ project, userId, workers: size })),
    ];
  }

  isOverLimit({ project, userId, size }: WaitingGang, added = 0): boolean {
    return this.#shares.some(({ id, personRunning }) => {
      if (personRunning == null || !this.#isBelow(project, id)) return false;
      const held = this.#holders
        .filter((one) => one.userId === userId && this.#isBelow(one.project, id))
        .reduce((sum, { workers }) => sum + workers, 0);
      return held + added + size > personRunning;
    });
  }

  #isBelow(project: string, share: string): boolean {
    const parent = this.#shares.find(({ id }) => id === project)?.parent ?? null;
    return project === share || parent === share;
  }
}

/** Who holds how much on each level, by sums alone. */
class PlainShares {
  readonly #shares: ReadonlyMap<string, Share>;
  readonly #modelOf: ReadonlyMap<string, string>;
  readonly #held = new Map<string, number>();
  /** Of those that were asked to go: it counts against limits. */
  readonly #leaving = new Map<string, number>();

  constructor({ sharing, workers }: Snapshot, shares: readonly Share[] = sharing?.shares ?? []) {
    this.#shares = new Map(shares.map((share) => [share.id, share]));
    this.#modelOf = new Map(workers.map(({ id, model }) => [id, model]));
    for (const { project, workers: ids } of sharing?.running ?? []) this.hold(project, ids, 1);
    for (const { project, workers: ids } of sharing?.leaving ?? [])
      this.#add(this.#leaving, project, ids, 1);
  }

  hold(project: string, workers: readonly string[], sign: 1 | -1): void {
    this.#add(this.#held, project, workers, sign);
  }

  #add(to: Map<string, number>, project: string, workers: readonly string[], sign: 1 | -1): void {
    for (const [model, count] of Object.entries(this.amountsOf(workers)))
      for (const { id } of this.#above(project)) {
        const key = `${id} ${model}`;
        to.set(key, (to.get(key) ?? 0) + sign * count);
      }
  }

  amountsOf(workers: readonly string[]): Amounts {
    const amounts: Record<string, number> = {};
    for (const id of workers) {
      const model = this.#modelOf.get(id);
      if (model !== undefined) amounts[model] = (amounts[model] ?? 0) + 1;
    }
    return amounts;
  }

  isGuaranteed(project: string, amounts: Amounts): boolean {
    return this.#above(project).some(({ id, guarantee }) =>
      Object.entries(amounts).every(
        ([model, count]) => this.#of(id, model) + count <= (guarantee[model] ?? 0),
      ),
    );
  }

  borrows(project: string, amounts: Amounts): boolean {
    return Object.keys(amounts).some((model) =>
      this.#above(project).every(
        ({ id, guarantee }) => this.#of(id, model) > (guarantee[model] ?? 0),
      ),
    );
  }

  /** @param freed what is let go for it */
  isOverLimit(project: string, amounts: Amounts, freed: Amounts = {}): boolean {
    return this.#above(project).some(({ id, limit }) =>
      Object.entries(amounts).some(
        ([model, count]) =>
          this.#there(id, model) + count - (freed[model] ?? 0) > (limit[model] ?? Infinity),
      ),
    );
  }

  /** Each share and model that holds more than its limit. */
  overLimits(): string[] {
    return [...this.#shares.values()].flatMap(({ id, limit }) =>
      Object.entries(limit).flatMap(([model, most]) =>
        this.#there(id, model) > most ? [`${id} of ${model}`] : [],
      ),
    );
  }

  #there(id: string, model: string): number {
    return this.#of(id, model) + (this.#leaving.get(`${id} ${model}`) ?? 0);
  }

  #of(id: string, model: string): number {
    return this.#held.get(`${id} ${model}`) ?? 0;
  }

  #above(project: string): Share[] {
    const path: Share[] = [];
    const unset = { id: project, parent: null, guarantee: {}, limit: {}, weight: 1 };
    for (
      let share: Share | undefined = this.#shares.get(project) ?? unset;
      share !== undefined;
      share = this.#shares.get(share.parent ?? "")
    )
      path.push(share);
    return path;
  }
}
