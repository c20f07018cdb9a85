import type { PlacementWorker, SleepingGang } from "./placement-facts.ts";

/** Gangs that sleep while a plan is made: their workers are given to whoever finds no free one, and only those go whose worker is taken. A working copy of one cycle. */
export class SleepingGangs {
  readonly #byWorker = new Map<string, SleepingGang>();

  constructor(sleepers: readonly SleepingGang[]) {
    for (const gang of sleepers) for (const id of gang.workers) this.#byWorker.set(id, gang);
  }

  /** Their workers that would serve, where nobody was promised them. */
  workers(
    all: Pick<ReadonlyMap<string, PlacementWorker>, "get">,
    serves: (worker: PlacementWorker) => boolean,
  ): PlacementWorker[] {
    return [...this.#byWorker.keys()].flatMap((id) => {
      const worker = all.get(id);
      const isOpen = worker !== undefined && !worker.isFree && (worker.keptFor ?? null) === null;
      return isOpen && serves(worker) ? [worker] : [];
    });
  }

  /** They make way for another reason. */
  forget(gangs: Iterable<Pick<SleepingGang, "workers">>): void {
    for (const { workers } of gangs) for (const id of workers) this.#byWorker.delete(id);
  }

  get areThere(): boolean {
    return this.#byWorker.size > 0;
  }

  /** Those that have one of the workers; they sleep for nobody else from then on. */
  take(workers: readonly PlacementWorker[]): SleepingGang[] {
    const gone = new Set(workers.flatMap(({ id }) => this.#byWorker.get(id) ?? []));
    this.forget(gone);
    return [...gone];
  }
}
