/**
 * `snapshot → plan`, pure: which waiting gangs get which workers now, who makes way for whom, and why the others wait. A gang is placed wholly or not at
 * all. Where nobody was guaranteed anything gangs come in order of arrival, else by the shares of their projects. The same snapshot gives the same plan.
 */
import type { Chosen } from "./choose-workers.ts";
import { compareIds } from "./compare-ids.ts";
import { shapeOf, shareClassOf } from "./gang-shapes.ts";
import { guaranteedGangs } from "./guaranteed-gangs.ts";
import { HolderIndex } from "./holder-index.ts";
import { PersonLedger, type PersonsBehind } from "./person-limits.ts";
import type {
  PlacementNode,
  PlacementWorker,
  RunningGang,
  SleepingGang,
  Vacancy,
  WaitingGang,
} from "./placement-facts.ts";
import { keptByJob } from "./kept-by-job.ts";
import { mayLieOn } from "./may-lie-on.ts";
import { ofModels } from "./narrowed-gang.ts";
import { neededWorkers, whyApart } from "./needed-workers.ts";
import { type FleetCount, PlacementFleet } from "./placement-fleet.ts";
import type { PoolUse } from "./pool-ledger.ts";
import { guestsOf } from "./node-gate.ts";
import { byClassOfOwners } from "./owner-turns.ts";
import {
  chooseBorrowers,
  chooseLower,
  compareVictims,
  fewest,
  mayGo,
  type Reclaim,
  type ReclaimReason,
} from "./reclaim.ts";
import { RESERVED_AFTER_MS, reserveFor } from "./reservation.ts";
import { SleepingGangs } from "./sleeping-gangs.ts";
import { type Amounts, amountsOf, type LimitOver, type Share, ShareLedger } from "./shares.ts";
import { findWithinLimits, type FoundWithin } from "./within-limits.ts";
import { workerCount } from "./worker-count.ts";
import { inOrderOfArrival, ShareTurns } from "./turns.ts";

export type Snapshot = {
  gangs: readonly WaitingGang[];
  vacancies?: readonly Vacancy[];
  nodes: readonly PlacementNode[];
  workers: readonly PlacementWorker[];
  /** Absent: nobody was guaranteed anything. */
  sharing?: Sharing;
  /** Absent: nobody waited so long that workers are reserved, and no node is anybody's own. */
  backfill?: Pick<Sharing, "now" | "running">;
  /** Absent: nobody sleeps. */
  sleepers?: readonly SleepingGang[];
  /** Absent: no pool limits what a project holds there. */
  poolUse?: PoolUse;
};
export type Sharing = {
  /** Of the clock that the running gangs' times are of, in milliseconds. */
  now: number;
  shares: readonly Share[];
  /** What projects held on average over the last days, the newest hours most. */
  used: ReadonlyMap<string, Amounts>;
  running: readonly RunningGang[];
  /** Those that were asked to go and hold workers still; absent: nobody is limited. */
  leaving?: readonly Pick<RunningGang, "project" | "userId" | "workers">[];
  /** Absent: everybody is a person. */
  persons?: PersonsBehind;
};

/** `workers` in the order of the gang, of one node or of several; `home` is one of theirs, and the hub's. */
export type Placement = { job: string; isFurther: boolean; home: string; workers: string[] };
export type Replacement = { job: string; member: string; workers: string[] };
/** Victims make way for the job, and the workers that it then finds are kept for it. */
export type Preemption = {
  job: string;
  reason: ReclaimReason;
  victims: { job: string; attempt: string; isAsleep?: true }[];
  workers: string[];
};
export type Plan = {
  /** In the order in which the gangs had their turn. */
  placements: Placement[];
  replacements: Replacement[];
  preemptions: Preemption[];
  /** As they came. @property gang as it was given */
  waiting: { job: string; gang: WaitingGang; why: string }[];
};

