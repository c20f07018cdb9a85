/**
 * Whose CPU the processes of this machine use: each belongs to the test file that started it, or to a part that several files share. Processes that
 * their parent waited for are in the parent's own account; this keeps those that nobody of the file waits for: containers, daemons, what was let go.
 */

export type ProcessSample = {
  pid: number;
  parent: number;
  /** When it started, in the kernel's own count: tells apart two processes of one number. */
  startedAt: number;
  /** Of itself and of the children that it waited for. */
  cpuSeconds: number;
  /** Its working folder; asked for only where its parent is nobody of ours. */
  cwd: () => string | null;
};

type Known = { owner: string; parent: number; startedAt: number; cpuSeconds: number };

export class ProcessCosts {
  readonly #roots = new Map<number, { owner: string; notesItself: boolean }>();
  readonly #shared = new Map<number, string>();
  readonly #known = new Map<number, Known>();
  readonly #folders = new Map<string, string>();
  readonly #ended = new Map<string, number>();

  /**
   * What it starts from now on belongs to `owner`; itself is not counted here.
   * @param notesItself as a test file's process does at its end: with all that it has waited for
   */
  addRoot(pid: number, owner: string, notesItself: boolean): void {
    this.#roots.set(pid, { owner, notesItself });
  }

  /** A process that several files use, with all that it starts, counts as `owner` from now on. */
  addShared(pid: number, owner: string): void {
    this.#shared.set(pid, owner);
  }

  /** @param samples all processes of the machine */
  observe(samples: readonly ProcessSample[]): void {
    const now = new Map(samples.map((sample) => [sample.pid, sample]));
    for (const [pid, known] of this.#known)
      if (now.get(pid)?.startedAt !== known.startedAt) this.#end(pid, known, now);
    // Parents first: a child is whose its parent is.
    for (const sample of samples.toSorted((a, b) => a.startedAt - b.startedAt)) this.#take(sample);
  }

  /** Seconds of CPU of each owner, over what its own process waited for; processes that still run included. */
  get seconds(): ReadonlyMap<string, number> {
    const sums = new Map(this.#ended);
    for (const [pid, { owner, cpuSeconds }] of this.#known)
      if (!this.#isWaitedFor(pid)) sums.set(owner, (sums.get(owner) ?? 0) + cpuSeconds);
    return sums;
  }

  /** What a file has left running, for the time after its end. */
  runningOf(owner: string): number[] {
    return [...this.#known].filter(([, known]) => known.owner === owner).map(([pid]) => pid);
  }

  #take(sample: ProcessSample): void {
    const { pid, parent, startedAt, cpuSeconds } = sample;
    const known = this.#known.get(pid);
    if (known !== undefined) {
      const owner = this.#sharedOwner(pid) ?? known.owner;
      this.#known.set(pid, { ...known, owner, parent, cpuSeconds });
      return;
    }
    if (this.#roots.has(pid)) return;
    const owner =
      this.#roots.get(parent)?.owner ??
      this.#known.get(parent)?.owner ??
      this.#ownerOfFolder(sample);
    if (owner === null) return;
    this.#known.set(pid, { owner, parent, startedAt, cpuSeconds });
    const cwd = sample.cwd();
    if (cwd !== null && isOfTest(cwd)) this.#folders.set(cwd, owner);
  }

  /** Of it, or of what started it: a part is named once it is up. */
  #sharedOwner(pid: number): string | null {
    for (let at: number | undefined = pid; at !== undefined; at = this.#known.get(at)?.parent) {
      const owner = this.#shared.get(at);
      if (owner !== undefined) return owner;
    }
    return null;
  }

  /** A container's monitor has left its parent before anybody saw it, and works where the engine of the test does. */
  #ownerOfFolder({ cwd }: ProcessSample): string | null {
    const folder = cwd();
    return folder === null ? null : (this.#folders.get(folder) ?? null);
  }

  /** Its parent counts it where the parent lives on, or was the file's own process, which waits for what it ends. */
  #end(
    pid: number,
    { owner, parent, startedAt, cpuSeconds }: Known,
    now: ReadonlyMap<number, ProcessSample>,
  ) {
    this.#known.delete(pid);
    const above = this.#known.get(parent);
    const isCounted =
      this.#roots.get(parent)?.notesItself === true ||
      (above !== undefined &&
        above.startedAt <= startedAt &&
        now.get(parent)?.startedAt === above.startedAt);
    if (!isCounted) this.#ended.set(owner, (this.#ended.get(owner) ?? 0) + cpuSeconds);
  }

  /** A child of a file's own process that still runs is expected to be waited for. */
  #isWaitedFor(pid: number): boolean {
    return this.#roots.get(this.#known.get(pid)?.parent ?? 0)?.notesItself === true;
  }
}

/** Folders that many processes work in tell nothing. */
function isOfTest(folder: string): boolean {
  return folder.startsWith("/tmp/") && folder.length > "/tmp/".length;
}
