/** Models that one request may name, by what its caller may read. */
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { wireState } from "@resontech/contracts/job-states";
import { isModelOutput, mayNeedApproval } from "@resontech/contracts/model-output";
import { ApiError } from "../api-error.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { findBucket } from "../identity/bucket-store.ts";
import { ModelTable, refKey } from "../hub/model-table.ts";
import { JobModels } from "../inference/job-models.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { leavesByApproval } from "../storage/export-grants.ts";
import type { ModelSources } from "../workloads/predictor/model-sources.ts";
import { authorizedRow, callerOfRequest } from "./authorization.ts";

export type ModelSourcesDeps = {
  read: ReadHandle;
  kernel: Pick<Kernel, "job">;
  outputExport: "open" | "controlled";
};

export function modelSources(
  request: FastifyRequest,
  { read, kernel, outputExport }: ModelSourcesDeps,
): ModelSources {
  const outputs = new JobModels(read);
  const hub = new ModelTable(read);
  return {
    async ofJob(id, file) {
      const job = await orNone(authorizedRow(request, "job.read", kernel.job(id)));
      if (job === null) throw new ApiError("model_not_found", `there is no job ${id}`);
      // Of another project than the deployment's the caller must be one who may make jobs of its data.
      await authorizedRow(request, "job.inputs.read", findBucket(read, job.bucket));
      if (job.state !== "SUCCEEDED")
        throw new ApiError(
          "model_not_ready",
          `job ${id} has not finished: it is ${wireState(job.state)}`,
        );
      const found = outputs.find(id, `${job.outputRoot}/${file}`);
      if (found === null) throw new ApiError("model_not_found", `job ${id} left no ${file}`);
      return { ...found, bucket: job.bucket };
    },
    ofHub(name, revision) {
      const model = hub.find(name, revision);
      if (model === null)
        throw new ApiError("model_not_found", `the hub has no ${name}@${revision}`);
      const { commit, bucket, refVersion, refEtag } = model;
      if (commit === null || refVersion === null || refEtag === null)
        throw new ApiError("model_not_ready", `${name}@${revision} of the hub is ${model.state}`);
      const files = hub.files(model.id).map((file) => ({ ...file, bucket, sha256: file.sha256! }));
      const ref = {
        ...{ bucket, key: refKey(commit), versionId: refVersion, etag: refEtag },
        sizeBytes: commit.length,
        sha256: createHash("sha256").update(commit).digest("hex"),
      };
      return { name, revision: model.revision, commit, ref, files };
    },
    checkUse({ bucket, key }, isReadByCode) {
      const isElsewhere =
        findBucket(read, bucket)?.projectId !== callerOfRequest(request).projectId;
      const leaves = isReadByCode || isElsewhere;
      const isHeld =
        (outputExport === "controlled" && isModelOutput(key)) ||
        (mayNeedApproval(key) && leavesByApproval(read, bucket));
      if (isHeld && leaves)
        throw new ApiError(
          "export_controlled",
          isReadByCode
            ? "models of this place leave by approval alone, and a predictor's code could tell what it reads"
            : "models of that project leave it by approval alone",
        );
    },
  };
}

/** Waits for a row; null where it is not there, or not for this caller. */
async function orNone<R>(row: Promise<R>): Promise<R | null> {
  return await row.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "not_found") return null;
    throw error;
  });
}
