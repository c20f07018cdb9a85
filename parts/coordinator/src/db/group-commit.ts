import { asDiskFailure, DatabaseUnavailable } from "./database-unavailable.ts";
import type { WriteHandle } from "./open-database.ts";

/** Most transitions in one commit. */
const GROUP_LIMIT = 256;

type Waiting = { work: (db: WriteHandle) => unknown; settle: (outcome: Settled) => void };
type Settled = { ok: true; value: unknown } | { ok: false; error: unknown };

/**
 * The one way to write. A commit starts as soon as none runs and takes what queued meanwhile: what arrived while the thread
 * was in `fsync` shares the next one. Each piece of work is a savepoint; one that throws is rolled back alone. Callers are
 * answered after the commit, so what they were told is on the disk.
 *
 * Work is synchronous: it decides and writes, and talks to nobody.
 */
export class GroupCommit {
  readonly #db: WriteHandle;
  readonly #queue: Waiting[] = [];
  #isScheduled = false;
  #isClosed = false;
  /** Commits made, and transitions in them; their quotient says what grouping saved. */
  readonly counts = { commits: 0, transitions: 0 };
  #isWritable = true;
  /** Of the transaction under way, in order; null while there is none. */
  #effects: (() => void)[] | null = null;
  /** Called after each commit, before its callers are answered: who carries out what was decided looks for work then. */
  readonly listeners = new Set<() => void>();

  constructor(db: WriteHandle) {
    this.#db = db;
  }

  /** Whether the last commit came to the disk. */
  get isWritable(): boolean {
    return this.#isWritable;
  }

  /**
   * Resolves with what `work` returned once it is durable; rejects with what it threw, having changed nothing.
   * @throws DatabaseUnavailable
   */
  run<T>(work: (db: WriteHandle) => T): Promise<T> {
    if (this.#isClosed) return Promise.reject(new Error("the database is closed"));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#queue.push({
      work,
      settle: (outcome) => (outcome.ok ? resolve(outcome.value as T) : reject(outcome.error)),
    });
    this.#schedule();
    return promise;
  }

  /**
   * For work: calls `effect` once what it wrote is on the disk, before the listeners; never if it is rolled back. Effects of all work come in the
   * order in which they were asked for. Outside of work nothing waits for a commit, and it is called at once.
   */
  afterCommit(effect: () => void): void {
    if (this.#effects === null) effect();
    else this.#effects.push(effect);
  }

  /** Commits what is queued, then refuses more. */
  close(): void {
    this.#isClosed = true;
    while (this.#queue.length > 0) this.#commit();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#queue.length === 0) return;
    this.#isScheduled = true;
    // After the poll phase: everything that the sockets brought in this turn of the loop is in the queue by then.
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#queue.length > 0) this.#commit();
      this.#schedule();
    });
  }

  #commit(): void {
    const group = this.#queue.splice(0, GROUP_LIMIT);
    let outcomes: Settled[];
    let effects: (() => void)[] = [];
    this.#effects = [];
    try {
      this.#db.exec("BEGIN IMMEDIATE");
      outcomes = group.map(({ work }) => this.#inSavepoint(work));
      this.#db.exec("COMMIT");
      this.counts.commits += 1;
      this.counts.transitions += group.length;
      this.#isWritable = true;
      effects = this.#effects;
    } catch (cause) {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
      const error = asDiskFailure(cause);
      this.#isWritable &&= !(error instanceof DatabaseUnavailable);
      outcomes = group.map(() => ({ ok: false, error }));
    }
    this.#effects = null;
    for (const effect of effects) effect();
    for (const listener of this.listeners) listener();
    for (const [at, { settle }] of group.entries()) settle(outcomes[at]!);
  }

  #inSavepoint(work: Waiting["work"]): Settled {
    const effects = this.#effects!;
    const before = effects.length;
    this.#db.exec("SAVEPOINT transition");
    try {
      const value = work(this.#db);
      this.#db.exec("RELEASE transition");
      return { ok: true, value };
    } catch (error) {
      // A full disk or a failed write ends the whole transaction, or leaves it to us: what else is in it has no place either.
      if (!this.#db.inTransaction || asDiskFailure(error) !== error) throw error;
      this.#db.exec("ROLLBACK TO transition; RELEASE transition");
      effects.length = before;
      return { ok: false, error };
    }
  }
}
