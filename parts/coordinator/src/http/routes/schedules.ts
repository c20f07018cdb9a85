/** Jobs that repeat by a calendar. */
import { randomBytes } from "node:crypto";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import { QueueQuery } from "@resontech/contracts/http-queue";
import {
  Schedule,
  ScheduleBody,
  ScheduleChangeBody,
  ScheduleListReply,
  type ScheduleRun,
  ScheduleRunsReply,
} from "@resontech/contracts/http-schedules";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle, WriteHandle } from "../../db/open-database.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { CalendarInvalid, nextInstant, readCalendar } from "../../schedules/decisions/calendar.ts";
import {
  findSchedule,
  insertSchedule,
  listedSchedule,
  type ListedSchedule,
  listSchedules,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  type RunRow,
  runsOf,
  type ScheduleRow,
} from "../../schedules/schedule-store.ts";
import { authorize, authorizedRow, callerOfRequest } from "../authorization.ts";
import { authorizeClass } from "../authorize-class.ts";
import { asTask } from "../decisions/deployment-replies.ts";
import { instant, instantOrNull } from "../decisions/job-replies.ts";
import { inProject } from "../in-project.ts";
import { StoredTasks } from "../../kernel/stored-tasks.ts";
import { responses } from "../responses.ts";

export type ScheduleRoutesDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  /** Unix milliseconds. */
  now: () => number;
  kernel: Pick<Kernel, "job">;
};

const tags = ["schedules"];
const closed = { additionalProperties: false } as const;
const params = Type.Object({ id: IdParam }, closed);
const changes = {
  access: { action: "schedule.change" },
  audit: { event: "job.schedule" },
} as const;

