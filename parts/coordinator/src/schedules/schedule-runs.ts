/** Submits what schedules have due. A run that was submitted right before a kill is found again by its idempotency key: nothing runs twice, and nothing is lost. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { PauseReason } from "@resontech/contracts/http-schedules";
import type { SubmitTaskBody } from "@resontech/contracts/http-tasks";
import { ApiError } from "../api-error.ts";
import type { OperationDeps } from "../audited-operation.ts";
import { COORDINATOR_ACTOR } from "../authorization/in-the-log.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { findBucketOfProject } from "../identity/bucket-store.ts";
import { StoredTasks } from "../kernel/stored-tasks.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { validateAgain } from "../submission/resubmit-task.ts";
import { acceptTask, type SubmissionDeps } from "../submission/submit-task.ts";
import { nextInstant, readCalendar } from "./decisions/calendar.ts";
import { judgeFailure } from "./decisions/run-failure.ts";
import { operationsFor } from "./operations-for.ts";
import {
  dueSchedules,
  listSchedules,
  livingRunOf,
  moveNext,
  noteRun,
  pauseSchedule,
  type RunRow,
  type ScheduleRow,
} from "./schedule-store.ts";
import { whyNoRun } from "./why-no-run.ts";

const LOOK_MS = 5_000;
/** A run that fails for so long by what is away is none. */
const TRIED_FOR_MS = 3_600_000;

export type ScheduleRunsDeps = SubmissionDeps &
  OperationDeps & {
    read: ReadHandle;
    store: Pick<ObjectStore, "list" | "listAtOnce" | "getRange" | "stat">;
    /** Unix milliseconds. */
    now: () => number;
    onError: (error: unknown) => void;
  };

export class ScheduleRuns implements AsyncDisposable {
  readonly #deps: ScheduleRunsDeps;
  readonly #tasks: StoredTasks;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Since when the present run of a schedule fails. */
  readonly #failing = new Map<string, number>();
  #lookedAt = Infinity;

  constructor(deps: ScheduleRunsDeps) {
    this.#deps = deps;
    this.#tasks = new StoredTasks(deps.read);
  }

  /** Looks again and again until disposed of. */
  run(): void {
    this.#running = this.#looks();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #looks(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.look().catch(this.#deps.onError);
      await pause(LOOK_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Carries out what is due, one after another; what one of them lacks keeps no other from its turn. */
  async look(): Promise<void> {
    const { read, now, onError } = this.#deps;
    if (now() < this.#lookedAt) await this.#realign();
    this.#lookedAt = now();
    for (const schedule of dueSchedules(read, now())) {
      if (this.#stop.signal.aborted) return;
      await this.#carryOut(schedule).catch(onError);
    }
  }

  /** The clock was set back, perhaps while nobody looked: the next time is the first from now, and none that was the next of a day that has not come. */
  async #realign(): Promise<void> {
    const { commit, read, now } = this.#deps;
    const late = listSchedules(read, "all").flatMap((schedule) => {
      const { cron, timeZone, nextAt } = schedule;
      const next = nextInstant(readCalendar(cron, timeZone), now());
      return nextAt !== null && next < nextAt ? [{ schedule, next }] : [];
    });
    if (late.length === 0) return;
    await commit.run((db) => {
      for (const { schedule, next } of late) moveNext(db, schedule, next);
    });
  }

  async #carryOut(schedule: ScheduleRow): Promise<void> {
    const { read, now } = this.#deps;
    const why = whyNoRun(read, schedule, now());
    if (why !== null) return await this.#rest(schedule, why);
    const key = `schedule.${schedule.id}.${schedule.nextAt}`;
    if (livingRunOf(read, schedule.id) !== null)
      return await this.#note(schedule, { outcome: "skipped", code: "overlap", jobId: null });
    if (schedule.jobId !== null && this.#tasks.of(schedule.jobId) === null)
      return await this.#rest(schedule, "job_gone");
    try {
      const { id } = await this.#submit(schedule, key);
      await this.#note(schedule, { outcome: "submitted", code: null, jobId: id });
    } catch (error) {
      const { outcome, code, isPassing } = judgeFailure(error);
      const since = this.#failing.get(schedule.id) ?? now();
      this.#failing.set(schedule.id, since);
      if (isPassing && now() - since < TRIED_FOR_MS) throw error;
      await this.#note(schedule, { outcome, code, jobId: null });
    }
  }

  async #submit(schedule: ScheduleRow, idempotencyKey: string) {
    const deps = this.#deps;
    const { id, projectId, userId, nextAt: due } = schedule;
    const asked = { schedule: id, due };
    return await acceptTask(
      ...([deps, { projectId, userId }] as const),
      { validated: () => this.#validated(schedule), asked, schedule: id, idempotencyKey },
      operationsFor(deps, userId),
    );
  }

  async #validated({ projectId, task, jobId }: ScheduleRow) {
    const deps = this.#deps;
    if (jobId !== null) return await validateAgain(deps, this.#tasks.of(jobId)!);
    const bucket = findBucketOfProject(deps.read, projectId);
    if (bucket?.isMade !== true)
      throw new ApiError("bucket_missing", "the project has no bucket yet");
    const body = JSON.parse(task!) as SubmitTaskBody;
    const { pool = null } = body;
    return { ...(await deps.validate(deps, bucket.name, body)), pool };
  }

  /** What was missed while the appliance was away is this one run: the next time counts from now. */
  async #note(schedule: ScheduleRow, run: Omit<RunRow, "dueAt">): Promise<void> {
    const { commit, record, now } = this.#deps;
    const { cron, timeZone, nextAt: due } = schedule;
    const next = nextInstant(readCalendar(cron, timeZone), Math.max(now(), due!));
    this.#failing.delete(schedule.id);
    await commit.run((db) => {
      noteRun(db, schedule, run, next);
      if (run.code === null) return;
      record(db, {
        ...this.#factOf(schedule, "job.schedule.skip"),
        detail: {
          schedule: schedule.id,
          reason: run.code,
          due: new Date(due!).toISOString(),
        },
      });
    });
  }

  /** Nobody may submit it any more: it rests until somebody who may resumes it. */
  async #rest(schedule: ScheduleRow, reason: PauseReason): Promise<void> {
    const { commit, record } = this.#deps;
    await commit.run((db: WriteHandle) => {
      if (!pauseSchedule(db, schedule.id, reason)) return;
      record(db, {
        ...this.#factOf(schedule, "job.schedule"),
        detail: { schedule: schedule.id, change: "paused", reason },
      });
    });
  }

  #factOf<T extends "job.schedule" | "job.schedule.skip">(
    { projectId, userId }: ScheduleRow,
    type: T,
  ) {
    return {
      ...{ type, phase: "fact" as const, op: randomUUID() },
      ...{ actor: COORDINATOR_ACTOR, on_behalf_of: userId },
      object: { kind: "project" as const, id: projectId },
    };
  }
}
