/** `/api/tasks` and `/api/customer/dashboard/*`: training jobs as the public client sends and reads them. */
import { type Static, Type } from "typebox";
import { STRATEGIES } from "../agent/distributed-spec.ts";
import { ImageNeeds } from "../image/image-needs.ts";
import { IdParam, Instant } from "./http-common.ts";
import { JOB_CLASSES } from "./http-queue.ts";
import { AGENT_REASONS, KERNEL_REASONS } from "../job/job-reasons.ts";
import { JOB_STATES, MEMBER_STATES } from "../job/job-states.ts";
import { MAX_WORKERS_EACH } from "../job/most-workers.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

const BucketPath = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "Bucket key with a leading slash",
});
const ModelId = Type.String({ minLength: 1, maxLength: 64 });

/** How a job must have ended before one that is to start after it. */
export const AFTER_WHENS = ["succeeded", "ended"] as const;
export type AfterWhen = (typeof AFTER_WHENS)[number];
/** Classes that a job may ask for; `system` by administrators alone. Nobody asks for the others: deployments and pools have them. */
export const ASKED_CLASSES = ["interactive", "train", "scavenger", "system"] as const;
export type AskedClass = (typeof ASKED_CLASSES)[number];
const Class = Type.Enum([...ASKED_CLASSES], {
  description:
    "By which it comes before other jobs of its project, and is asked late to make way; that of its kind, if absent",
});
const Preemptible = Type.Boolean({
  description:
    "False: it starts only within a guarantee of its project, and makes way for nobody while it is within it",
});

const After = Type.Array(Type.Object({ job: IdParam, when: Type.Enum([...AFTER_WHENS]) }, closed), {
  ...{ minItems: 1, maxItems: 16 },
  description: "Older jobs of the project: the job is held until each has ended so",
});

const Pool = Type.String({
  ...{ minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9._-]+$" },
  description: "Id or name of one of GET /api/pools: the job starts there and nowhere else",
});

/** What every kind of task may say: what it is called, where it may run, how long. */
const ofEveryKind = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  estimatedMemoryMb: Type.Optional(Type.Integer({ minimum: 1, maximum: 16_777_216 })),
  workerIds: Type.Optional(Type.Array(IdParam, { maxItems: 1024 })),
  autoSelectWorkers: Type.Optional(Type.Boolean()),
  gpuModels: Type.Optional(
    Type.Array(ModelId, { maxItems: 64, description: "Ordered preference of catalogue ids" }),
  ),
  maxPricePerGpuHourCents: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000_000 })),
  onlyMineWorkers: Type.Optional(Type.Boolean()),
  workersPerMember: Type.Optional(
    Type.Integer({
      ...{ minimum: 1, maximum: MAX_WORKERS_EACH },
      description:
        "So many workers of one model on one node for each member: its container gets all of them. Absent: one",
    }),
  ),
  cpusPerMember: Type.Optional(
    Type.Integer({
      ...{ minimum: 1, maximum: 4_096 },
      description: "Processors of its node for each member. Absent: its workers' part of the node",
    }),
  ),
  hostMemoryMbPerMember: Type.Optional(
    Type.Integer({
      ...{ minimum: 256, maximum: 16_777_216 },
      description: "Memory of its node for each member. Absent: its workers' part of the node",
    }),
  ),
  timeLimitMinutes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 525_600,
      description: "The job ends as EXPIRED once it ran so long, over all its attempts",
    }),
  ),
  after: Type.Optional(After),
  pool: Type.Optional(Pool),
  class: Type.Optional(Class),
  preemptible: Type.Optional(Preemptible),
};

/** NVFlare federated training, as the public client submits it. */
export const SubmitFederationBody = Type.Object(
  {
    kind: Type.Optional(Type.Literal("federation")),
    ...ofEveryKind,
    shardsDirPath: BucketPath,
    trainingScriptsFolderPath: BucketPath,
    trainingConfigFolderPath: BucketPath,
    trainingRequirementsFolderPath: BucketPath,
    modelFolderPath: Type.Optional(BucketPath),
  },
  closed,
);
export type SubmitFederationBody = Static<typeof SubmitFederationBody>;

/** No process can be given a NUL. */
const ArgumentText = Type.String({ maxLength: 4096, pattern: "^[^\\u0000]*$" });

