/**
 * A made history of a fleet: jobs come and end, nodes go and return, shares are set, and after each event the plan is made and done until it decides
 * nothing more. Each plan is judged. A seed names the whole history.
 */
import { seededRandom } from "@resontech/house/seeded-random";
import type {
  PlacementNode,
  PlacementWorker,
  RunningGang,
  Vacancy,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import type { NodeGate, NodePool } from "../../../src/kernel/decisions/gate-facts.ts";
import type { Plan, Snapshot } from "../../../src/kernel/decisions/placement.ts";
import { CLASS_PRIORITIES } from "../../../src/kernel/decisions/priorities.ts";
import type { Amounts, Share } from "../../../src/kernel/decisions/shares.ts";
import { BrokenHistory } from "./broken-history.ts";
import { couldStart, faultsOfPlan, faultsOfRest } from "./plan-judge.ts";

const MINUTE = 60_000;
const KEPT_MS = 2 * MINUTE;
const MODELS = ["cpu", "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB"];
const GPU = { kind: "gpu", vendor: "nvidia", architecture: "9.0", driver: "570.1" } as const;
const PROJECTS = ["project-0", "project-1", "project-2"];
/** Of one moment: each further cycle follows from what the one before it decided. */
const MOST_CYCLES = 60;
/** After the last event a job ends within its hours, and each makes way at most twice. */
const SETTLING_STEPS = 400;

/** A job of the history. @property place of each of its workers, in the order of the gang */
type Attempt = {
  job: string;
  attempt: string;
  workers: string[];
  home: string;
  startedAt: number;
  endsAt: number;
  isLeaving: boolean;
  isFurther: boolean;
};

/** @throws BrokenHistory with what is wrong @returns how much was placed, moved and made to go */
export function runFleetHistory(
  seed: number,
  events: number,
  makePlan: (snapshot: Snapshot) => Plan,
): HistoryCounts {
  const history = new FleetHistory(seed, makePlan);
  history.begin();
  for (let n = 0; n < events; n += 1) history.next();
  history.settle();
  return history.counts;
}

export type HistoryCounts = {
  cycles: number;
  placed: number;
  replaced: number;
  preempted: number;
  reserved: number;
};

class FleetHistory {
  readonly counts: HistoryCounts = {
    ...{ cycles: 0, placed: 0, replaced: 0, preempted: 0, reserved: 0 },
  };
  readonly #seed: number;
  readonly #random: () => number;
  readonly #makePlan: (snapshot: Snapshot) => Plan;
  #now = 1_000_000 * MINUTE;
  #nodes: PlacementNode[] = [];
  #workers: PlacementWorker[] = [];
  #shares: Share[] = [];
  /** Those that are not over, in order of arrival; the running ones as they would wait. */
  readonly #jobs = new Map<string, WaitingGang & { minutes: number; preemptedAt: number[] }>();
  readonly #waiting = new Set<string>();
  #attempts: Attempt[] = [];
  readonly #kept = new Map<string, { job: string; until: number }>();
  readonly #gates = new Map<string, Omit<NodeGate, "key" | "at">>();
  #count = 0;
  #event = "the beginning";

  constructor(seed: number, makePlan: (snapshot: Snapshot) => Plan) {
    this.#seed = seed;
    this.#random = seededRandom(seed);
    this.#makePlan = makePlan;
  }

  begin(): void {
    const oneModel = this.#chance(0.6) ? this.#pick(MODELS) : null;
    this.#nodes = Array.from({ length: 1 + this.#below(4) }, (_, at) => ({
      ...{ id: `node-${at}`, isReady: true, isCordoned: false, hasDisk: true },
      ownerId: this.#chance(0.8) ? null : "user-1",
      freePorts: this.#chance(0.8) ? 9 : 0,
      gatewayPorts: this.#chance(0.8) ? 9 : 0,
      capacityBytes: this.#pick([4e9, 16e9, 64e9]),
      agentProtocol: this.#chance(0.9) ? 7 : 6,
    }));
    this.#workers = this.#nodes.flatMap(({ id }) => {
      const model = oneModel ?? this.#pick(MODELS);
      return Array.from({ length: 1 + this.#below(4) }, (_, at) => ({
        ...{ id: `${id}-${at}`, node: id, model, isHealthy: true, isFree: true, keptFor: null },
        memoryBytes: this.#pick([8e9, 80e9, 80e9]),
        device: model === "cpu" ? ({ kind: "cpu" } as const) : GPU,
      }));
    });
    if (this.#chance(0.7)) this.#setShares();
    if (this.#chance(0.3)) this.#close();
    this.#settleNow();
  }

  /** Nodes get a pool, or something in their calendar. */
  #close(): void {
    this.#event = "nodes are given away";
    const pool: NodePool | null = this.#chance(0.5)
      ? {
          ...{ id: "pool", name: "pool", kind: "managed" },
          project: this.#chance(0.7) ? this.#pick(PROJECTS) : null,
          ...{ lends: this.#chance(0.6), mostRunMs: null, classes: null },
          projectWorkers: this.#chance(0.4) ? 1 + this.#below(4) : null,
        }
      : null;
    const from = this.#now + (this.#below(60) - 20) * MINUTE;
    const closure = {
      project: this.#chance(0.5) ? null : this.#pick(PROJECTS),
      ...{ from, until: from + (5 + this.#below(90)) * MINUTE },
    };
    const closures = pool === null || this.#chance(0.5) ? [closure] : [];
    for (const { id } of this.#nodes)
      if (this.#chance(0.5)) this.#gates.set(id, { pool, closures });
      else this.#gates.delete(id);
  }

  #gateOf(node: string): Pick<PlacementNode, "gate"> {
    const gate = this.#gates.get(node);
    if (gate === undefined) return {};
    const closures = gate.closures.filter(({ until }) => until > this.#now);
    return {
      gate: { ...gate, closures, key: JSON.stringify([gate.pool, closures]), at: this.#now },
    };
  }

  next(): void {
    const at = this.#random();
    if (at < 0.42) this.#arrive(1 + this.#below(3));
    else if (at < 0.8) this.#pass((1 + this.#below(12)) * MINUTE);
    else if (at < 0.85) this.#flip();
    else if (at < 0.9) this.#lose();
    else if (at < 0.94) this.#fail();
    else if (at < 0.96) this.#cancel();
    else if (at < 0.975) this.#close();
    else this.#setShares();
    this.#settleNow();
  }

  /** No more comes, all is mended: whatever could ever start must start and end. */
  settle(): void {
    this.#event = "all was mended";
    this.#nodes = this.#nodes.map((node) => ({ ...node, isReady: true, isCordoned: false }));
    for (const [node, { pool }] of this.#gates) this.#gates.set(node, { pool, closures: [] });
    this.#workers = this.#workers.map((worker) => ({ ...worker, isHealthy: true }));
    this.#settleNow();
    const snapshot = this.#snapshot();
    const able = [...this.#waiting].filter((job) => couldStart(snapshot, this.#jobs.get(job)!));
    for (let n = 0; n < SETTLING_STEPS; n += 1) {
      if (this.#attempts.length === 0 && !able.some((job) => this.#waiting.has(job))) return;
      this.#pass(15 * MINUTE);
      this.#settleNow();
    }
    const starved = able.filter((job) => this.#waiting.has(job));
    this.#break([`never started: ${starved.join(", ")}`]);
  }

  #arrive(count: number): void {
    this.#event = `${count} jobs came`;
    for (let n = 0; n < count; n += 1) {
      this.#count += 1;
      const minutes = 1 + this.#below(40);
      const job = `job-${this.#count}`;
      const isSpread = this.#chance(0.3);
      const pinned = this.#chance(0.08) ? this.#pick(this.#workers).id : null;
      this.#jobs.set(job, {
        ...{ job, sequence: this.#count, userId: `user-${this.#below(2)}` },
        project: this.#pick(PROJECTS),
        ...{ isFurther: false, onlyMine: this.#chance(0.1), avoidNodes: [] },
        priority: this.#pick([
          CLASS_PRIORITIES.train,
          CLASS_PRIORITIES.train,
          CLASS_PRIORITIES.interactive,
          CLASS_PRIORITIES.scavenger,
        ]),
        ...(pinned === null ? this.#drawSize() : { size: 1 }),
        hubBytes: isSpread ? this.#pick([0, 1e9, 32e9]) : null,
        selection:
          pinned === null
            ? {
                ...{ kind: "auto", maxPriceCents: null },
                gpuModels: this.#chance(0.3) ? [this.#pick(this.#workers).model] : null,
              }
            : { kind: "pinned", workerIds: [pinned] },
        estimatedMemoryMb: this.#chance(0.2) ? 40_000 : null,
        ...{ images: null, agentProtocol: this.#chance(0.1) ? 7 : 3 },
        ...(this.#chance(0.1) ? { isOnlyGuaranteed: true } : {}),
        isReached: !isSpread && this.#chance(0.1),
        runsMs: this.#chance(0.6) ? (minutes + this.#below(10)) * MINUTE : null,
        ...{ waitingSince: this.#now, minutes, preemptedAt: [] },
      });
      this.#waiting.add(job);
    }
  }

  /** Most take one worker, some several, and of some each member does. */
  #drawSize(): Pick<WaitingGang, "size" | "workersEach"> {
    if (this.#chance(0.5)) return { size: 1 };
    if (this.#chance(0.7)) return { size: 1 + this.#below(5) };
    const workersEach = 2 + this.#below(2);
    return { size: workersEach * (1 + this.#below(2)), workersEach };
  }

  /** What was to end by then ends when it was to, and whoever makes way is gone. */
  #pass(ms: number): void {
    this.#event = `${ms / MINUTE} minutes`;
    for (const attempt of this.#attempts.filter(({ isLeaving }) => isLeaving))
      this.#leave(attempt, "waits");
    const until = this.#now + ms;
    for (;;) {
      const [next] = this.#attempts.toSorted((a, b) => a.endsAt - b.endsAt);
      if (next === undefined || next.endsAt > until) break;
      this.#now = Math.max(this.#now, next.endsAt);
      for (const one of this.#attempts.filter(({ endsAt }) => endsAt <= this.#now))
        this.#leave(one, "over");
      this.#settleNow();
    }
    this.#now = until;
  }

  /** A node is taken out of service, or comes back. What runs on it runs on. */
  #flip(): void {
    const node = this.#pick(this.#nodes);
    this.#event = `${node.id} changes`;
    const change = this.#pick<Partial<PlacementNode>>([
      { isCordoned: !node.isCordoned },
      { isReady: !node.isReady },
      { hasDisk: !node.hasDisk },
    ]);
    this.#nodes = this.#nodes.map((one) => (one === node ? { ...one, ...change } : one));
  }

  /** A node is gone, and what ran there: whoever has its hub elsewhere has places to fill, and others wait again. */
  #lose(): void {
    const { id } = this.#pick(this.#nodes);
    this.#event = `${id} is lost`;
    this.#nodes = this.#nodes.map((node) => (node.id === id ? { ...node, isReady: false } : node));
    const nodeOf = (worker: string) => this.#workers.find((one) => one.id === worker)!.node;
    for (const attempt of [...this.#attempts]) {
      const lost = attempt.workers.filter((worker) => worker !== "" && nodeOf(worker) === id);
      if (lost.length === 0) continue;
      const isKept = this.#jobs.get(attempt.job)!.hubBytes !== null && attempt.home !== id;
      if (!isKept || attempt.isLeaving) this.#leave(attempt, "failed");
      else {
        attempt.workers = attempt.workers.map((worker) => (lost.includes(worker) ? "" : worker));
        this.#free(lost);
      }
    }
  }

  #fail(): void {
    const attempt = this.#attempts[this.#below(Math.max(1, this.#attempts.length))];
    this.#event = `${attempt?.job ?? "nobody"} fails`;
    if (attempt !== undefined) this.#leave(attempt, "failed");
  }

  #cancel(): void {
    const job = [...this.#jobs.keys()][this.#below(Math.max(1, this.#jobs.size))];
    this.#event = `${job ?? "nobody"} is cancelled`;
    if (job === undefined) return;
    for (const attempt of this.#attempts.filter((one) => one.job === job))
      this.#leave(attempt, "over");
    this.#waiting.delete(job);
    this.#jobs.delete(job);
  }

  #setShares(): void {
    this.#event = "shares are set";
    if (this.#chance(0.1)) {
      this.#shares = [];
      return;
    }
    const models = [...new Set(this.#workers.map(({ model }) => model))];
    const left = new Map(
      models.map((model) => [model, this.#workers.filter((one) => one.model === model).length]),
    );
    const some = (most: (model: string) => number) =>
      Object.fromEntries(models.map((model) => [model, this.#below(most(model) + 1)]));
    const above = (guarantee: Amounts) =>
      Object.fromEntries(models.map((model) => [model, guarantee[model]! + this.#below(4)]));
    this.#shares = [
      { id: "team", parent: null, guarantee: {}, limit: {}, weight: 1 },
      ...PROJECTS.filter(() => this.#chance(0.8)).map((id): Share => {
        const guarantee = some((model) => left.get(model)!);
        for (const model of models) left.set(model, left.get(model)! - guarantee[model]!);
        return {
          ...{ id, parent: this.#chance(0.5) ? "team" : null, guarantee },
          limit: this.#chance(0.2) ? above(guarantee) : {},
          weight: this.#pick([1, 1, 2]),
          ...(this.#chance(0.15) ? { personRunning: 1 + this.#below(6) } : {}),
        };
      }),
    ];
  }

  /** Plans and does what is planned until nothing is decided. */
  #settleNow(): void {
    for (let n = 0; n < MOST_CYCLES; n += 1) {
      for (const [worker, { job, until }] of this.#kept)
        if (until <= this.#now || !this.#waiting.has(job)) this.#kept.delete(worker);
      const snapshot = this.#snapshot();
      const plan = this.#makePlan(snapshot);
      this.counts.cycles += 1;
      this.#break(faultsOfPlan(snapshot, plan));
      const { placements, replacements, preemptions, waiting } = plan;
      if (placements.length + replacements.length + preemptions.length === 0) {
        if (snapshot.backfill !== undefined && waiting.some(({ why }) => why.includes("reserved")))
          this.counts.reserved += 1;
        this.#break(faultsOfRest(snapshot, plan));
        return;
      }
      this.#apply(plan, snapshot.vacancies ?? []);
    }
    this.#break([`after ${MOST_CYCLES} cycles something is decided still`]);
  }

  #apply({ placements, replacements, preemptions }: Plan, vacancies: readonly Vacancy[]): void {
    this.counts.placed += placements.length;
    this.counts.replaced += replacements.length;
    this.counts.preempted += preemptions.length;
    for (const { member, workers } of replacements) {
      if (!vacancies.some((one) => one.member === member)) continue;
      const [name, place] = member.split("/");
      const attempt = this.#attempts.find((one) => one.attempt === name)!;
      attempt.workers.splice(Number(place), workers.length, ...workers);
      this.#hold(workers);
    }
    for (const { job, home, workers } of placements) {
      this.#waiting.delete(job);
      const { minutes } = this.#jobs.get(job)!;
      this.#attempts.push({
        ...{ job, attempt: `${job}-${this.counts.cycles}`, workers: [...workers], home },
        ...{ startedAt: this.#now, endsAt: this.#now + minutes * MINUTE },
        ...{ isLeaving: false, isFurther: false },
      });
      this.#hold(workers);
    }
    for (const { job, victims, workers } of preemptions) {
      for (const worker of workers) this.#kept.set(worker, { job, until: Infinity });
      for (const victim of victims) {
        const attempt = this.#attempts.find((one) => one.attempt === victim.attempt)!;
        attempt.isLeaving = true;
        const victimOf = this.#jobs.get(victim.job)!;
        // Plans that were made before keep what they were made from.
        victimOf.preemptedAt = [...victimOf.preemptedAt, this.#now];
        // Some commit first, and some are gone at once.
        if (this.#chance(0.6)) this.#leave(attempt, "waits");
      }
    }
  }

  #leave(attempt: Attempt, how: "over" | "waits" | "failed"): void {
    this.#attempts = this.#attempts.filter((one) => one !== attempt);
    const workers = attempt.workers.filter((worker) => worker !== "");
    this.#free(workers);
    // Once nobody leaves any of them the time counts.
    const leaving = new Set(this.#attempts.flatMap((one) => (one.isLeaving ? one.workers : [])));
    const awaited = new Set(
      [...this.#kept].flatMap(([worker, { job }]) => (leaving.has(worker) ? [job] : [])),
    );
    for (const kept of this.#kept.values())
      if (kept.until === Infinity && !awaited.has(kept.job)) kept.until = this.#now + KEPT_MS;
    const gang = this.#jobs.get(attempt.job);
    if (gang === undefined) return;
    if (how === "over") this.#jobs.delete(attempt.job);
    else {
      const avoidNodes = how === "failed" ? [...gang.avoidNodes, attempt.home] : gang.avoidNodes;
      this.#jobs.set(attempt.job, { ...gang, avoidNodes, waitingSince: this.#now });
      this.#waiting.add(attempt.job);
    }
  }

  /** What projects hold on nodes of the pool, those that make way included. */
  #poolUse(): Pick<Snapshot, "poolUse"> {
    const hasLimit = ({ pool }: Omit<NodeGate, "key" | "at">) => pool?.projectWorkers != null;
    if (![...this.#gates.values()].some(hasLimit)) return {};
    const held = new Map<string, number>();
    for (const { job, workers } of this.#attempts)
      for (const id of workers) {
        const node = this.#workers.find((worker) => worker.id === id)?.node ?? "";
        if (this.#gates.get(node)?.pool == null) continue;
        const { project } = this.#jobs.get(job)!;
        held.set(project, (held.get(project) ?? 0) + 1);
      }
    return { poolUse: new Map([["pool", held]]) };
  }

  #snapshot(): Snapshot {
    const gangs = [...this.#waiting]
      .map((job): WaitingGang => {
        const { minutes: _minutes, preemptedAt: _preemptedAt, ...gang } = this.#jobs.get(job)!;
        return gang;
      })
      .toSorted((a, b) => a.sequence - b.sequence);
    const running = this.#attempts
      .filter(({ isLeaving }) => !isLeaving)
      .map(({ job, attempt, workers, startedAt }): RunningGang => {
        const { project, userId, priority, runsMs, preemptedAt } = this.#jobs.get(job)!;
        return {
          ...{ job, attempt, project, userId, priority, preemptedAt, isPreemptible: true },
          workers: workers.filter((worker) => worker !== ""),
          ...{ startedAt, committedAt: startedAt },
          endsAt: runsMs === null ? null : startedAt + runsMs,
        };
      });
    const isLong = gangs.some(
      ({ size, waitingSince }) => size > 1 && this.#now - waitingSince! >= 15 * MINUTE,
    );
    const ports = new Map<string, number>();
    const nodeOf = new Map(this.#workers.map(({ id, node }) => [id, node]));
    for (const { job, home, workers } of this.#attempts)
      if (
        this.#jobs.get(job)!.isReached ||
        workers.some((worker) => worker === "" || nodeOf.get(worker) !== home)
      )
        ports.set(home, (ports.get(home) ?? 0) + 1);
    return {
      ...{ gangs, vacancies: this.#vacancies(), ...this.#poolUse() },
      nodes: this.#nodes.map((node) => ({
        ...{ ...node, ...this.#gateOf(node.id) },
        freePorts: Math.max(0, node.freePorts - (ports.get(node.id) ?? 0)),
        gatewayPorts: Math.max(0, node.gatewayPorts - (ports.get(node.id) ?? 0)),
      })),
      workers: this.#workers.map((worker) => ({
        ...worker,
        keptFor: this.#kept.get(worker.id)?.job ?? null,
      })),
      ...(this.#shares.length === 0
        ? {}
        : {
            sharing: {
              ...{ now: this.#now, shares: this.#shares, used: new Map(), running },
              leaving: this.#attempts
                .filter(({ isLeaving }) => isLeaving)
                .map(({ job, workers }) => {
                  const { project, userId } = this.#jobs.get(job)!;
                  return { project, userId, workers };
                }),
            },
          }),
      ...(isLong || this.#gates.size > 0 ? { backfill: { now: this.#now, running } } : {}),
    };
  }

  #vacancies(): Vacancy[] {
    return this.#attempts
      .filter(({ isLeaving }) => !isLeaving)
      .flatMap(({ job, attempt, home, workers }) =>
        workers.flatMap((worker, place) => {
          const { workersEach = 1 } = this.#jobs.get(job)!;
          // A member lies on one node, and is lost whole.
          if (worker !== "" || place % workersEach !== 0) return [];
          const { sequence, userId, selection, onlyMine, estimatedMemoryMb } = this.#jobs.get(job)!;
          const { images, agentProtocol, avoidNodes } = this.#jobs.get(job)!;
          return [
            {
              ...{ job, member: `${attempt}/${place}`, home, hasPort: true, sequence, userId },
              workersEach,
              ...{ selection, onlyMine, estimatedMemoryMb, images, agentProtocol, avoidNodes },
            },
          ];
        }),
      );
  }

  #hold(workers: readonly string[]): void {
    for (const worker of workers) this.#kept.delete(worker);
    this.#mark(workers, false);
  }

  #free(workers: readonly string[]): void {
    this.#mark(workers, true);
  }

  #mark(ids: readonly string[], isFree: boolean): void {
    this.#workers = this.#workers.map((worker) =>
      ids.includes(worker.id) ? { ...worker, isFree } : worker,
    );
  }

  #break(faults: readonly string[]): void {
    if (faults.length > 0) throw new BrokenHistory(this.#seed, this.#event, faults);
  }

  #chance(part: number): boolean {
    return this.#random() < part;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<T>(of: readonly T[]): T {
    return of[this.#below(of.length)]!;
  }
}
