import { promisify } from "node:util";
import { inflateRaw } from "node:zlib";
import { Turns } from "@resontech/frame/turns";
import { jobInPlan, jobsOfPlan } from "./decisions/job-in-plan.ts";
import {
  decisionsText,
  jobsDecided,
  type PlanDecisions,
  planDecisionsOf,
} from "./decisions/plan-decisions.ts";
import { framesInSteps, type PlanFileFault, type PlanFrame } from "./decisions/plan-frames.ts";
import { snapshotOfInput } from "./decisions/plan-input.ts";
import { planInSteps } from "./decisions/placement.ts";
import { PlanNotRecorded, PlanRecordDamaged } from "./errors.ts";
import type { PlanFile, PlanFiles } from "./plan-files.ts";
import { GrowingInput } from "./plan-input-changes.ts";
import { digestInSteps } from "./plan-input-digest.ts";
import { runInSlices } from "./run-in-slices.ts";

const inflated = promisify(inflateRaw);

export type RecordedPlan = {
  number: number;
  at: number;
  release: string;
  input: string;
  decisions: PlanDecisions;
  missed: number;
  /** Its bytes are not those that were written: it can't be made again, nor what follows in its file. */
  isDamaged: boolean;
};
/** @property after the plan before it, if one can be read */
export type UnreadPlans = PlanFileFault & { file: string; after: number | null };
export type ReplayedPlan = {
  recorded: RecordedPlan;
  replayed: PlanDecisions;
  isSame: boolean;
  job: { id: string; told: string[] } | null;
};

/** Reads plans that were recorded, and makes them again by the planner of this release. */
export class PlanReplays {
  readonly #files: PlanFiles;
  /** One at a time: an input is as large as the fleet and its queue. */
  readonly #turns = new Turns();

  constructor(files: PlanFiles) {
    this.#files = files;
  }

  /** The newest first. @param job of those alone that decided about it; the beginning of its id will do */
  async list(
    limit: number,
    job: string | null,
  ): Promise<{ plans: RecordedPlan[]; unread: UnreadPlans[] }> {
    return await this.#turns.run(async () => {
      const plans: RecordedPlan[] = [];
      const unread: UnreadPlans[] = [];
      for (const file of (await this.#files.list()).toReversed()) {
        const found = await this.#framesOf(file);
        if (found === null) continue;
        const { frames, fault } = found;
        if (fault !== null)
          unread.push({ ...fault, file: file.path, after: frames.at(-1)?.head.number ?? null });
        let isDamaged = false;
        const ofFile: RecordedPlan[] = [];
        for (const frame of frames) {
          isDamaged ||= frame.isDamaged;
          const plan = recordedPlan(frame, isDamaged);
          if (job === null || isAbout(plan, job)) ofFile.push(plan);
        }
        plans.push(...ofFile.toReversed());
        if (plans.length >= limit) break;
      }
      return { plans: plans.slice(0, limit), unread };
    });
  }

  /**
   * @param jobIn finds the job that is asked about among those that the plan knew; null: none
   * @throws PlanNotRecorded, PlanRecordDamaged, and what `jobIn` throws
   */
  async replay(
    number: number,
    jobIn: ((jobs: ReadonlySet<string>) => string) | null,
  ): Promise<ReplayedPlan> {
    return await this.#turns.run(async () => {
      const frames = await this.#framesUntil(number);
      const last = frames.at(-1)!;
      const growing = new GrowingInput();
      try {
        for (const { body } of frames)
          await runInSlices(growing.take(await inflated(body)), undefined, SLICE_MS);
      } catch (error) {
        throw new PlanRecordDamaged(number, { cause: error });
      }
      const digest = await runInSlices(digestInSteps(growing.input), undefined, SLICE_MS);
      if (digest !== last.head.input) throw new PlanRecordDamaged(number);
      const snapshot = snapshotOfInput(growing.input);
      const plan = await runInSlices(planInSteps(snapshot), undefined, SLICE_MS);
      const replayed = planDecisionsOf(plan);
      const id = jobIn === null ? null : jobIn(jobsOfPlan(snapshot));
      return {
        recorded: recordedPlan(last, false),
        replayed,
        isSame: decisionsText(replayed) === decisionsText(last.head.decisions),
        job: id === null ? null : { id, told: jobInPlan(id, snapshot, plan) },
      };
    });
  }

  async #framesUntil(number: number): Promise<PlanFrame[]> {
    const file = (await this.#files.list()).findLast(({ firstNumber }) => firstNumber <= number);
    const found = file === undefined ? null : await this.#framesOf(file);
    const { frames = [], fault = null } = found ?? {};
    const until = frames.filter(({ head }) => head.number <= number);
    if (until.at(-1)?.head.number !== number) {
      // What can't be read may have been this one.
      if (fault !== null && until.length === frames.length) throw new PlanRecordDamaged(number);
      throw new PlanNotRecorded(number);
    }
    if (until.some(({ isDamaged }) => isDamaged)) throw new PlanRecordDamaged(number);
    return until;
  }

  async #framesOf(
    file: PlanFile,
  ): Promise<{ frames: PlanFrame[]; fault: PlanFileFault | null } | null> {
    const bytes = await this.#files.read(file);
    return bytes === null ? null : await runInSlices(framesInSteps(bytes), undefined, SLICE_MS);
  }
}

/** Others have their turn so often meanwhile. */
const SLICE_MS = 3;

function recordedPlan({ head }: PlanFrame, isDamaged: boolean): RecordedPlan {
  const { number, at, release, input, decisions, missed } = head;
  return { number, at, release, input, decisions, missed, isDamaged };
}

function isAbout({ decisions }: RecordedPlan, job: string): boolean {
  return [...jobsDecided(decisions)].some((id) => id.startsWith(job));
}