const ScriptPath = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1024, description });
/** What every kind of task that runs a script may say of it. */
const ofScripts = {
  arguments: Type.Optional(Type.Array(ArgumentText, { maxItems: 64 })),
  environment: Type.Optional(
    Type.Record(Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,63}$" }), ArgumentText, {
      maxProperties: 64,
      additionalProperties: false,
    }),
  ),
  inputFolders: Type.Optional(
    Type.Array(BucketPath, {
      maxItems: 16,
      description: "Each arrives as /app/payload/<last part of its path>",
    }),
  ),
  imageProfile: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: "One of GET /api/images" }),
  ),
};

/** One script on one worker, without a way out: data preparation and the like. */
export const SubmitCommandBody = Type.Object(
  {
    kind: Type.Literal("command"),
    ...ofEveryKind,
    scriptPath: ScriptPath("Bucket key with a leading slash; ends in .py or .sh"),
    ...ofScripts,
  },
  closed,
);
export type SubmitCommandBody = Static<typeof SubmitCommandBody>;

/** One script as several ranks, which torchrun starts on one node or on several. */
export const SubmitDistributedBody = Type.Object(
  {
    kind: Type.Literal("distributed"),
    ...ofEveryKind,
    scriptPath: ScriptPath("Bucket key with a leading slash; ends in .py"),
    ...ofScripts,
    workers: Type.Integer({
      ...{ minimum: 1, maximum: MAX_WORKERS_EACH },
      description: "So many ranks, each on a worker of its own",
    }),
    strategy: Type.Optional(
      Type.Enum([...STRATEGIES], { description: "How the script shares the work; ddp, if absent" }),
    ),
  },
  closed,
);
export type SubmitDistributedBody = Static<typeof SubmitDistributedBody>;

/** By `kind`; what says none is a federation. Only the schema of its kind judges a body, so that errors name its fields. */
export type SubmitTaskBody = SubmitFederationBody | SubmitCommandBody | SubmitDistributedBody;
export const SubmitTaskBody = Type.Unsafe<SubmitTaskBody>({
  type: "object",
  allOf: [
    { properties: { kind: { type: "string", enum: ["federation", "command", "distributed"] } } },
    {
      if: { properties: { kind: { const: "command" } }, required: ["kind"] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, of an object that nobody awaits
      then: SubmitCommandBody,
      else: {
        if: { properties: { kind: { const: "distributed" } }, required: ["kind"] },
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, of an object that nobody awaits
        then: SubmitDistributedBody,
        else: SubmitFederationBody,
      },
    },
  ],
});

/** An object of the bucket that becomes a file of the task. */
const storedFile = {
  key: Type.String({ minLength: 1, maxLength: 1024, description: "Where it lies" }),
  versionId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: "The newest, if absent" }),
  ),
};
const InputKey = Type.String({
  ...{ minLength: 1, maxLength: 1024 },
  description: "Key of what the earlier task read",
});
const MAX_CHANGED = 1_000;

/** A task like an earlier one: what is left out stays as it was. */
export const TaskVariantBody = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: 200 },
        description: "With another name the outputs go to a folder of their own",
      }),
    ),
    gpuModels: Type.Optional(
      Nullable(Type.Array(ModelId, { maxItems: 64, description: "Null: any" })),
    ),
    maxPricePerGpuHourCents: Type.Optional(
      Nullable(Type.Integer({ minimum: 0, maximum: 100_000_000, description: "Null: any" })),
    ),
    estimatedMemoryMb: Type.Optional(
      Nullable(Type.Integer({ minimum: 1, maximum: 16_777_216, description: "Null: not said" })),
    ),
    timeLimitMinutes: Type.Optional(
      Nullable(Type.Integer({ minimum: 1, maximum: 525_600, description: "Null: none" })),
    ),
    arguments: Type.Optional(Type.Array(ArgumentText, { maxItems: 64 })),
    environment: Type.Optional(SubmitCommandBody.properties.environment),
    after: Type.Optional(After),
    pool: Type.Optional(Nullable(Pool)),
    class: Type.Optional(Nullable(Class)),
    preemptible: Type.Optional(Nullable(Preemptible)),
    files: Type.Optional(
      Type.Array(Type.Object({ input: InputKey, ...storedFile }, closed), {
        ...{ maxItems: MAX_CHANGED },
        description: "Files in place of those that the earlier task read",
      }),
    ),
    addedFiles: Type.Optional(
      Type.Array(
        Type.Object(
          {
            path: Type.String({
              ...{ minLength: 1, maxLength: 1024 },
              description: "As in a folder of its own: scripts/help.py, shards/more.zip",
            }),
            ...storedFile,
          },
          closed,
        ),
        { maxItems: MAX_CHANGED, description: "Files that the earlier task did not have" },
      ),
    ),
    removedFiles: Type.Optional(
      Type.Array(InputKey, {
        ...{ maxItems: MAX_CHANGED },
        description: "Files that the earlier task read, and this one does not",
      }),
    ),
  },
  closed,
);
export type TaskVariantBody = Static<typeof TaskVariantBody>;