export function plan(snapshot: Snapshot): Plan {
  const steps = planInSteps(snapshot);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The same, with a pause after each gang: who runs the steps may do something else in between, as long as the snapshot stays what it is. */
export function* planInSteps(snapshot: Snapshot): Generator<void, Plan> {
  const { cycle, replacements } = yield* servedInSteps(snapshot);
  const { placements, preemptions } = cycle;
  return { placements, replacements, preemptions, waiting: yield* cycle.waiting(snapshot.gangs) };
}

/** Who is placed and for whom others make way; it asks for nobody why the others wait, which takes most of the time where many do. */
export function* placedInSteps(
  snapshot: Snapshot,
): Generator<void, Pick<Plan, "placements" | "preemptions">> {
  return (yield* servedInSteps(snapshot)).cycle;
}

function* servedInSteps(
  snapshot: Snapshot,
): Generator<void, { cycle: Cycle; replacements: Replacement[] }> {
  const { gangs, vacancies = [], nodes, workers, poolUse } = snapshot;
  const fleet = new PlacementFleet(nodes, workers, gangs, poolUse);
  yield;
  // What runs comes before what waits.
  const replacements = vacancies
    .toSorted((a, b) => a.sequence - b.sequence || compareIds(a.member, b.member))
    .flatMap((vacancy) => {
      const workers = fleet.fill(vacancy)?.map(({ id }) => id);
      return workers === undefined ? [] : [{ job: vacancy.job, member: vacancy.member, workers }];
    });
  yield;
  const cycle = new Cycle(fleet, snapshot);
  yield;
  const turns = cycle.turnsOf(gangs);
  yield;
  for (const gang of turns) {
    cycle.serve(gang);
    yield;
  }
  return { cycle, replacements };
}

/** Jobs that wait: those that start now, then the others in the order of their turns. */
export function* turnsInSteps(snapshot: Snapshot): Generator<void, string[]> {
  const { gangs, nodes, workers, poolUse } = snapshot;
  const cycle = new Cycle(new PlacementFleet(nodes, workers, gangs, poolUse), snapshot);
  const turns: string[] = [];
  for (const gang of cycle.turnsOf(gangs, "all")) {
    if (!gang.isFurther) turns.push(gang.job);
    cycle.serve(gang);
    yield;
  }
  const starting = [
    ...cycle.placements.filter(({ isFurther }) => !isFurther),
    ...cycle.preemptions,
  ];
  return [...new Set([...starting.map(({ job }) => job), ...turns])];
}

class Cycle {
  readonly placements: Placement[] = [];
  readonly preemptions: Preemption[] = [];
  readonly #placed = new Set<WaitingGang>();
  /** Why a gang waits, where that is not so of all of its class. */
  readonly #why = new Map<WaitingGang, string>();
  /** What was tried in vain: nothing becomes free in a cycle, so those like it need no turn. By class, why; null: it is explained once the cycle is over. */
  readonly #over = new Map<string, string | null>();
  /** By class, the gang without the models of which its project may hold no more. */
  readonly #narrowed = new Map<string, WaitingGang>();
  /** Shapes that found nothing: nobody of them does later in the cycle. */
  readonly #unplaced = new Set<string>();
  readonly #demands = new Map<string, Amounts>();
  readonly #amounts = new Map<string, Map<number, Amounts>>();
  readonly #fleet: PlacementFleet;
  readonly #workers: Pick<ReadonlyMap<string, PlacementWorker>, "get">;
  readonly #sharing: Sharing | undefined;
  readonly #backfill: Snapshot["backfill"];
  #hasReserved = false;
  readonly #ledger: ShareLedger;
  readonly #persons: PersonLedger;
  readonly #sleeping: SleepingGangs;
  /** Those that may be made to go, and nobody has asked to. */
  readonly #holders: HolderIndex;
  /** They make way in this plan. */
  readonly #gone = new Set<RunningGang>();
  readonly #kept: ReadonlyMap<string, PlacementWorker[]>;
  /** What its project holds already for a gang that workers are kept for. */
  readonly #promised = new Map<WaitingGang, Amounts>();
  /** They had what was promised to them, or something else, before their turn. */
  readonly #redeemed = new Set<WaitingGang>();

  constructor(
    fleet: PlacementFleet,
    { gangs, workers, sharing, backfill, sleepers = [] }: Snapshot,
  ) {
    this.#sleeping = new SleepingGangs(sleepers);
    this.#backfill = backfill;
    this.#fleet = fleet;
    this.#workers = { get: (id) => fleet.worker(id) };
    this.#holders = new HolderIndex(fleet);
    this.#sharing = sharing;
    this.#ledger = new ShareLedger(sharing?.shares ?? [], amountsOf(workers), sharing?.used);
    const { running = [], shares = [], persons } = sharing ?? {};
    this.#persons = new PersonLedger(shares, persons);
    const staying = guaranteedGangs(running, shares, this.#workers);
    for (const gang of running) {
      this.#persons.hold(gang, gang.workers.length);
      this.#holders.add(gang, !staying.has(gang) && mayGo(gang, sharing!.now));
    }
    for (const { project, amounts } of this.#holders.held()) this.#ledger.hold(project, amounts);
    for (const gang of sharing?.leaving ?? []) {
      const held = gang.workers.flatMap((id) => this.#workers.get(id) ?? []);
      this.#ledger.leave(gang.project, amountsOf(held));
      this.#persons.hold(gang, held.length);
    }
    this.#kept = keptByJob(workers);
    if (this.#kept.size > 0) for (const gang of gangs) this.#promise(gang);
  }

  /** What was taken back for a gang counts as held, until the gang has its turn. */
  #promise(gang: WaitingGang): void {
    const kept = this.#kept.get(gang.job);
    if (kept === undefined || gang.isFurther) return;
    // Limits may be others by now: what it will not get is nobody's yet.
    if (this.#persons.limitOver(gang, gang.size) !== null) return;
    const coming = kept.filter(this.#fleet.servesOnceFree(gang));
    const amounts = amountsOf(coming);
    if (this.#ledger.limitOverOnceGone(gang.project, amounts) !== null) return;
    this.#fleet.promise(gang, coming);
    this.#ledger.hold(gang.project, amounts);
    this.#persons.hold(gang, coming.length);
    this.#promised.set(gang, amounts);
  }

  #release(gang: WaitingGang): void {
    this.#fleet.release(gang);
    const promised = this.#promised.get(gang);
    if (promised === undefined) return;
    this.#promised.delete(gang);
    this.#ledger.release(gang.project, promised);
    this.#persons.release(
      gang,
      Object.values(promised).reduce((sum, count) => sum + count, 0),
    );
  }

  /** In order already when it returns. @param which with all also those that need no turn, as others like them had theirs in vain */
  turnsOf(
    gangs: readonly WaitingGang[],
    which: "needed" | "all" = "needed",
  ): Iterable<WaitingGang> {
    const isOver = (gang: WaitingGang) => which === "needed" && this.#isOver(gang);
    if (this.#ledger.isSet)
      return turnsInOrder(
        new ShareTurns(gangs, this.#ledger, (gang) => this.#demandOf(gang), isOver),
      );
    return turnsWithout(isOver, byClassOfOwners(inOrderOfArrival(gangs), this.#fleet.nodes));
  }

  #isOver(gang: WaitingGang): boolean {
    return this.#over.has(this.#classOf(gang)) && !this.#kept.has(gang.job);
  }

  /**
   * Gives each gang what was promised to it, or what else is free for it. What a promise makes its project hold is sure then: before, a gang that starts
   * elsewhere would make borrowers of others.
   * @returns whether something was promised to anybody
   */
  #redeem(): boolean {
    const promised = [...this.#promised.keys()];
    for (const gang of promised) {
      this.#release(gang);
      if (this.#persons.limitOver(gang, gang.size) !== null) continue;
      const { chosen, amounts, over, isUnsure } = this.#findWithinLimits(gang);
      if (chosen !== null && over === null && !isUnsure) this.#place(gang, chosen, amounts);
      else if (this.#isComing(gang)) this.#why.set(gang, TAKEN_BACK);
      else continue;
      this.#redeemed.add(gang);
    }
    return promised.length > 0;
  }

  #findWithinLimits(gang: WaitingGang): FoundWithin {
    const hasKept = this.#kept.has(gang.job);
    return findWithinLimits(gang, {
      ...{ fleet: this.#fleet, ledger: this.#ledger },
      find: (one) => this.#find(one, hasKept),
      demandOf: (one) => this.#demandOf(one),
    });
  }

  /** Places the gang, or has others make way for it, or notes why it waits. */
  serve(gang: WaitingGang): void {
    if (this.#isOver(gang) || this.#redeemed.has(gang)) return;
    this.#release(gang);
    const person = this.#persons.limitOver(gang, gang.size);
    if (person !== null) {
      const where = person.share === gang.project ? "the project" : "what stands above the project";
      this.#why.set(gang, `its person may have at most ${workerCount(person.limit)} in ${where}`);
      return;
    }
    const { able, asked, chosen, amounts, over, isUnsure } = this.#findWithinLimits(gang);
    if (over === null && isUnsure)
      this.#close(gang, "makes way for nobody, so it waits for what its project is guaranteed");
    else if (chosen !== null && over === null) this.#place(gang, chosen, amounts);
    else if (
      this.#isComing(gang) ||
      (over === null && (this.#takeOwnNodes(able, asked) || this.#takeAsleep(able, asked)))
    )
      this.#why.set(gang, TAKEN_BACK);
    else if (this.#redeem()) this.serve(gang);
    else if (this.#reclaim(able, asked, amounts, over !== null)) this.#why.set(gang, TAKEN_BACK);
    else if (over !== null) this.#close(gang, limitText(gang, over));
    else if (this.#reserve(able, asked)) this.#why.set(gang, RESERVES);
    else {
      this.#close(gang, null);
      if (asked !== gang) this.#narrowed.set(this.#classOf(gang), asked);
    }
  }

  #place(gang: WaitingGang, chosen: Chosen, amounts: Amounts): void {
    const { job, isFurther, project } = gang;
    this.#placed.add(gang);
    this.#fleet.take(gang, chosen);
    this.#ledger.hold(project, amounts);
    this.#persons.hold(gang, chosen.workers.length);
    const { home, workers } = chosen;
    this.placements.push({ job, isFurther, home, workers: workers.map(({ id }) => id) });
  }

  #find(gang: WaitingGang, hasKept: boolean): Chosen | null {
    if (hasKept) return this.#fleet.find(gang, true);
    const shape = this.#foundBy(gang);
    const chosen = this.#unplaced.has(shape) ? null : this.#fleet.find(gang, false);
    if (chosen === null) this.#unplaced.add(shape);
    return chosen;
  }

  /** For the first that waited long, and needs more than the next worker that is free. */
  #reserve(able: WaitingGang, gang: WaitingGang): boolean {
    const { size, isFurther, waitingSince = Infinity } = gang;
    if (this.#hasReserved || this.#backfill === undefined || isFurther || size === 1) return false;
    const { now, running } = this.#backfill;
    if (now - waitingSince < RESERVED_AFTER_MS) return false;
    // What it would not take if it were free is reserved for nobody.
    const avoided = this.#fleet.avoidedBy(able);
    const serving = this.#fleet.serving(gang).filter(({ node }) => !avoided.has(node));
    const reservation = reserveFor(serving, {
      ...{ running, now, waitingSince },
      choose: (workers) => this.#fleet.choose(gang, workers)?.workers ?? null,
    });
    if (reservation === null) return false;
    this.#fleet.reserve(reservation, now);
    this.#hasReserved = true;
    return true;
  }

  /** Why each that is not placed waits. */
  *waiting(gangs: readonly WaitingGang[]): Generator<void, Plan["waiting"]> {
    const explained = new Map<string, string>();
    const ofClasses = new Map<string, string>();
    const waiting: Plan["waiting"] = [];
    let unseen = 0;
    for (const gang of gangs) {
      if (this.#placed.has(gang)) continue;
      const ownClass = this.#classOf(gang);
      let why = this.#why.get(gang) ?? ofClasses.get(ownClass);
      if (why === undefined || this.#kept.has(gang.job)) {
        why =
          this.#why.get(gang) ??
          this.#over.get(ownClass) ??
          this.#explain(this.#narrowed.get(ownClass) ?? gang, explained);
        if (!this.#kept.has(gang.job) && !this.#why.has(gang)) ofClasses.set(ownClass, why);
        yield;
      } else if ((unseen += 1) % GANGS_AT_ONCE === 0) yield;
      waiting.push({ job: gang.job, gang, why });
    }
    return waiting;
  }

  #classOf(gang: WaitingGang): string {
    const own = this.#ledger.isSet ? shareClassOf(gang) : shapeOf(gang);
    const found = this.#fleet.withGates(own, gang);
    return this.#fleet.mayBackfill(gang) ? `${found} backfills` : found;
  }

  /** All by which it is given workers of this fleet. */
  #shapeOf(gang: WaitingGang): string {
    return this.#fleet.withGates(shapeOf(gang), gang);
  }

  /** Its shape, and whether it may have what is reserved. */
  #foundBy(gang: WaitingGang): string {
    const shape = this.#shapeOf(gang);
    return this.#fleet.mayBackfill(gang) ? `${shape} backfills` : shape;
  }

  #close(gang: WaitingGang, why: string | null): void {
    if (this.#kept.has(gang.job)) {
      if (why !== null) this.#why.set(gang, why);
    } else this.#over.set(this.#classOf(gang), why);
  }

  /** Once for all of a shape, by what the cycle has left. */
  #explain(gang: WaitingGang, explained: Map<string, string>): string {
    const shape = this.#foundBy(gang);
    const hasKept = this.#kept.has(gang.job);
    const known = hasKept ? undefined : explained.get(shape);
    if (known !== undefined) return known;
    const why = explain(gang, this.#fleet.count(gang, hasKept));
    if (!hasKept) explained.set(shape, why);
    return why;
  }

  /** With what was taken back for it earlier it will fit. What no longer serves it, as a node that went away, comes no more. */
  #isComing(gang: WaitingGang): boolean {
    const kept = this.#kept.get(gang.job) ?? [];
    if (kept.length === 0) return false;
    const eligible = this.#fleet.eligible(gang);
    const serves = this.#fleet.servesOnceFree(gang);
    const coming = kept.filter((worker) => !eligible.includes(worker) && serves(worker));
    const found = this.#fleet.choose(gang, [...eligible, ...coming]);
    if (found === null) return false;
    // All are free, and others of its project have to be gone before it may hold them.
    const amounts = amountsOf(found.workers);
    if (this.#ledger.limitOverOnceGone(gang.project, amounts) !== null) return false;
    if (coming.length === 0 && this.#ledger.limitOver(gang.project, amounts) === null) return false;
    this.#fleet.withhold(
      kept.map(({ id }) => id),
      gang.project,
    );
    this.#ledger.hold(gang.project, amountsOf(kept));
    this.#persons.hold(gang, gang.size);
    return true;
  }

  /** Takes workers of gangs that sleep, and of no others than it needs. */
  #takeAsleep(gang: WaitingGang, within: WaitingGang): boolean {
    if (gang.isFurther || !this.#sleeping.areThere) return false;
    const { eligible, serves } = this.#fitting(gang, within);
    const asleep = this.#sleeping.workers(this.#workers, serves);
    if (asleep.length === 0) return false;
    const chosen = this.#fleet.choose(within, [...eligible(), ...asleep]);
    if (chosen === null) return false;
    const victims = this.#sleeping.take(chosen.workers);
    this.#holders.remove(victims.map(({ attempt }) => attempt));
    for (const victim of victims) this.#letGo(victim);
    const workers = chosen.workers.map(({ id }) => id);
    this.#fleet.withhold(workers, gang.project);
    this.#ledger.hold(gang.project, amountsOf(chosen.workers));
    this.#persons.hold(gang, workers.length);
    this.preemptions.push({
      ...{ job: gang.job, reason: "class", workers },
      victims: victims.map(({ job, attempt }) => ({ job, attempt, isAsleep: true })),
    });
    return true;
  }

  /** Nodes are its project's own, and guests hold them. */
  #takeOwnNodes(gang: WaitingGang, within: WaitingGang): boolean {
    if (this.#backfill === undefined || gang.isFurther || !this.#fleet.owns(gang)) return false;
    const gateOf = (worker: string) => this.#fleet.gateOf(worker);
    const guests = guestsOf(gang.project, this.#backfill.running, gateOf);
    const staying = guests.filter((guest) => !this.#gone.has(guest));
    if (staying.length === 0) return false;
    const { fitsWith } = this.#fitting(gang, within);
    const victims = fewest(staying.toSorted(compareVictims), fitsWith);
    return victims !== null && this.#makeWay(gang, within, { reason: "guarantee", victims });
  }

  /**
   * @param within the gang with those models alone that its project may hold
   * @param isOverLimit its project may hold no more of any: those of its own alone make room for it
   */
  #reclaim(gang: WaitingGang, within: WaitingGang, demand: Amounts, isOverLimit: boolean): boolean {
    if (this.#sharing === undefined || !this.#ledger.isSet || gang.isFurther) return false;
    if (this.#holders.hasBelow(gang) && this.#takeFromLower(gang, demand)) return true;
    if (isOverLimit || !this.#holders.isLentBeside(gang.project, this.#ledger)) return false;
    // One by one: of the models that serve it, others may have been lent one that its project is not guaranteed.
    const models = gang.selection.kind === "auto" ? this.#fleet.modelsFor(within) : [];
    const { size } = gang;
    if (models.length <= 1) {
      // What it was counted with may serve it no more, as in a pool that is full by now.
      const [only] = models;
      const amounts =
        only === undefined ? this.#demandOf(within) : this.#amountOf(only, within.size);
      return this.#isGuaranteed(gang, amounts) && this.#takeFromBorrowers(gang, within);
    }
    return models.some(
      (model) =>
        this.#isGuaranteed(gang, this.#amountOf(model, size)) &&
        this.#takeFromBorrowers(gang, ofModels(gang, [model])),
    );
  }

  #takeFromLower(gang: WaitingGang, amounts: Amounts): boolean {
    const holders = this.#holders.ofProject(gang, this.#shapeOf(gang));
    if (holders.length === 0) return false;
    const { fitsWith } = this.#fitting(gang, gang);
    const freed = (victims: readonly RunningGang[]) =>
      amountsOf(
        victims.flatMap(({ workers }) => workers.flatMap((id) => this.#workers.get(id) ?? [])),
      );
    const reclaim = chooseLower(
      gang,
      holders,
      (victims) =>
        this.#ledger.limitOver(gang.project, amounts, freed(victims)) === null && fitsWith(victims),
    );
    return reclaim !== null && this.#makeWay(gang, gang, reclaim);
  }

  #isGuaranteed({ project }: WaitingGang, amounts: Amounts): boolean {
    return this.#ledger.isGuaranteed(project, amounts);
  }

  #takeFromBorrowers(gang: WaitingGang, asked: WaitingGang): boolean {
    const holders = this.#holders.borrowers(asked, this.#shapeOf(asked), this.#ledger);
    if (holders.length === 0) return false;
    const { mayFitWith, fitsWith, serves } = this.#fitting(gang, asked);
    const reclaim = chooseBorrowers(gang.project, holders, {
      ...{ ledger: this.#ledger, mayFitWith, fitsWith },
      nodesOf: ({ workers }) =>
        new Set(
          workers.flatMap((id) => {
            const worker = this.#workers.get(id);
            return worker !== undefined && serves(worker) ? [worker.node] : [];
          }),
        ),
    });
    return reclaim !== null && this.#makeWay(gang, asked, reclaim);
  }

  /** How the gang would find its workers of the asked models, if others made way. */
  #fitting(gang: WaitingGang, asked: WaitingGang) {
    const avoided = this.#fleet.avoidedBy(gang);
    const servesAsked = this.#fleet.servesOnceFree(asked);
    const serves = (worker: PlacementWorker) => !avoided.has(worker.node) && servesAsked(worker);
    let found: PlacementWorker[] | null = null;
    const eligible = () =>
      (found ??= this.#fleet.eligible(asked).filter(({ node }) => !avoided.has(node)));
    const workers = this.#workers;
    function* freed(victims: readonly RunningGang[]): Generator<PlacementWorker, void> {
      for (const victim of victims)
        for (const id of victim.workers) {
          const worker = workers.get(id);
          if (worker !== undefined && !worker.isFree && serves(worker)) yield worker;
        }
    }
    const withFreed = (victims: readonly RunningGang[]) => [...eligible(), ...freed(victims)];
    const mayFitWith = (victims: readonly RunningGang[]) =>
      mayLieOn(asked, eligible(), freed(victims));
    return {
      ...{ eligible, serves, withFreed, mayFitWith },
      fitsWith: (victims: readonly RunningGang[]) =>
        mayFitWith(victims) && this.#fleet.choose(asked, withFreed(victims)) !== null,
    };
  }

  /** Those that were asked to go count against limits until they are gone. */
  #letGo({ project, workers }: Pick<RunningGang, "project" | "workers">): void {
    const amounts = amountsOf(workers.flatMap((id) => this.#workers.get(id) ?? []));
    this.#ledger.release(project, amounts);
    this.#ledger.leave(project, amounts);
  }

  #makeWay(gang: WaitingGang, asked: WaitingGang, { reason, victims }: Reclaim): boolean {
    const ledger = this.#ledger;
    const { workers } = this.#fleet.choose(asked, this.#fitting(gang, asked).withFreed(victims))!;
    const ids = workers.map(({ id }) => id);
    this.#fleet.withhold(ids, gang.project);
    for (const victim of victims) this.#gone.add(victim);
    this.#sleeping.forget(victims);
    this.#holders.remove(victims.map(({ attempt }) => attempt));
    for (const victim of victims) this.#letGo(victim);
    ledger.hold(gang.project, amountsOf(workers));
    this.#persons.hold(gang, workers.length);
    this.preemptions.push({
      ...{ job: gang.job, reason, workers: ids },
      victims: victims.map(({ job, attempt }) => ({ job, attempt })),
    });
    return true;
  }

  /** One object for as many of one model: whoever keeps something by it finds it again. */
  #amountOf(model: string, count: number): Amounts {
    let ofModel = this.#amounts.get(model);
    if (ofModel === undefined) this.#amounts.set(model, (ofModel = new Map()));
    let amount = ofModel.get(count);
    if (amount === undefined) ofModel.set(count, (amount = { [model]: count }));
    return amount;
  }

  /** Workers that it would be given, by model; nothing where none serves it. */
  #demandOf(gang: WaitingGang): Amounts {
    const shape = this.#shapeOf(gang);
    let demand = this.#demands.get(shape);
    if (demand === undefined) {
      const { selection, size } = gang;
      const model = this.#fleet.modelsFor(gang)[0];
      demand =
        selection.kind === "pinned"
          ? amountsOf(selection.workerIds.flatMap((id) => this.#workers.get(id) ?? []))
          : model === undefined
            ? {}
            : this.#amountOf(model, size);
      this.#demands.set(shape, demand);
    }
    return demand;
  }
}

/** Whether one needs its turn is asked when it comes. */
function* turnsWithout(
  isOver: (gang: WaitingGang) => boolean,
  gangs: readonly WaitingGang[],
): Generator<WaitingGang, void> {
  for (const gang of gangs) if (!isOver(gang)) yield gang;
}

function* turnsInOrder(turns: ShareTurns): Generator<WaitingGang, void> {
  for (let gang = turns.next(); gang !== null; gang = turns.next()) yield gang;
}

function limitText({ project }: WaitingGang, { id, limit, model }: LimitOver): string {
  const whose = id === project ? "its project" : "what stands above its project";
  return `${whose} may hold at most ${workerCount(limit)} of ${model}`;
}

/** So many cost nothing that somebody else would have to wait for. */
const GANGS_AT_ONCE = 256;
const TAKEN_BACK = "workers are taken back for it; who has them makes way";
export const RESERVES = "has waited long: the next workers that serve it are reserved for it";

function explain(
  gang: WaitingGang,
  { eligible, members, all, hasHome, excluded }: FleetCount,
): string {
  const counts = [...excluded].map(([why, count]) => `${count} ${why}`).sort();
  const left = counts.length === 0 ? "" : `; excluded: ${counts.join(", ")}`;
  if (eligible >= gang.size && !hasHome)
    return `its server needs ${gang.hubBytes} bytes of memory; no node that has its workers free has as much`;
  const apart = whyApart(gang, eligible, members);
  const unreached =
    apart !== null
      ? `; ${apart}`
      : eligible < gang.size
        ? ""
        : gang.hubBytes === null
          ? "; they are on several nodes, and it lies on one"
          : "; they are on several nodes, none of which the others can reach on a free job port";
  return `needs ${neededWorkers(gang)}; ${eligible} of ${all} would do now${unreached}${left}`;
}
