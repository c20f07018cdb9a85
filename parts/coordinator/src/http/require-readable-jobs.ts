import type { SubmitTaskBody } from "@resontech/contracts/http-tasks";
import type { FastifyRequest } from "fastify";
import type { Kernel } from "../kernel/kernel.ts";
import { authorizedRow } from "./authorization.ts";
import { asTask } from "./decisions/deployment-replies.ts";

/** Jobs that a task is to start after are of its project, and the caller may read them. @throws ApiError, as for a job that is not there */
export async function requireReadableJobs(
  request: FastifyRequest,
  kernel: Pick<Kernel, "job">,
  after: SubmitTaskBody["after"] = [],
  projectId: string,
): Promise<void> {
  for (const { job: id } of after) {
    const job = asTask(kernel.job(id));
    await authorizedRow(request, "job.read", job?.projectId === projectId ? job : null);
  }
}
