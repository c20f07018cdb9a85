/**
 * `snapshot → plan`, pure: which waiting gangs get which workers now, who makes way for whom, and why the others wait. A gang is placed wholly or not at
 * all. Where nobody was guaranteed anything gangs come in order of arrival, else by the shares of their projects. The same snapshot gives the same plan.
 */
import { compareIds } from "./choose-workers.ts";
import type {
  PlacementNode,
  PlacementWorker,
  RunningGang,
  Vacancy,
  WaitingGang,
} from "./placement-facts.ts";
import { type JudgedWorker, PlacementFleet } from "./placement-fleet.ts";
import { chooseVictims, type ReclaimReason } from "./reclaim.ts";
import { type Amounts, amountsOf, type Share, ShareLedger } from "./shares.ts";
import { inOrderOfArrival, ShareTurns } from "./turns.ts";

export type Snapshot = {
  gangs: readonly WaitingGang[];
  vacancies?: readonly Vacancy[];
  nodes: readonly PlacementNode[];
  workers: readonly PlacementWorker[];
  /** Absent: nobody was guaranteed anything. */
  sharing?: Sharing;
};
export type Sharing = {
  /** Of the clock that the running gangs' times are of, in milliseconds. */
  now: number;
  shares: readonly Share[];
  /** What projects held on average over the last days, the newest hours most. */
  used: ReadonlyMap<string, Amounts>;
  running: readonly RunningGang[];
};

/** `workers` in the order of the gang, of one node or of several; `home` is one of theirs, and the hub's. */
export type Placement = { job: string; isFurther: boolean; home: string; workers: string[] };
export type Replacement = { job: string; member: string; worker: string };
/** Victims make way for the job, and the workers that it then finds are kept for it. */
export type Preemption = {
  job: string;
  reason: ReclaimReason;
  victims: { job: string; attempt: string }[];
  workers: string[];
};
export type Plan = {
  /** In the order in which the gangs had their turn. */
  placements: Placement[];
  replacements: Replacement[];
  preemptions: Preemption[];
  waiting: { job: string; why: string }[];
};

export function plan(snapshot: Snapshot): Plan {
  const { gangs, vacancies = [], nodes, workers, sharing } = snapshot;
  const fleet = new PlacementFleet(nodes, workers);
  // What runs comes before what waits.
  const replacements = vacancies
    .toSorted((a, b) => a.sequence - b.sequence || compareIds(a.member, b.member))
    .flatMap((vacancy) => {
      const worker = fleet.fill(vacancy);
      return worker === null
        ? []
        : [{ job: vacancy.job, member: vacancy.member, worker: worker.id }];
    });
  const cycle = new Cycle(fleet, workers, sharing);
  for (const gang of cycle.turnsOf(gangs)) cycle.serve(gang);
  const { placements, preemptions, waiting } = cycle;
  return { placements, replacements, preemptions, waiting };
}

class Cycle {
  readonly placements: Placement[] = [];
  readonly preemptions: Preemption[] = [];
  readonly waiting: Plan["waiting"] = [];
  readonly #fleet: PlacementFleet;
  readonly #workers: ReadonlyMap<string, PlacementWorker>;
  readonly #sharing: Sharing | undefined;
  readonly #ledger: ShareLedger;
  /** Those that hold their workers still, and nobody has asked to go. */
  readonly #running: Set<RunningGang>;
  readonly #kept: ReadonlyMap<string | null | undefined, PlacementWorker[]>;

