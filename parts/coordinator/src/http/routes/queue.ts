/** What waits for workers, in line, who holds them, and why one job waits or is where it is. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import {
  JobPlacementReply,
  QueueQuery,
  QueueReply,
  type StartErrorsReply,
  type WorkerHolderReply,
} from "@resontech/contracts/http-queue";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { decide } from "../../authorization/decide.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { isInFilter, type RowFilter } from "../../db/row-filter.ts";
import { projectName } from "../../identity/project-store.ts";
import type { ExpectedStart } from "../../kernel/decisions/expected-starts.ts";
import type { StartErrors } from "../../kernel/decisions/start-errors.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type {
  QueuedJobView,
  QueueViews,
  WaitView,
  WorkerHolder,
} from "../../kernel/queue-views.ts";
import type { ShareTable } from "../../kernel/share-table.ts";
import { authorize, authorizedRow, callerOfRequest } from "../authorization.ts";
import { instant, instantOrNull } from "../decisions/job-replies.ts";
import { inProject } from "../in-project.ts";
import { responses } from "../responses.ts";

export type QueueRoutesDeps = {
  read: ReadHandle;
  queue: Pick<QueueViews, "of" | "holders" | "startErrors" | "waits" | "placed">;
  kernel: Pick<Kernel, "job">;
  shares: Pick<ShareTable, "find">;
};

const tags = ["jobs"];
const Params = Type.Object({ id: IdParam }, { additionalProperties: false });

export const queueRoutes: FastifyPluginAsyncTypebox<QueueRoutesDeps> = async (
  app,
  { read, queue, kernel, shares },
) => {
  app.get(
    "/api/queue",
    {
      schema: {
        summary:
          "Jobs that wait for workers, in line, with when each is expected to start, as far as the caller may read them; and who holds the workers",
        ...{ tags, querystring: QueueQuery, response: responses(200, QueueReply) },
      },
      config: { access: { action: "job.state.list" }, audit: { none: "status" } },
    },
    async (request) => {
      const { rows } = await authorize(request, "job.state.list", "rows");
      const { project } = request.query;
      if (project !== undefined && rows !== "all")
        inProject(request, read, callerOfRequest(request), project);
      const named = rowsOf(request, "job.list");
      const seen = seenProject(request);
      const waiting = await queue.of(rows, project);
      return {
        jobs: waiting.map((job, at) =>
          queuedJob(job, job.isHeld ? null : at + 1, isInFilter(named, job)),
        ),
        holders: (await queue.holders()).map((one) => holderReply(one, seen)),
        startErrors: startErrorsReply(await queue.startErrors()),
      };
    },
  );

  app.get(
    "/api/jobs/:id/placement",
    {
      schema: {
        summary: "Why a job waits and when it is expected to start; or why it is where it is",
        ...{ tags, params: Params, response: responses(200, JobPlacementReply) },
      },
      config: { access: { action: "job.state.read" }, audit: { none: "status" } },
    },
    async (request) => {
      const job = await authorizedRow(request, "job.state.read", kernel.job(request.params.id));
      const { id, state, waitingFor } = job;
      const wait = state === "QUEUED" ? await queue.waits(id) : null;
      const placed = queue.placed(id);
      return {
        ...{ id, state, waitingFor },
        wait: wait === null ? null : waitReply(wait, seenProject(request)),
        placed: placed === null ? null : { ...placed, since: instant(placed.since) },
      };
    },
  );

  /** Names of projects for whoever sees their shares. */
  function seenProject(request: FastifyRequest): SeenProject {
    const rows = rowsOf(request, "share.read");
    return (id) => {
      const name = isInFilter(rows, { projectId: id }) ? projectName(read, id) : null;
      return name === null ? null : { id, name };
    };
  }

  function waitReply(
    { start, limit, ahead, holders, ...rest }: WaitView,
    seen: SeenProject,
  ): NonNullable<JobPlacementReply["wait"]> {
    return {
      ...rest,
      limit: limit === null ? null : { ...limit, name: shares.find(limit.share)?.name ?? "" },
      ahead: ahead.map(({ project, jobs }) => ({ project: seen(project), jobs })),
      holders: holders.map((one) => holderReply(one, seen)),
      ...startReply(start),
    };
  }
};

/** In whole seconds, and no less than it was. */
function startErrorsReply(errors: StartErrors | null): StartErrorsReply | null {
  if (errors === null) return null;
  const { jobs, earlierMs, laterMs } = errors;
  const seconds = (ms: number) => Math.ceil(ms / 1_000);
  return { jobs, earlierSeconds: seconds(earlierMs), laterSeconds: seconds(laterMs) };
}

type SeenProject = (id: string) => { id: string; name: string } | null;

/** What the caller may do beside what the route asks; nothing where he may not at all, and that is no refusal. */
function rowsOf(request: FastifyRequest, action: "job.list" | "share.read"): RowFilter {
  const verdict = decide(callerOfRequest(request), action, "rows");
  return verdict.effect === "allow" ? verdict.rows : [];
}

function queuedJob(
  { isHeld: _isHeld, userId: _userId, since, start, name, owner, ...job }: QueuedJobView,
  place: number | null,
  isNamed: boolean,
): QueueReply["jobs"][number] {
  return {
    ...{ ...job, place, since: instant(since) },
    ...(isNamed ? { name, owner } : { name: null, owner: null }),
    ...startReply(start),
  };
}

function startReply(
  start: ExpectedStart | null,
): Pick<QueueReply["jobs"][number], "expectedStart" | "expectedRange" | "noStart"> {
  if (start === null || start.at === null)
    return { expectedStart: null, noStart: start?.why ?? null };
  const { at, range } = start;
  return {
    ...{ expectedStart: instant(at), noStart: null },
    ...(range === undefined
      ? {}
      : { expectedRange: { from: instant(range.from), until: instantOrNull(range.until) } }),
  };
}

function holderReply(
  { project, jobClass, workers, since, endsAt, isLeaving }: WorkerHolder,
  seen: SeenProject,
): WorkerHolderReply {
  return {
    ...{ project: seen(project), jobClass, workers: { ...workers } },
    ...{ since: instant(since), endsBy: instantOrNull(endsAt), isLeaving },
  };
}
