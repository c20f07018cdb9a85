/** `/api/advice`: how many devices a training takes, for the devices that this site has. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { JobImage } from "@resontech/contracts/coordinator-config";
import { AdviceQuery, AdviceReply } from "@resontech/contracts/http-advice";
import { ApiError } from "../../api-error.ts";
import type { FleetModel } from "../../kernel/fleet-view.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { modelShapeOf } from "../../workloads/distributed/decisions/known-shapes.ts";
import { parameterCount } from "../../workloads/distributed/decisions/parameter-count.ts";
import { adviseTraining } from "../../workloads/distributed/decisions/training-advice.ts";
import { responses } from "../responses.ts";

export type AdviceRoutesDeps = {
  kernel: Pick<Kernel, "workersStats" | "catalogue">;
  images: readonly Pick<JobImage, "packages">[];
};

export const adviceRoutes: FastifyPluginAsyncTypebox<AdviceRoutesDeps> = async (
  app,
  { kernel, images },
) => {
  app.get(
    "/api/advice",
    {
      schema: {
        summary:
          "How many devices a training takes and how its ranks share the work: a table by size, and an estimate of memory beside it",
        tags: ["tasks"],
        querystring: AdviceQuery,
        response: responses(200, AdviceReply),
      },
      config: { access: { action: "fleet.read" }, audit: { none: "models and counts alone" } },
    },
    async (request) => {
      const { precision, optimizer, sequence = null, gpuModels, gpus = null } = request.query;
      const parameters = parametersIn(request.query);
      requireWholeShape(request.query);
      const catalogue = kernel.catalogue();
      return adviseTraining(
        {
          parameters,
          precision,
          optimizer,
          sequence,
          shape: modelShapeOf(parameters, request.query),
        },
        {
          ...{ workers: kernel.workersStats().workers, catalogue, gpus },
          named: gpuModels === undefined ? null : modelsIn(gpuModels, catalogue),
          hasDeepspeed: images.some(({ packages }) => packages["deepspeed"] !== undefined),
        },
      );
    },
  );
};

/** @throws ApiError validation_failed */
function parametersIn({ parameters: written }: AdviceQuery): number {
  const count = parameterCount(written);
  if (count === null)
    throw new ApiError(
      "validation_failed",
      `query.parameters ${JSON.stringify(written)} is no count of parameters from 1 to 100t: write 7b, 350m, 1.3b or 7000000000`,
    );
  return count;
}

/** @throws ApiError validation_failed */
function requireWholeShape({ layers, hidden, heads }: AdviceQuery): void {
  const named = [layers, hidden, heads].filter((one) => one !== undefined);
  if (named.length !== 0 && named.length !== 3)
    throw new ApiError(
      "validation_failed",
      "query.layers, query.hidden and query.heads go together: name all three, or none",
    );
  if (heads !== undefined && hidden !== undefined && heads > hidden)
    throw new ApiError(
      "validation_failed",
      `query.heads is ${heads}, more than the ${hidden} of query.hidden that they divide`,
    );
}

/** @throws ApiError gpu_model_unknown */
function modelsIn(written: string, catalogue: readonly Pick<FleetModel, "id">[]): string[] {
  const ids = [...new Set(written.split(",").map((id) => id.trim()))];
  const unknown = ids.find((id) => !catalogue.some((model) => model.id === id));
  if (unknown !== undefined)
    throw new ApiError(
      "gpu_model_unknown",
      `there is no model ${JSON.stringify(unknown)} in the catalogue`,
    );
  return ids;
}