  constructor(
    fleet: PlacementFleet,
    workers: readonly PlacementWorker[],
    sharing: Sharing | undefined,
  ) {
    this.#fleet = fleet;
    this.#workers = new Map(workers.map((worker) => [worker.id, worker]));
    this.#sharing = sharing;
    this.#ledger = new ShareLedger(sharing?.shares ?? [], amountsOf(workers), sharing?.used);
    this.#running = new Set(sharing?.running);
    for (const gang of this.#running) this.#ledger.hold(gang.project, this.#held(gang));
    this.#kept = Map.groupBy(workers, ({ keptFor }) => keptFor);
  }

  *turnsOf(gangs: readonly WaitingGang[]): Generator<WaitingGang> {
    if (!this.#ledger.isSet) {
      yield* inOrderOfArrival(gangs);
      return;
    }
    const turns = new ShareTurns(gangs, this.#ledger, (gang) => this.#demandOf(gang));
    for (let gang = turns.next(); gang !== null; gang = turns.next()) yield gang;
  }

  /** Places the gang, or has others make way for it, or says why it waits. */
  serve(gang: WaitingGang): void {
    const judged = this.#fleet.judge(gang);
    const eligible = judged.filter(({ why }) => why === null).map(({ worker }) => worker);
    const chosen = this.#fleet.choose(gang, eligible);
    const { job, isFurther } = gang;
    const amounts = chosen === null ? this.#demandOf(gang) : amountsOf(chosen.workers);
    const over = this.#ledger.limitOver(gang.project, amounts);
    if (over !== null) {
      this.#wait(
        gang,
        `${over.id === gang.project ? "its project" : "what stands above its project"} may hold at most ${over.limit} workers of ${over.model}`,
      );
      return;
    }
    if (chosen !== null) {
      this.#fleet.take(gang, chosen);
      this.#ledger.hold(gang.project, amounts);
      const { home } = chosen;
      this.placements.push({ job, isFurther, home, workers: chosen.workers.map(({ id }) => id) });
      return;
    }
    if (this.#isComing(gang, eligible, amounts) || this.#reclaim(gang, judged, eligible, amounts))
      return this.#wait(gang, "workers are taken back for it; who has them makes way");
    const hasHome = this.#fleet.hasHome(gang, eligible);
    this.#wait(gang, explain(gang, eligible.length, judged, hasHome));
  }

  #wait({ job }: WaitingGang, why: string): void {
    this.waiting.push({ job, why });
  }

  /** With what was taken back for it earlier it will fit. */
  #isComing(gang: WaitingGang, eligible: readonly PlacementWorker[], amounts: Amounts): boolean {
    const kept = this.#kept.get(gang.job) ?? [];
    const coming = kept.filter((worker) => !eligible.includes(worker));
    if (coming.length === 0 || this.#fleet.choose(gang, [...eligible, ...coming]) === null)
      return false;
    this.#fleet.withhold(kept.map(({ id }) => id));
    this.#ledger.hold(gang.project, amounts);
    return true;
  }

  #reclaim(
    gang: WaitingGang,
    judged: readonly JudgedWorker[],
    eligible: readonly PlacementWorker[],
    amounts: Amounts,
  ): boolean {
    if (this.#sharing === undefined || !this.#ledger.isSet || gang.isFurther) return false;
    const serving = new Map(
      judged.flatMap(({ worker, never }) =>
        never === null && !worker.isFree ? [[worker.id, worker]] : [],
      ),
    );
    const freedBy = (victims: readonly RunningGang[]) =>
      victims.flatMap(({ workers }) =>
        workers.flatMap((id) => {
          const worker = serving.get(id);
          return worker === undefined ? [] : [worker];
        }),
      );
    const reclaim = chooseVictims(gang, amounts, {
      running: [...this.#running].filter((one) => freedBy([one]).length > 0),
      ledger: this.#ledger,
      now: this.#sharing.now,
      amountsOf: (one) => this.#held(one),
      fitsWith: (victims) => this.#fleet.choose(gang, [...eligible, ...freedBy(victims)]) !== null,
    });
    if (reclaim === null) return false;
    const { reason, victims } = reclaim;
    const { workers } = this.#fleet.choose(gang, [...eligible, ...freedBy(victims)])!;
    const ids = workers.map(({ id }) => id);
    this.#fleet.withhold(ids);
    for (const victim of victims) {
      this.#running.delete(victim);
      this.#ledger.release(victim.project, this.#held(victim));
    }
    this.#ledger.hold(gang.project, amountsOf(workers));
    this.preemptions.push({
      ...{ job: gang.job, reason, workers: ids },
      victims: victims.map(({ job, attempt }) => ({ job, attempt })),
    });
    return true;
  }

  /** Workers that it would be given, by model; nothing where none serves it. */
  #demandOf(gang: WaitingGang): Amounts {
    const model = this.#fleet.firstModelFor(gang);
    return model === null ? {} : { [model]: gang.size };
  }

  #held({ workers }: RunningGang): Amounts {
    return amountsOf(workers.flatMap((id) => this.#workers.get(id) ?? []));
  }
}

function explain(
  gang: WaitingGang,
  eligible: number,
  judged: readonly JudgedWorker[],
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
