/** `/api/inference/jobs`: deployments of predictors, as the public client makes and reads them (HOSTED-API). */
import { type Static, Type } from "typebox";
import { closed, IdParam, Instant, Nullable } from "./http-common.ts";
import { JobDetail } from "./http-tasks.ts";

/** Where replicas are reached, below the appliance's own address; `/predict` and `/health` follow. */
export const INFERENCE_PATH = "/inference";
/** What a predict key begins with; a platform key begins otherwise. */
export const PREDICT_KEY_PREFIX = "rpk_";
/** `PUBLIC` means any platform key with the scope, never anybody. */
export const VISIBILITIES = ["PRIVATE", "PUBLIC"] as const;

export const DeployBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    jobPath: Type.String({
      minLength: 1,
      maxLength: 1_024,
      description: "Bucket key with a leading slash: /inference_jobs/<name>",
    }),
    visibility: Type.Optional(Type.Enum([...VISIBILITIES])),
    callbackUrl: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
    estimatedMemoryMb: Type.Optional(Type.Integer({ minimum: 1, maximum: 16_777_216 })),
    workerIds: Type.Optional(Type.Array(IdParam, { maxItems: 1_024 })),
    autoSelectWorkers: Type.Optional(Type.Boolean()),
    gpuModels: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 64 }),
    ),
    maxPricePerGpuHourCents: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000_000 })),
    onlyMineWorkers: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type DeployBody = Static<typeof DeployBody>;

const Status = Type.Enum(["QUEUED", "RUNNING", "FINISHED", "FAILED"]);

export const DeployedReply = Type.Object(
  {
    jobId: Type.String(),
    status: Status,
    /** Of the deployment; the client calls `<endpoint>/predict`. */
    endpoint: Type.String(),
    /** Good for this deployment alone, and shown this once. */
    apiKey: Type.String(),
    warnings: Type.Array(Type.String()),
  },
  closed,
);
export type DeployedReply = Static<typeof DeployedReply>;

export const DeploymentReply = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: Status,
    endpoint: Type.String(),
    /** Null unless the deployment failed. */
    error: Nullable(Type.String()),
    visibility: Type.Enum([...VISIBILITIES]),
    createdAt: Instant,
    detail: JobDetail,
  },
  closed,
);
export type DeploymentReply = Static<typeof DeploymentReply>;
