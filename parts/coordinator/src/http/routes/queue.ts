/** What waits for workers, in line. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { QueueQuery, QueueReply } from "@resontech/contracts/http-queue";
import type { ReadHandle } from "../../db/open-database.ts";
import type { QueuedJobView, QueueViews } from "../../kernel/queue-views.ts";
import { authorize, callerOfRequest } from "../authorization.ts";
import { instant } from "../decisions/job-replies.ts";
import { inProject } from "../in-project.ts";
import { responses } from "../responses.ts";

export type QueueRoutesDeps = { read: ReadHandle; queue: Pick<QueueViews, "of"> };

export const queueRoutes: FastifyPluginAsyncTypebox<QueueRoutesDeps> = async (
  app,
  { read, queue },
) => {
  app.get(
    "/api/queue",
    {
      schema: {
        summary:
          "Jobs that wait for workers and that the caller may read, in line, with when each is expected to start",
        ...{ tags: ["jobs"], querystring: QueueQuery, response: responses(200, QueueReply) },
      },
      config: { access: { action: "job.list" }, audit: { none: "status" } },
    },
    async (request) => {
      const { rows } = await authorize(request, "job.list", "rows");
      const { project } = request.query;
      if (project !== undefined) inProject(request, read, callerOfRequest(request), project);
      const waiting = await queue.of(rows, project);
      return { jobs: waiting.map((job, at) => queuedJob(job, job.isHeld ? null : at + 1)) };
    },
  );
};

function queuedJob({ isHeld: _isHeld, since, start, ...job }: QueuedJobView, place: number | null) {
  const isKnown = start !== null && start.at !== null;
  return {
    ...{ ...job, place, since: instant(since) },
    expectedStart: isKnown ? instant(start.at) : null,
    noStart: start === null || isKnown ? null : start.why,
  };
}