/** The only words that the client knows; the exact state is in `detail`. */
const WireStatus = Type.Enum(["QUEUED", "RUNNING", "FINISHED", "FAILED"]);

const Reason = Type.Enum([...AGENT_REASONS, ...KERNEL_REASONS]);

export const JobDetail = Type.Object(
  {
    /** Of the workload, as its submission named it. */
    kind: Type.String(),
    state: Type.Enum([...JOB_STATES]),
    since: Instant,
    /** When the state ends by itself, and not well. */
    deadline: Nullable(Instant),
    desired: Type.Enum(["run", "stop"]),
    /** By which it stands among the jobs of its project. */
    jobClass: Type.Enum([...JOB_CLASSES]),
    /** False: it makes way for nobody while it is within a guarantee of its project. */
    isPreemptible: Type.Boolean(),
    /** Name of the person who cancelled it, from the moment that it was asked to stop. */
    stoppedBy: Nullable(Type.String()),
    reason: Nullable(Reason),
    waitingFor: Nullable(Type.String()),
    attempt: Type.Integer(),
    rounds: Type.Object(
      {
        /** The one that runs or ran last, as the workflow numbers it. */
        current: Nullable(Type.Integer()),
        total: Nullable(Type.Integer()),
        /** How many have ended. */
        done: Type.Integer(),
      },
      closed,
    ),
    /** What stays of a training among the outputs, however it ended; null while it goes on, and where nothing came of it. */
    model: Nullable(
      Type.Object(
        {
          /** Bucket key. */
          key: Type.String(),
          /** Whose it is; null where the workflow names none. */
          round: Nullable(Type.Integer()),
          /** False: the last that was committed before an end without success. */
          isFinal: Type.Boolean(),
          /** False: a weight is no number. Null where nobody could look. */
          isFinite: Nullable(Type.Boolean()),
        },
        closed,
      ),
    ),
    resumable: Type.Boolean(),
    error: Nullable(
      Type.Object(
        {
          code: Reason,
          message: Type.String(),
          hint: Type.String(),
          /** Last lines of the traceback. */
          detail: Nullable(Type.String()),
          member: Nullable(Type.String()),
        },
        closed,
      ),
    ),
  },
  closed,
);

const common = {
  /** One line; more is in `detail.error`. */
  error: Nullable(Type.String()),
  detail: JobDetail,
  warnings: Type.Array(Type.String()),
  /** Bucket key of the folder that holds `model_out/` and `files_out/`. */
  outputPath: Type.String(),
  createdAt: Instant,
  startedAt: Nullable(Instant),
  endedAt: Nullable(Instant),
};

export const TaskReply = Type.Object(
  { id: Type.String(), name: Type.String(), status: WireStatus, ...common },
  closed,
);
/** What a task left, newest version of each key; a user's own S3 key reads one by its `versionId`. */
export const TaskOutputsReply = Type.Array(
  Type.Object(
    {
      /** Bucket key. */
      key: Type.String(),
      versionId: Type.String(),
      sizeBytes: Type.Integer(),
      sha256: Type.String(),
      storedAt: Instant,
    },
    closed,
  ),
);

export type TaskOutputsReply = Static<typeof TaskOutputsReply>;

export const RemovedOutputsReply = Type.Object({ removed: Type.Integer() }, closed);

export type TaskReply = Static<typeof TaskReply>;

export const DashboardJob = Type.Object(
  { jobId: Type.String(), jobName: Type.String(), state: WireStatus, ...common },
  closed,
);
export type DashboardJob = Static<typeof DashboardJob>;

/** What a viewer sees of a job: nothing that a user wrote into it. */
export const JobStateReply = Type.Object(
  {
    id: Type.String(),
    /** Of the workload: a task's, or a deployment's. */
    kind: Type.String(),
    projectId: Type.String(),
    state: Type.Enum([...JOB_STATES]),
    since: Instant,
    reason: Nullable(Reason),
    attempt: Type.Integer(),
    createdAt: Instant,
    startedAt: Nullable(Instant),
    endedAt: Nullable(Instant),
  },
  closed,
);
export type JobStateReply = Static<typeof JobStateReply>;

