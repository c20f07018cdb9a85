import { pipeline } from "node:stream/promises";
import { setImmediate as turn } from "node:timers/promises";
import { createDeflateRaw, deflateRawSync } from "node:zlib";
import { isFullDisk } from "@resontech/frame/durable-file";
import { SharedRun } from "@resontech/frame/shared-run";
import type { Plan, Snapshot } from "./decisions/placement.ts";
import {
  decidesAnything,
  planDecisionsOf,
  type PlanDecisions,
} from "./decisions/plan-decisions.ts";
import { framesInSteps, planFrame } from "./decisions/plan-frames.ts";
import { planInputOf } from "./decisions/plan-input.ts";
import type { PlanFiles } from "./plan-files.ts";
import { PlanInputChanges } from "./plan-input-changes.ts";
import { runInSlices } from "./run-in-slices.ts";

/** Others have their turn so often meanwhile. */
const SLICE_MS = 3;
/** More are left out: whoever plans faster than that can be written down goes on planning. */
const WAITING_LIMIT = 8;
/** After a failure nothing is tried for so long. */
const PAUSE_MS = 60_000;
const PRUNE_MS = 3_600_000;
/** So much is deflated within a millisecond. */
const AT_ONCE_BYTES = 128 * 1024;

type NotedPlan = { at: number; snapshot: Snapshot; decisions: PlanDecisions; missed: number };
/** @property since when nothing is recorded, of the steady clock */
type RecorderFault = { state: "full" | "failing"; since: number };

export type PlanRecorderParts = {
  files: PlanFiles;
  release: string;
  /** In milliseconds, whatever happens to the host's clock. */
  monotonic: () => number;
  /** Told once for as long as it lasts. */
  onError: (error: unknown) => void;
};

/** Writes down plans that decide something, after they were applied and in slices. Whatever fails here, plans go on. */
export class PlanRecorder {
  readonly #parts: PlanRecorderParts;
  readonly #changes = new PlanInputChanges();
  readonly #run = new SharedRun();
  #waiting: NotedPlan[] = [];
  #reserved: readonly string[] = [];
  #missed = 0;
  #previous: string | null = null;
  /** Null until it is known from what lies there. */
  #nextNumber: number | null = null;
  #fault: RecorderFault | null = null;
  #prunedAt = -Infinity;

  constructor(parts: PlanRecorderParts) {
    this.#parts = parts;
  }

  /** "ok", or why nothing is recorded. */
  get state(): "ok" | RecorderFault["state"] {
    return this.#fault?.state ?? "ok";
  }

  /** @param snapshot stays what it is @param at when it was read */
  note(snapshot: Snapshot, plan: Plan, at: number): void {
    const decisions = planDecisionsOf(plan);
    const isNews = decidesAnything(decisions, this.#reserved);
    this.#reserved = decisions.reserved;
    if (isNews) this.#queue({ at, snapshot, decisions });
    const isOld = this.#parts.monotonic() - this.#prunedAt > PRUNE_MS;
    if (this.#waiting.length > 0 || isOld) void this.#run.run(() => this.#work());
  }

  #queue(noted: Omit<NotedPlan, "missed">): void {
    const isPaused = this.#fault !== null && this.#parts.monotonic() - this.#fault.since < PAUSE_MS;
    if (isPaused || this.#waiting.length >= WAITING_LIMIT) this.#missed += 1;
    else {
      this.#waiting.push({ ...noted, missed: this.#missed });
      this.#missed = 0;
    }
  }

  /** Ends once all that was noted is written. */
  async idle(): Promise<void> {
    await this.#run.idle();
  }

  async close(): Promise<void> {
    await this.idle();
    await this.#parts.files.close();
  }

  async #work(): Promise<void> {
    // Whoever noted it goes on first.
    await turn();
    await this.#prune();
    for (let noted = this.#waiting.shift(); noted !== undefined; noted = this.#waiting.shift()) {
      try {
        await this.#write(noted);
        this.#fault = null;
      } catch (error) {
        this.#fail(error, noted);
      }
    }
  }

  #fail(error: unknown, { missed }: NotedPlan): void {
    // The next input is told whole, in a file of its own.
    this.#changes.forget();
    this.#missed += missed + 1 + this.#waiting.reduce((sum, each) => sum + each.missed + 1, 0);
    this.#waiting = [];
    if (this.#fault === null) this.#parts.onError(error);
    const since = this.#parts.monotonic();
    this.#fault = { state: isFullDisk(error) ? "full" : "failing", since };
  }

  async #write({ at, snapshot, decisions, missed }: NotedPlan): Promise<void> {
    const { files, release } = this.#parts;
    const number = (this.#nextNumber ??= await this.#firstNumber());
    if (files.isNew || this.#changes.isEmpty) {
      if (!files.isNew) await files.close();
      this.#changes.forget();
      this.#previous = null;
    }
    const changes = this.#changes.next(planInputOf(snapshot));
    const { lines, digest: input } = await runInSlices(changes, undefined, SLICE_MS);
    const body = await deflated(lines);
    const { bytes, sha256 } = planFrame(
      { number, at, release, previous: this.#previous, missed, input, decisions },
      body,
    );
    // Another time another number: what a failure left behind may have this one.
    this.#nextNumber = number + 1;
    await files.append(number, bytes);
    this.#previous = sha256;
  }

  /** After all that lie there. One that was cut may have had the next. */
  async #firstNumber(): Promise<number> {
    const last = (await this.#parts.files.list()).at(-1);
    if (last === undefined) return 1;
    const bytes = (await this.#parts.files.read(last)) ?? Buffer.alloc(0);
    const { frames, fault } = await runInSlices(framesInSteps(bytes), undefined, SLICE_MS);
    const highest = frames.at(-1)?.head.number ?? last.firstNumber;
    // What can't be read may be many.
    return highest + (fault === null ? 1 : fault.why === "cut" ? 2 : 2 + fault.bytes);
  }

  async #prune(): Promise<void> {
    const now = this.#parts.monotonic();
    if (now - this.#prunedAt <= PRUNE_MS) return;
    this.#prunedAt = now;
    // What can't be removed now is tried again.
    await this.#parts.files.prune().catch(this.#parts.onError);
  }
}

/** A whole input by a thread of zlib, line after line: its text is never one piece. Few changes at once: another thread costs more than they do. */
async function deflated(lines: readonly Buffer[]): Promise<Buffer> {
  const bytes = lines.reduce((sum, { length }) => sum + length, 0);
  if (bytes < AT_ONCE_BYTES) return deflateRawSync(Buffer.concat(lines), { level: 1 });
  const parts: Buffer[] = [];
  await pipeline(lines, createDeflateRaw({ level: 1 }), async (out: AsyncIterable<Buffer>) => {
    for await (const part of out) parts.push(part);
  });
  return Buffer.concat(parts);
}
