import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Inventory, InventoryWorker, WorkerTrial } from "@resontech/contracts/agent-protocol";
import { reader } from "@resontech/contracts/readable";
import { replaceFileNow } from "@resontech/frame/durable-file-now";
import { type Static, Type } from "typebox";
import {
  type TrialResult,
  trialSubject,
  trialTold,
  withTrial,
} from "../decisions/worker-trials.ts";

const closed = { additionalProperties: false } as const;

/** `trials.json` in the agent's data folder: what has passed. Whatever is not in it is tried by the next process. */
const Passed = Type.Object(
  {
    formatVersion: Type.Literal(1),
    passed: Type.Array(
      Type.Object(
        {
          subject: Type.String({ maxLength: 400 }),
          image: Type.String({ maxLength: 512 }),
        },
        closed,
      ),
      { maxItems: 1024 },
    ),
  },
  closed,
);
const readPassed = reader(Passed);
/** Whoever registers looks for due trials, and what a trial says makes its node register anew. */
const AGAIN_MS = 45_000;

/** How the trials of the node's workers stand. A trial that failed is made again by a new process, or after an operator's word. */
export class WorkerTrials {
  readonly #file: string;
  readonly #triesProcessors: boolean;
  readonly #results: Map<string, TrialResult>;
  readonly #againAtMs = new Map<string, number>();
  #isWanted = true;
  #words = 0;

  constructor(dataDir: string, triesProcessors: boolean) {
    this.#file = join(dataDir, "trials.json");
    this.#triesProcessors = triesProcessors;
    this.#results = new Map(
      read(this.#file).map(({ subject, image }) => [subject, { state: "passed", image }]),
    );
  }

  /** Whether the coordinator says with which image a worker is tried; an older one does not. True when that is news. */
  want(isWanted: boolean): boolean {
    const isNews = this.#isWanted !== isWanted;
    this.#isWanted = isWanted;
    return isNews;
  }

  /** The inventory as it is told: what has not passed takes no work. */
  mark(inventory: Inventory): Inventory {
    const mark = (worker: InventoryWorker): InventoryWorker =>
      this.#subjectOf(worker) === null ? worker : withTrial(worker, this.#resultOf(worker));
    return { ...inventory, workers: inventory.workers.map(mark) };
  }

  /** For whoever installs the node; of a worker that is not well, and was not tried, nothing. */
  told({ workers }: Inventory): WorkerTrial[] {
    return workers
      .filter((worker) => this.#subjectOf(worker) !== null)
      .filter((worker) => worker.healthy || this.#resultOf(worker) !== undefined)
      .map((worker) => trialTold(worker.id, this.#resultOf(worker)));
  }

  /**
   * One worker for each trial that is to be made now, in order.
   * @param taken workers that members hold @param nowMs of the clock that {@link note} is told
   */
  due({ workers }: Inventory, taken: ReadonlySet<string>, nowMs: number): InventoryWorker[] {
    const subjects = new Set<string>();
    return workers.filter((worker) => {
      const subject = this.#subjectOf(worker);
      if (subject === null || !worker.healthy || taken.has(worker.id)) return false;
      const state = this.#resultOf(worker)?.state ?? "put-off";
      if (state !== "put-off" || nowMs < (this.#againAtMs.get(subject) ?? 0)) return false;
      return subjects.size !== subjects.add(subject).size;
    });
  }

  /** How often an operator has said that the devices are well; asked for before a trial begins. */
  get words(): number {
    return this.#words;
  }

  /**
   * @param words when the trial began: what failed before the operator's last word says nothing of now, and is tried again
   * @throws when a pass could not be written down
   */
  note(worker: InventoryWorker, result: TrialResult, nowMs: number, words = this.#words): void {
    const subject = this.#subjectOf(worker);
    if (subject === null) return;
    if (words !== this.#words && result.state !== "passed") return;
    this.#results.set(subject, result);
    if (result.state === "put-off") this.#againAtMs.set(subject, nowMs + AGAIN_MS);
    if (result.state === "passed") this.#keep();
  }

  /** An operator says that the devices are well: those that failed are tried again. */
  undrained(): void {
    this.#words += 1;
    this.#againAtMs.clear();
    for (const [subject, { state }] of this.#results)
      if (state !== "passed") this.#results.delete(subject);
  }

  #subjectOf(worker: InventoryWorker): string | null {
    return this.#isWanted ? trialSubject(worker, this.#triesProcessors) : null;
  }

  #resultOf(worker: InventoryWorker): TrialResult | undefined {
    return this.#results.get(this.#subjectOf(worker) ?? "");
  }

  #keep(): void {
    const passed = [...this.#results].flatMap(([subject, result]) =>
      result.state === "passed" ? [{ subject, image: result.image }] : [],
    );
    const kept: Static<typeof Passed> = { formatVersion: 1, passed: passed.slice(-1024) };
    replaceFileNow(this.#file, JSON.stringify(kept), 0o600);
  }
}

/** A damaged file says of no worker that it passed. */
function read(file: string): Static<typeof Passed>["passed"] {
  if (!existsSync(file)) return [];
  try {
    return readPassed(JSON.parse(readFileSync(file, "utf8")))?.passed ?? [];
  } catch {
    return [];
  }
}
