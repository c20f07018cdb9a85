/**
 * Gangs that hold workers and may be made to go, while a plan is made: by project, by what they hold, and by the kinds of it. So nobody looks at all of them
 * for each gang that waits. A working copy of one cycle.
 */
import type { PlacementWorker, RunningGang, WaitingGang } from "./placement-facts.ts";
import type { PlacementFleet } from "./placement-fleet.ts";
import type { Holder, HolderRow } from "./reclaim.ts";
import { type Amounts, amountsOf, type ShareLedger } from "./shares.ts";

type Fleet = Pick<PlacementFleet, "worker" | "kindsOf" | "goesByKind" | "servesOnceFree">;
/** Those that hold workers of the same kinds: they serve a gang all, or none does. @property workers of the first */
type Alike = { workers: readonly string[] };
type Kept = Holder & { alike: Alike | null };
/** @property count of all that run, those among them that nobody may ask */
type Row = HolderRow & { count: number; holders: Set<Kept> };
type Serves = (holder: Kept) => boolean;

export class HolderIndex {
  readonly #fleet: Fleet;
  readonly #rows = new Map<string, Map<string, Row>>();
  /** Rows of which somebody might have been asked when the cycle began. */
  readonly #open = new Set<Row>();
  readonly #byAttempt = new Map<string, Kept>();
  readonly #byProject = new Map<string, Set<Kept>>();
  /** Of what may be made to go, the lowest class by project. */
  readonly #lowest = new Map<string, number>();
  readonly #alike = new Map<string, Alike>();
  readonly #serving = new Map<string, Serves>();
  #borrowing: { version: number; rows: readonly Row[] } | null = null;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** @param mayGo false: it holds what it has, and is asked by nobody */
  add(gang: RunningGang, mayGo: boolean): void {
    const { attempt, project, priority } = gang;
    const row = this.#rowOf(gang);
    row.count += 1;
    if (!mayGo) return;
    const holder: Kept = { gang, row, alike: null };
    row.holders.add(holder);
    this.#open.add(row);
    this.#byAttempt.set(attempt, holder);
    const own = this.#byProject.get(project);
    if (own === undefined) this.#byProject.set(project, new Set([holder]));
    else own.add(holder);
    this.#lowest.set(project, Math.min(this.#lowest.get(project) ?? Infinity, priority));
  }

  /** All that runs, in sums. */
  *held(): Generator<{ project: string; amounts: Amounts }, void> {
    for (const rows of this.#rows.values())
      for (const { project, amounts, count } of rows.values())
        yield { project, amounts: timesOf(amounts, count) };
  }

  /** They make way in this plan, and for nobody else. */
  remove(attempts: Iterable<string>): void {
    for (const attempt of attempts) {
      const holder = this.#byAttempt.get(attempt);
      if (holder === undefined) continue;
      this.#byAttempt.delete(attempt);
      this.#byProject.get(holder.gang.project)!.delete(holder);
      (holder.row as Row).holders.delete(holder);
    }
  }

  /** Whether the project had somebody of a lower class when the cycle began. */
  hasBelow({ project, priority }: Pick<WaitingGang, "project" | "priority">): boolean {
    return priority > (this.#lowest.get(project) ?? Infinity);
  }

  /** Whether another project was lent workers, and may be made to give them back. */
  isLentBeside(project: string, ledger: ShareLedger): boolean {
    return this.#borrowed(ledger).some((row) => row.project !== project);
  }

  /** Those of the gang's own project that hold workers which would serve it. @param shape all by which it is given workers */
  ofProject(gang: WaitingGang, shape: string): Holder[] {
    const own = this.#byProject.get(gang.project);
    if (own === undefined || own.size === 0) return [];
    return [...own].filter(this.#serves(gang, shape));
  }

  /** Those of other projects that were lent what they hold, and would serve the gang. */
  borrowers(gang: WaitingGang, shape: string, ledger: ShareLedger): Holder[] {
    const serves = this.#serves(gang, shape);
    const found: Holder[] = [];
    for (const row of this.#borrowed(ledger))
      if (row.project !== gang.project)
        for (const holder of row.holders) if (serves(holder)) found.push(holder);
    return found;
  }

  #borrowed(ledger: ShareLedger): readonly Row[] {
    if (this.#borrowing?.version !== ledger.version)
      this.#borrowing = {
        version: ledger.version,
        rows: [...this.#open].filter(({ project, amounts }) => ledger.borrows(project, amounts)),
      };
    return this.#borrowing.rows;
  }

  /** Of a shape as the first gang of it found it. */
  #serves(gang: WaitingGang, shape: string): Serves {
    let serves = this.#serving.get(shape);
    if (serves === undefined)
      this.#serving.set(
        shape,
        (serves = this.#fleet.goesByKind(gang) ? this.#servesByKind(gang) : this.#servesAll(gang)),
      );
    return serves;
  }

  #servesByKind(gang: WaitingGang): Serves {
    const isServed = this.#mayServe(gang);
    const verdicts = new Map<Alike, boolean>();
    return (holder) => {
      const alike = (holder.alike ??= this.#alikeOf(holder.gang));
      let verdict = verdicts.get(alike);
      if (verdict === undefined) verdicts.set(alike, (verdict = isServed(alike.workers)));
      return verdict;
    };
  }

  #servesAll(gang: WaitingGang): Serves {
    const isServed = this.#mayServe(gang);
    const served = new Set(
      [...this.#byAttempt.values()].filter((holder) => isServed(holder.gang.workers)),
    );
    return (holder) => served.has(holder);
  }

  #mayServe(gang: WaitingGang): (workers: readonly string[]) => boolean {
    const serves = this.#fleet.servesOnceFree(gang);
    return (workers) =>
      workers.some((id) => {
        const worker = this.#fleet.worker(id);
        return worker !== undefined && !worker.isFree && serves(worker);
      });
  }

  #alikeOf({ workers }: RunningGang): Alike {
    const kinds = this.#fleet.kindsOf(workers);
    let alike = this.#alike.get(kinds);
    if (alike === undefined) this.#alike.set(kinds, (alike = { workers }));
    return alike;
  }

  #rowOf({ project, workers }: RunningGang): Row {
    const held = workers.flatMap((id) => this.#fleet.worker(id) ?? []);
    const key = keyOf(held);
    let rows = this.#rows.get(project);
    if (rows === undefined) this.#rows.set(project, (rows = new Map()));
    let row = rows.get(key);
    if (row === undefined)
      rows.set(
        key,
        (row = { project, amounts: amountsOf(held), count: 0, holders: new Set<Kept>() }),
      );
    return row;
  }
}

/** Of how many workers of which models. Most hold workers of one. */
function keyOf(held: readonly PlacementWorker[]): string {
  const first = held[0]?.model;
  if (held.every(({ model }) => model === first)) return `${held.length} ${first}`;
  const amounts = amountsOf(held);
  const models = Object.keys(amounts).toSorted((a, b) => (a < b ? -1 : 1));
  return JSON.stringify(models.map((model) => [model, amounts[model]]));
}

function timesOf(amounts: Amounts, times: number): Amounts {
  return Object.fromEntries(
    Object.entries(amounts).map(([model, count]) => [model, count * times]),
  );
}
