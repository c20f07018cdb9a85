/** `/api/inference/jobs`: deployments of predictors, as the public client makes and reads them (HOSTED-API). */
import { type Static, Type } from "typebox";
import { AGENT_REASONS, KERNEL_REASONS } from "../job/job-reasons.ts";
import { JOB_STATES, MEMBER_STATES } from "../job/job-states.ts";
import { DEPLOYMENT_STATES } from "../inference/deployment-states.ts";
import { VISIBILITIES } from "../inference/visibilities.ts";
import { DEPLOYMENT_APIS } from "../inference/inference-routes.ts";
import { DeploymentFigures } from "../inference/gateway-numbers.ts";
import { IdParam, Instant } from "./http-common.ts";
import { JobListReply } from "./http-jobs.ts";
import { JobDetail } from "./http-tasks.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

/** Where replicas are reached, below the appliance's own address; `/predict` and `/health` follow. */
export const INFERENCE_PATH = "/inference";
/** What a predict key begins with; a platform key begins otherwise. */
export const PREDICT_KEY_PREFIX = "rpk_";
/** Kinds of job that answer calls. The hosted contract knows them as inference jobs, and tasks are all others. */
export const DEPLOYMENT_KINDS: readonly string[] = ["predictor"];

const PoolName = Type.String({
  ...{ minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9._-]+$" },
  description:
    "Id or name of one of GET /api/pools: replicas start there and nowhere else. Not of the hosted API.",
});

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
    pool: Type.Optional(PoolName),
    replaces: Type.Optional({
      ...IdParam,
      description:
        "A deployment whose address and key this one takes over, once as many of its replicas are ready. Not of the hosted API.",
    }),
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
    /** Good for this deployment alone, and shown this once. Null where it takes over another's, which its callers have. */
    apiKey: Nullable(Type.String()),
    warnings: Type.Array(Type.String()),
  },
  closed,
);
export type DeployedReply = Static<typeof DeployedReply>;

export const DeploymentReply = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    projectId: Type.String(),
    status: Status,
    endpoint: Type.String(),
    /** Null unless the deployment failed. */
    error: Nullable(Type.String()),
    visibility: Type.Enum([...VISIBILITIES]),
    /** How it is called: below its endpoint `/predict`, `/v1`, or paths of a program's own. */
    api: Type.Enum([...DEPLOYMENT_APIS]),
    /** What its model does with a text; null for what is not called by `/v1`. */
    task: Nullable(Type.Enum(["generate", "embed"])),
    warnings: Type.Array(Type.String()),
    /** What was found where `model.path` points; null where it names no weights. */
    weights: Nullable(
      Type.Object(
        {
          /** As `inference.yaml` has it. */
          named: Type.String(),
          /** Of the object; null of a model of the hub, which its commit names. */
          versionId: Nullable(Type.String()),
          commit: Nullable(Type.String()),
          sizeBytes: Type.Integer(),
          /** Hex; null where only who uploaded it knows. */
          sha256: Nullable(Type.String()),
        },
        closed,
      ),
    ),
    /** Its own state and its replicas; null until it has loaded for the first time. */
    serving: Nullable(
      Type.Object(
        {
          state: Type.Enum([...DEPLOYMENT_STATES]),
          since: Instant,
          /** Replicas that take calls, and those on their way. */
          ready: Type.Integer(),
          starting: Type.Integer(),
          /** Milliseconds that a call would wait for its first byte, as callers waited after the last wakes of that kind. Null while a replica takes calls, and before any wake was seen. */
          wakeMs: Nullable(Type.Integer()),
        },
        closed,
      ),
    ),
    createdAt: Instant,
    startedAt: Nullable(Instant),
    endedAt: Nullable(Instant),
    detail: JobDetail,
    /** Of the attempt that is under way, or was the last. */
    replicas: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          node: Type.String(),
          /** Catalogue id of its device. */
          model: Nullable(Type.String()),
          state: Type.Enum([...MEMBER_STATES]),
          /** Whether calls are led to it. */
          isReady: Type.Boolean(),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type DeploymentReply = Static<typeof DeploymentReply>;

