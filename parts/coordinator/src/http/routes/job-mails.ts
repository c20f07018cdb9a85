/** Mails at the ends of jobs: everybody's own wishes. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import { JobMailsReply } from "@resontech/contracts/http-jobs";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import {
  MOST_MAIL_REQUESTS,
  mailRequestsOf,
  requestMailOfAll,
  requestMailOfJob,
} from "../../job-mails/mail-request-store.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { authorizedRow, callerOfRequest } from "../authorization.ts";
import { responses } from "../responses.ts";

export type JobMailRoutesDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  kernel: Pick<Kernel, "job">;
  now: () => number;
};

const tags = ["jobs"];
const params = Type.Object({ id: IdParam }, { additionalProperties: false });
const response = responses(200, JobMailsReply);
const audit = {
  none: "a wish for mails opens no data and changes nothing of anybody else",
} as const;
const own = { access: { own: "the caller's own wishes for mails" }, audit } as const;
const ofJob = { access: { action: "job.read" }, audit } as const;

export const jobMailRoutes: FastifyPluginAsyncTypebox<JobMailRoutesDeps> = async (
  app,
  { read, commit, kernel, now },
) => {
  app.get(
    "/api/job-mails",
    {
      schema: { summary: "Of which jobs' ends the caller wants a mail", ...{ tags, response } },
      config: own,
    },
    async (request) => mailRequestsOf(read, callerOfRequest(request).userId),
  );

  app.put(
    "/api/job-mails",
    {
      schema: { summary: "A mail at the end of each own job", ...{ tags, response } },
      config: own,
    },
    async (request) => await setAll(request, true),
  );
  app.delete(
    "/api/job-mails",
    {
      schema: { summary: "No mail for all own jobs any more", ...{ tags, response } },
      config: own,
    },
    async (request) => await setAll(request, false),
  );

  app.put(
    "/api/job-mails/:id",
    {
      schema: { summary: "A mail at the end of one job", ...{ tags, params, response } },
      config: ofJob,
    },
    async (request) => await setOne(request, request.params.id, true),
  );
  app.delete(
    "/api/job-mails/:id",
    {
      schema: { summary: "No mail at the end of one job", ...{ tags, params, response } },
      config: ofJob,
    },
    async (request) => await setOne(request, request.params.id, false),
  );

  async function setAll(request: FastifyRequest, isWanted: boolean): Promise<JobMailsReply> {
    const { userId } = callerOfRequest(request);
    await commit.run((db) => requestMailOfAll(db, userId, isWanted, now()));
    return mailRequestsOf(read, userId);
  }

  async function setOne(
    request: FastifyRequest,
    job: string,
    isWanted: boolean,
  ): Promise<JobMailsReply> {
    const { userId } = callerOfRequest(request);
    const { id } = await authorizedRow(request, "job.read", kernel.job(job));
    if (isWanted && mailRequestsOf(read, userId).jobs.length >= MOST_MAIL_REQUESTS)
      throw new ApiError("quota_exceeded", `more than ${MOST_MAIL_REQUESTS} jobs are waited for`);
    await commit.run((db) => requestMailOfJob(db, userId, id, isWanted));
    return mailRequestsOf(read, userId);
  }
};
