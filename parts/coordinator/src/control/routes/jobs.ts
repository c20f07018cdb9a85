/** Jobs of everybody: their states, and how the operator stops one. */
import type { FastifyInstance } from "fastify";
import type { ReadHandle } from "../../db/open-database.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { answerOperator } from "../answer-operator.ts";
import { begunId } from "../begun-id.ts";
import { operatorJob, operatorJobs } from "../operator-jobs.ts";

export type OperatorJobDeps = {
  read: ReadHandle;
  kernel: Pick<Kernel, "requestStop" | "explainStop">;
};

export async function operatorJobRoutes(
  app: FastifyInstance,
  { read, kernel }: OperatorJobDeps,
): Promise<void> {
  answerOperator(
    app,
    "job-list",
    { action: "job.state.list", audit: { none: "status" } },
    async (asked) => ({ jobs: operatorJobs(read, asked) }),
  );

  answerOperator(
    app,
    "job-show",
    { action: "job.state.read", audit: { none: "status" } },
    async ({ job }) => operatorJob(read, job),
  );

  answerOperator(
    app,
    "job-cancel",
    { action: "job.cancel", audit: { event: "job.cancel" } },
    async ({ job: idOrStart, reason }, request) => {
      // A job that is not there leaves no operation behind.
      const id = begunId(read, "jobs", idOrStart);
      const job = await request.audit.operation(
        {
          ...{ type: "job.cancel", object: { kind: "job", id }, detail: {} },
          pii: { reason },
        },
        async (operation) => {
          const stopping = await kernel.requestStop(id, "operator_cancelled", operation.proof);
          operation.closedElsewhere();
          await kernel.explainStop(id, `The operator stopped the job: ${reason}`);
          return stopping;
        },
      );
      return { job: id, state: job?.state ?? "UNKNOWN" };
    },
  );
}