/** What a list shows of a deployment, and no more. */
export const DeploymentRow = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    projectId: Type.String(),
    /** Who deployed it. */
    owner: Type.String(),
    status: Status,
    state: Type.Enum([...JOB_STATES]),
    since: Instant,
    reason: Nullable(Type.Enum([...AGENT_REASONS, ...KERNEL_REASONS])),
    /** Why it waits, in one sentence. */
    waitingFor: Nullable(Type.String()),
    endpoint: Type.String(),
    visibility: Type.Enum([...VISIBILITIES]),
    /** Replicas that calls are led to. */
    ready: Type.Integer({ minimum: 0 }),
    createdAt: Instant,
    startedAt: Nullable(Instant),
    endedAt: Nullable(Instant),
  },
  closed,
);
export type DeploymentRow = Static<typeof DeploymentRow>;

export const DeploymentListReply = Type.Object(
  {
    deployments: Type.Array(DeploymentRow),
    /** `before` of the next page; null on the last. */
    next: Nullable(Type.Integer()),
    totals: JobListReply.properties.totals,
  },
  closed,
);
export type DeploymentListReply = Pick<JobListReply, "next" | "totals"> & {
  deployments: DeploymentRow[];
};

export const RotatedPredictKeyReply = Type.Object(
  {
    jobId: Type.String(),
    endpoint: Type.String(),
    /** In place of the one before it, and shown this once. */
    apiKey: Type.String(),
  },
  closed,
);
export type RotatedPredictKeyReply = Static<typeof RotatedPredictKeyReply>;

/** How a deployment does now. */
export const DeploymentMetrics = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    projectId: Type.String(),
    status: Status,
    serving: DeploymentReply.properties.serving,
    /** Of its replicas' devices, those that somebody measures. */
    devices: Type.Array(
      Type.Object(
        {
          replica: Type.String(),
          worker: Type.String(),
          /** 0 to 100; null where the device's tool does not say. */
          usePercent: Nullable(Type.Number()),
          memoryBytes: Type.Number(),
        },
        closed,
      ),
    ),
    figures: DeploymentFigures,
  },
  closed,
);
export type DeploymentMetrics = Static<typeof DeploymentMetrics>;

export const DeploymentMetricsList = Type.Object(
  { deployments: Type.Array(DeploymentMetrics) },
  closed,
);
export type DeploymentMetricsList = Static<typeof DeploymentMetricsList>;

const Day = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "YYYY-MM-DD, in UTC" });
export const UsageQuery = Type.Object(
  {
    /** The first day and the last one, both with it. */
    from: Type.Optional(Day),
    to: Type.Optional(Day),
    project: Type.Optional(IdParam),
    deployment: Type.Optional(IdParam),
  },
  closed,
);
export type UsageQuery = Static<typeof UsageQuery>;

/** Calls that began on one day, in UTC, by one key. */
export const UsageEntry = Type.Object(
  {
    day: Type.String(),
    deployment: Type.String(),
    /** Null where the job is gone. */
    name: Nullable(Type.String()),
    projectId: Type.String(),
    /** Of a platform key; null: the deployment's own. */
    keyId: Nullable(Type.String()),
    calls: Type.Integer(),
    failed: Type.Integer(),
    /** Of them, those whose tokens are a lower bound: the engine did not come to tell. */
    inexact: Type.Integer(),
    promptTokens: Type.Integer(),
    completionTokens: Type.Integer(),
  },
  closed,
);
export type UsageEntry = Static<typeof UsageEntry>;

export const UsageReply = Type.Object(
  {
    /** The newest day first. */
    usage: Type.Array(UsageEntry),
    /** There is more: ask for fewer days. */
    isCut: Type.Boolean(),
  },
  closed,
);
export type UsageReply = Static<typeof UsageReply>;
