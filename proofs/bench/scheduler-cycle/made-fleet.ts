/** A fleet and a queue of any size, alike at each: nodes of eight devices of one model, jobs of some hundred shapes in fifty projects. */
import type { Share } from "@resontech/coordinator/shares";
import type {
  PlacementNode,
  PlacementWorker,
  RunningGang,
  WaitingGang,
} from "@resontech/coordinator/placement-facts";
import { seededRandom } from "@resontech/house/seeded-random";

const MODELS = ["h100", "a100_80gb", "l40s", "rtx_a6000", "cpu"];
const DEVICES = 8;
const PROJECTS = 50;
const GIB = 1024 ** 3;
const MINUTE = 60_000;

export class MadeFleet {
  readonly nodes: PlacementNode[];
  workers: PlacementWorker[];
  gangs: WaitingGang[] = [];
  running: RunningGang[] = [];
  readonly shares: Share[];
  now = 1_000_000 * MINUTE;
  readonly #random: () => number;
  #jobs = 0;
  readonly #shapes = new Map<string, WaitingGang>();

  constructor(nodes: number, seed: number) {
    this.#random = seededRandom(seed);
    this.nodes = Array.from({ length: nodes }, (_, at) => ({
      ...{ id: `node-${at}`, ownerId: null, isReady: true, isCordoned: at % 97 === 5 },
      // No two machines tell the same amount of memory.
      ...{ hasDisk: true, capacityBytes: 512 * GIB - at * 4096, agentProtocol: 5 },
      ...{ freePorts: 8, gatewayPorts: 8 },
    }));
    this.workers = this.nodes.flatMap(({ id }, at) => {
      const model = MODELS[at % MODELS.length]!;
      return Array.from(
        { length: DEVICES },
        (_, place): PlacementWorker => ({
          ...{ id: `${id}-${place}`, node: id, model, isHealthy: place !== 3 || at % 89 !== 7 },
          memoryBytes: (model === "cpu" ? 64 : 80) * GIB - (at % 50) * 4096,
          device:
            model === "cpu"
              ? { kind: "cpu" }
              : { kind: "gpu", vendor: "nvidia", architecture: "9.0", driver: "570.86" },
          ...{ isFree: true, whyHeld: null, keptFor: null },
        }),
      );
    });
    const guaranteed = Math.floor((nodes * DEVICES) / MODELS.length / PROJECTS / 2);
    this.shares = [
      share("organisation", null, {}),
      ...Array.from({ length: 5 }, (_, at) => share(`team-${at}`, "organisation", {})),
      ...Array.from({ length: PROJECTS }, (_, at) =>
        share(`project-${at}`, `team-${at % 5}`, at % 2 === 0 ? { h100: guaranteed } : {}),
      ),
    ];
  }

  /** Jobs that arrive. Their workers: one of most, two to eight on one node of some, a federation over several nodes of one in ten. */
  arrive(count: number): void {
    for (let n = 0; n < count; n += 1) {
      const [model, kind] = [this.#pick(MODELS), this.#random()];
      const isFederation = kind > 0.9;
      this.#jobs += 1;
      this.gangs.push({
        ...{ job: `job-${this.#jobs}`, sequence: this.#jobs, isFurther: false },
        ...{ userId: `user-${this.#below(200)}`, project: `project-${this.#below(PROJECTS)}` },
        priority: this.#random() < 0.9 ? 50 : 100,
        size: isFederation ? 3 + this.#below(14) : kind < 0.6 ? 1 : 2 ** (1 + this.#below(3)),
        hubBytes: isFederation ? (1 + this.#below(4)) * GIB : null,
        selection: {
          ...{ kind: "auto", maxPriceCents: this.#random() < 0.2 ? 400 : null },
          gpuModels:
            this.#random() < 0.7 ? [model] : model === "cpu" ? ["cpu"] : ["a100_80gb", model],
        },
        ...{ onlyMine: false, avoidNodes: [], agentProtocol: 3, isReached: false },
        estimatedMemoryMb: this.#random() < 0.3 ? (1 + this.#below(3)) * 20_000 : null,
        images: [
          { needs: null },
          { needs: { vendor: "nvidia", architectures: ["8.0", "9.0"], leastDriver: "525" } },
        ],
        runsMs: this.#random() < 0.5 ? (1 + this.#below(600)) * MINUTE : null,
      });
    }
  }

  /** The given jobs got these workers. */
  begin(placed: readonly { job: string; workers: readonly string[] }[]): void {
    const gangs = new Map(this.gangs.map((gang) => [gang.job, gang]));
    for (const { job, workers } of placed) {
      const gang = gangs.get(job)!;
      const { project, priority, runsMs } = gang;
      this.#shapes.set(job, gang);
      this.running.push({
        ...{ job, attempt: job, project, priority, isPreemptible: true, userId: "u", workers },
        ...{ startedAt: this.now, committedAt: this.now, preemptedAt: [] },
        endsAt: runsMs === null ? null : this.now + runsMs,
      });
    }
    const started = new Set(placed.map(({ job }) => job));
    this.gangs = this.gangs.filter(({ job }) => !started.has(job));
    this.#mark(new Set(placed.flatMap(({ workers }) => workers)), false);
  }

  /** Some of those that run end. */
  end(count: number): void {
    const gone = new Set<RunningGang>();
    while (gone.size < Math.min(count, this.running.length)) gone.add(this.#pick(this.running));
    this.running = this.running.filter((one) => !gone.has(one));
    this.#mark(new Set([...gone].flatMap(({ workers }) => workers)), true);
  }

  /** Who made way stands in line again, and what they held is kept for those that came before them. */
  makeWay(
    preemptions: readonly { job: string; workers: string[]; victims: { job: string }[] }[],
  ): void {
    const gone = new Set(preemptions.flatMap(({ victims }) => victims.map(({ job }) => job)));
    const victims = this.running.filter(({ job }) => gone.has(job));
    this.running = this.running.filter(({ job }) => !gone.has(job));
    const freed = new Set(victims.flatMap(({ workers }) => workers));
    const keptFor = new Map(
      preemptions.flatMap(({ job, workers }) => workers.map((id) => [id, job] as const)),
    );
    this.workers = this.workers.map((worker) =>
      freed.has(worker.id) || keptFor.has(worker.id)
        ? {
            ...worker,
            isFree: worker.isFree || freed.has(worker.id),
            keptFor: keptFor.get(worker.id) ?? null,
          }
        : worker,
    );
    this.gangs.push(...victims.map(({ job }) => this.#shapes.get(job)!));
    this.gangs.sort((a, b) => a.sequence - b.sequence);
  }

  #mark(ids: ReadonlySet<string>, isFree: boolean): void {
    this.workers = this.workers.map((worker) =>
      ids.has(worker.id) ? { ...worker, isFree, keptFor: null } : worker,
    );
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<T>(of: readonly T[]): T {
    return of[this.#below(of.length)]!;
  }
}

function share(id: string, parent: string | null, guarantee: Record<string, number>): Share {
  return { id, parent, guarantee, limit: {}, weight: 1 };
}