export const DashboardJobWithWorkers = Type.Object(
  {
    jobId: Type.String(),
    jobName: Type.String(),
    state: WireStatus,
    ...common,
    /** For whom it made way, from then until it has workers again; null for a job that did not. */
    madeWay: Nullable(
      Type.Object(
        {
          at: Instant,
          /** Whose job has its workers; null where the caller may not know. */
          project: Nullable(Type.Object({ id: Type.String(), name: Type.String() }, closed)),
          /** It goes on after this one; null where it begins anew. */
          afterRound: Nullable(Type.Integer()),
          /** When it is expected to have workers again; null where nobody knows, and while it still holds some. */
          expectedStart: Nullable(Instant),
        },
        closed,
      ),
    ),
    workers: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          role: Type.String({
            description: "A name of the workload's, `server` or `client` of a federation",
          }),
          site: Nullable(Type.String()),
          node: Type.String(),
          /** The first that it holds. */
          workerId: Nullable(Type.String()),
          /** All that it holds, or held; none of one that holds no device. */
          workerIds: Type.Array(Type.String()),
          model: Nullable(Type.String()),
          state: Type.Enum([...MEMBER_STATES]),
          /** Of its container, as a shell tells it; null while it runs, and where nobody said how it ended. */
          exitCode: Nullable(Type.Integer()),
          /** Why it ended, or was told to; null where it simply was done. */
          reason: Nullable(Reason),
          /** The same in words, of whoever knew. */
          message: Nullable(Type.String()),
          /** Bytes of its inputs that its node had kept of earlier jobs; null where the node keeps none for it, or has not told. */
          cachedBytes: Nullable(Type.Integer({ minimum: 0 })),
          progress: Nullable(
            Type.Object(
              {
                step: Type.String(),
                done: Type.Integer(),
                total: Nullable(Type.Integer()),
                at: Instant,
              },
              closed,
            ),
          ),
          heartbeat: Nullable(
            Type.Object(
              {
                at: Instant,
                ageMs: Type.Integer(),
                loopLagMs: Type.Number(),
                diskFreeBytes: Type.Integer(),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type DashboardJobWithWorkers = Static<typeof DashboardJobWithWorkers>;

export const JobPageQuery = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
    offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
  },
  closed,
);

export const WorkerStatsReply = Type.Object(
  {
    onlineCount: Type.Integer(),
    totalFreeMemoryMb: Type.Integer(),
    workers: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          node: Type.String(),
          model: Type.String(),
          free_memory_mb: Type.Integer(),
          total_memory_mb: Type.Integer(),
          price: Type.Integer({ description: "Cents an hour" }),
          status: Type.Enum(["free", "busy", "unavailable"]),
        },
        closed,
      ),
    ),
  },
  closed,
);

export type WorkerStatsReply = Static<typeof WorkerStatsReply>;

export const NvflareJobsQuery = Type.Object(
  { job_id: IdParam, detailed: Type.Optional(Type.String({ maxLength: 8 })) },
  closed,
);
export const NvflareJobsReply = Type.Object(
  {
    jobs: Type.Array(
      Type.Object(
        {
          job_id: Type.String(),
          status: Type.String(),
          attempt: Type.Integer(),
          started_at: Instant,
          ended_at: Nullable(Instant),
        },
        closed,
      ),
    ),
  },
  closed,
);

export const NvflareStatsQuery = Type.Object(
  {
    job_id: IdParam,
    target_job_id: Type.Optional(Type.String({ maxLength: 128 })),
    target_type: Type.Optional(Type.String({ maxLength: 16 })),
  },
  closed,
);
export const NvflareStatsReply = Type.Object(
  { current_round: Nullable(Type.Integer()), num_rounds: Nullable(Type.Integer()) },
  closed,
);

/** Job images of the release, each with what a job finds in it. */
export const ImagesReply = Type.Array(
  Type.Object(
    {
      profile: Type.String(),
      pythonVersion: Type.String(),
      sizeBytes: Type.Integer(),
      /** What it asks of a device; absent for one that runs on processors. */
      needs: Type.Optional(ImageNeeds),
      packages: Type.Array(Type.Object({ name: Type.String(), version: Type.String() }, closed)),
    },
    closed,
  ),
);

export const GpuCatalogReply = Type.Array(
  Type.Object(
    {
      id: Type.String(),
      name: Type.String(),
      kind: Type.Enum(["gpu", "cpu"]),
      memoryMb: Type.Integer(),
      pricePerGpuHourCents: Type.Integer(),
      online: Type.Integer(),
      free: Type.Integer(),
    },
    closed,
  ),
);
export type GpuCatalogReply = Static<typeof GpuCatalogReply>;
