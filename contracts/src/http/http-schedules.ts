/** `/api/schedules`: jobs that repeat by a calendar. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";
import { IdParam, Instant } from "./http-common.ts";
import { SubmitTaskBody } from "./http-tasks.ts";

/** Why a schedule rests. `person`: somebody paused it. Of the others each is a right that its owner had and has no longer. */
export const PAUSE_REASONS = [
  "person",
  "owner_disabled",
  "owner_left",
  "owner_unseen",
  "not_in_project",
  "key_over",
  "policy_refused",
  "job_gone",
] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

/** `submitted`: a job was made. `skipped`: the run before has not ended, or another job uses the folder. `refused`: a submission like this one is refused. */
export const RUN_OUTCOMES = ["submitted", "skipped", "refused"] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

const Cron = Type.String({
  ...{ minLength: 9, maxLength: 200 },
  description: "Minute, hour, day of the month, month, day of the week, as in crontab(5)",
  examples: ["0 3 * * 1-5"],
});
const TimeZone = Type.String({
  ...{ minLength: 1, maxLength: 64 },
  description: "A name of the IANA database",
  examples: ["Europe/Berlin"],
});
const Name = Type.String({ minLength: 1, maxLength: 200 });

/** One of `task` and `job` is said. */
export const ScheduleBody = Type.Object(
  {
    name: Type.Optional(Name),
    cron: Cron,
    timeZone: TimeZone,
    /** As for `POST /api/tasks`, but for `after`: each run takes the files that lie there then. */
    task: Type.Optional(SubmitTaskBody),
    /** A job of the project: each run takes the very versions that this job read. */
    job: Type.Optional(IdParam),
  },
  closed,
);
export type ScheduleBody = Static<typeof ScheduleBody>;

export const ScheduleChangeBody = Type.Object({ isPaused: Type.Boolean() }, closed);

const ScheduleRun = Type.Object(
  {
    /** When it was due. */
    dueAt: Instant,
    outcome: Type.Enum([...RUN_OUTCOMES]),
    /** A code of the error catalogue, or `overlap`; null of a run that was submitted. */
    code: Nullable(Type.String()),
    /** Its job, while that is there. */
    job: Nullable(Type.String()),
  },
  closed,
);
export type ScheduleRun = Static<typeof ScheduleRun>;

export const Schedule = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    projectId: Type.String(),
    /** By whose rights it runs. */
    owner: Type.String(),
    cron: Type.String(),
    timeZone: Type.String(),
    /** The job that it repeats; null where a task of its own is submitted. */
    job: Nullable(Type.String()),
    /** Null while it rests. */
    nextAt: Nullable(Instant),
    /** Why it rests; null while it does not. */
    pausedBy: Nullable(Type.Enum([...PAUSE_REASONS])),
    lastRun: Nullable(ScheduleRun),
    createdAt: Instant,
  },
  closed,
);
export type Schedule = Static<typeof Schedule>;

export const ScheduleListReply = Type.Object({ schedules: Type.Array(Schedule) }, closed);
/** The newest first, of the last 100. */
export const ScheduleRunsReply = Type.Object({ runs: Type.Array(ScheduleRun) }, closed);