export const scheduleRoutes: FastifyPluginAsyncTypebox<ScheduleRoutesDeps> = async (app, deps) => {
  const { read, commit, now, kernel } = deps;
  const stored = new StoredTasks(read);

  app.get(
    "/api/schedules",
    {
      schema: {
        summary: "Schedules that the caller may read, by name, with the next run and the last one",
        ...{ tags, querystring: QueueQuery, response: responses(200, ScheduleListReply) },
      },
      config: { access: { action: "schedule.list" }, audit: { none: "status" } },
    },
    async (request) => {
      const { rows } = await authorize(request, "schedule.list", "rows");
      const { project } = request.query;
      if (project !== undefined) inProject(request, read, callerOfRequest(request), project);
      return { schedules: listSchedules(read, rows, project).map(scheduleReply) };
    },
  );

  app.post(
    "/api/schedules",
    {
      schema: {
        summary: "Let a task repeat by a calendar; each run is a job of its own",
        ...{ tags, body: ScheduleBody, response: responses(201, Schedule) },
      },
      config: { access: { action: "schedule.create" }, audit: { event: "job.schedule" } },
    },
    async (request, reply) => {
      const caller = callerOfRequest(request);
      const { userId, projectId } = caller;
      await authorize(request, "schedule.create", { userId, projectId });
      const { cron, timeZone } = request.body;
      const what = await whatOf(request, projectId);
      const nextAt = firstOf(cron, timeZone, now());
      const row: ScheduleRow = {
        ...{ id: `s_${randomBytes(12).toString("hex")}`, projectId, userId, cron, timeZone },
        ...what,
        keyId: caller.kind === "key" ? caller.keyId : null,
        ...{ nextAt, pausedBy: null, createdAt: now() },
      };
      await change(request, row, "made", (db) => insertSchedule(db, row));
      return reply.code(201).send(scheduleReply(listedOf(row.id)));
    },
  );

  app.put(
    "/api/schedules/:id",
    {
      schema: {
        summary: "Pause a schedule, or let it go on from now",
        ...{ tags, params, body: ScheduleChangeBody, response: responses(200, Schedule) },
      },
      config: changes,
    },
    async (request) => {
      const row = await rowFor(request, request.params.id);
      const { isPaused } = request.body;
      if (isPaused)
        await change(request, row, "paused", (db) => void pauseSchedule(db, row.id, "person"));
      else {
        const nextAt = nextInstant(readCalendar(row.cron, row.timeZone), now());
        await change(request, row, "resumed", (db) => resumeSchedule(db, row.id, nextAt));
      }
      return scheduleReply(listedOf(row.id));
    },
  );

  app.delete(
    "/api/schedules/:id",
    {
      schema: {
        summary: "Remove a schedule; jobs that it made stay",
        ...{ tags, params },
        response: responses(200, Type.Object({ id: Type.String() }, closed)),
      },
      config: changes,
    },
    async (request) => {
      const row = await rowFor(request, request.params.id);
      await change(request, row, "removed", (db) => removeSchedule(db, row.id));
      return { id: row.id };
    },
  );

  app.get(
    "/api/schedules/:id/runs",
    {
      schema: {
        summary: "Runs of a schedule, the newest first: which made a job, and why others made none",
        ...{ tags, params, response: responses(200, ScheduleRunsReply) },
      },
      config: { access: { action: "schedule.list" }, audit: { none: "status" } },
    },
    async (request) => {
      const { id } = await authorizedRow(
        ...([request, "schedule.list", findSchedule(read, request.params.id)] as const),
      );
      return { runs: runsOf(read, id).map(runReply) };
    },
  );

  function rowFor(request: FastifyRequest, id: string): Promise<ScheduleRow> {
    return authorizedRow(request, "schedule.change", findSchedule(read, id));
  }

  function listedOf(id: string): ListedSchedule {
    const listed = listedSchedule(read, id);
    if (listed === null) throw new ApiError("not_found", "there is no such schedule");
    return listed;
  }

  /** What is to be run. @throws ApiError validation_failed; not_found for a job that is none of the project's */
  async function whatOf(
    request: FastifyRequest<{ Body: ScheduleBody }>,
    projectId: string,
  ): Promise<Pick<ScheduleRow, "name" | "task" | "jobId">> {
    const { name, task, job: id } = request.body;
    const found = id === undefined ? null : asTask(kernel.job(id));
    const ofProject = found?.projectId === projectId ? found : null;
    const job = id === undefined ? null : await authorizedRow(request, "job.read", ofProject);
    const asked = job === null ? task?.class : stored.of(job.id)?.jobClass;
    const { userId } = callerOfRequest(request);
    await authorizeClass(request, asked, { userId, projectId });
    if (task === undefined && job !== null)
      return { name: name ?? job.name, task: null, jobId: job.id };
    if (task === undefined || job !== null)
      throw new ApiError("validation_failed", "body has one of task and job");
    if (task.after !== undefined)
      throw new ApiError("validation_failed", "body.task has no field after in a schedule");
    return { name: name ?? task.name, task: JSON.stringify(task), jobId: null };
  }

  async function change(
    request: FastifyRequest,
    { id: schedule, projectId }: ScheduleRow,
    what: "made" | "paused" | "resumed" | "removed",
    effect: (db: WriteHandle) => void,
  ): Promise<void> {
    await request.audit.operation(
      {
        type: "job.schedule",
        object: { kind: "project", id: projectId },
        detail: { schedule, change: what },
      },
      (operation) =>
        commit.run((db) => {
          effect(db);
          operation.completeIn(db);
        }),
    );
  }
};

/** @throws ApiError calendar_invalid */
function firstOf(cron: string, timeZone: string, now: number): number {
  try {
    return nextInstant(readCalendar(cron, timeZone), now);
  } catch (error) {
    if (!(error instanceof CalendarInvalid)) throw error;
    throw new ApiError("calendar_invalid", error.message);
  }
}

function scheduleReply(row: ListedSchedule): Schedule {
  const { id, name, projectId, owner, cron, timeZone, pausedBy, jobId } = row;
  return {
    ...{ id, name, projectId, owner, cron, timeZone, pausedBy, job: jobId },
    nextAt: instantOrNull(row.nextAt),
    lastRun: row.lastRun === null ? null : runReply(row.lastRun),
    createdAt: instant(row.createdAt),
  };
}

function runReply({ dueAt, outcome, code, jobId }: RunRow): ScheduleRun {
  return { dueAt: instant(dueAt), outcome, code, job: jobId };
}
