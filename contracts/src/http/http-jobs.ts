/** `/api/jobs`: jobs as a page or a shell shows them. A list carries only what a list shows. */
import { type Static, Type } from "typebox";
import { STRATEGIES } from "../agent/distributed-spec.ts";
import { AGENT_REASONS, KERNEL_REASONS } from "../job/job-reasons.ts";
import { JOB_STATES, MEMBER_STATES } from "../job/job-states.ts";
import { IdParam, Instant } from "./http-common.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";
import { JOB_CLASSES } from "./http-queue.ts";
import { AFTER_WHENS, ASKED_CLASSES } from "./http-tasks.ts";

const State = Type.Enum([...JOB_STATES]);
const Reason = Type.Enum([...AGENT_REASONS, ...KERNEL_REASONS]);
const Count = Type.Integer({ minimum: 0 });

const OrderedJob = Type.Object(
  {
    job: Type.String(),
    name: Type.String(),
    when: Type.Enum([...AFTER_WHENS]),
    state: State,
  },
  closed,
);
/** Of both, those that the caller may read. */
export const JobOrderReply = Type.Object(
  {
    /** What the job is to start after. */
    after: Type.Array(OrderedJob),
    /** What is to start after the job. */
    before: Type.Array(OrderedJob),
  },
  closed,
);
export type JobOrderReply = Static<typeof JobOrderReply>;

export const JobListQuery = Type.Object(
  {
    state: Type.Optional(
      Type.String({
        maxLength: 400,
        description:
          "States with commas between them, or groups: waiting, running, finished, failed, cancelled. One with a leading `-` is left out",
        examples: ["RUNNING,QUEUED", "waiting", "-finished,-failed"],
      }),
    ),
    project: Type.Optional(IdParam),
    text: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: "Part of a name, or of an id" }),
    ),
    before: Type.Optional(
      Type.Integer({ minimum: 0, description: "`next` of the page before this one" }),
    ),
    limit: Type.Integer({ minimum: 1, maximum: 200, default: 100 }),
  },
  closed,
);
export type JobListQuery = Static<typeof JobListQuery>;

export const JobRow = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    projectId: Type.String(),
    /** Who submitted it. */
    owner: Type.String(),
    kind: Type.String(),
    jobClass: Type.Enum([...JOB_CLASSES]),
    state: State,
    since: Instant,
    reason: Nullable(Reason),
    /** Why it waits, in one sentence. */
    waitingFor: Nullable(Type.String()),
    round: Nullable(Count),
    rounds: Nullable(Count),
    /** How many have ended, over all attempts. */
    roundsDone: Count,
    attempt: Count,
    /** Parts of its data, each with a site of its own. */
    sites: Count,
    createdAt: Instant,
    startedAt: Nullable(Instant),
    endedAt: Nullable(Instant),
  },
  closed,
);
export type JobRow = Static<typeof JobRow>;

export const JobListReply = Type.Object(
  {
    jobs: Type.Array(JobRow),
    /** `before` of the next page; null on the last. */
    next: Nullable(Type.Integer()),
    /** Jobs by state that project and text let through, whatever the states asked for. */
    totals: Type.Partial(
      Type.Object(Object.fromEntries(JOB_STATES.map((state) => [state, Count]))),
    ),
  },
  closed,
);
export type JobListReply = Omit<Static<typeof JobListReply>, "totals"> & {
  totals: Partial<Record<(typeof JOB_STATES)[number], number>>;
};

export const JobHistoryReply = Type.Object(
  {
    projectId: Type.String(),
    attempts: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          number: Count,
          /** Greater than 0 where it went on from a checkpoint. */
          startRound: Count,
          createdAt: Instant,
          endedAt: Nullable(Instant),
          endReason: Nullable(Type.String()),
        },
        closed,
      ),
    ),
    rounds: Type.Array(
      Type.Object(
        {
          attempt: Count,
          round: Count,
          startedAt: Nullable(Instant),
          endedAt: Nullable(Instant),
          /** Whose updates were taken. */
          sites: Type.Array(Type.String()),
          hasCheckpoint: Type.Boolean(),
          /** Of its model: false where a weight is NaN or infinite, null where nobody could look. */
          isFinite: Nullable(Type.Boolean()),
        },
        closed,
      ),
    ),
    /** The newest 500, oldest first. */
    events: Type.Array(
      Type.Object(
        {
          /** Rises; the feed's changes name the same number. */
          journal: Count,
          at: Instant,
          attempt: Nullable(Count),
          /** Null for an event of the job itself. */
          member: Nullable(
            Type.Object(
              { id: Type.String(), role: Type.String(), site: Nullable(Type.String()) },
              closed,
            ),
          ),
          from: Nullable(Type.String()),
          to: Type.Union([State, Type.Enum([...MEMBER_STATES])]),
          event: Type.String(),
          reason: Nullable(Type.String()),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type JobHistoryReply = Static<typeof JobHistoryReply>;

/** A curve that a job printed: one name at one site. */
export const JobMetricsReply = Type.Object(
  {
    series: Type.Array(
      Type.Object(
        {
          site: Type.String(),
          name: Type.String(),
          /** What each point stands at: a round or a step that the job named, else seconds from the first point. */
          axis: Type.Enum(["round", "step", "epoch", "seconds"]),
          /** `[at, last, min, max]`, in order. */
          points: Type.Array(
            Type.Tuple([Type.Number(), Type.Number(), Type.Number(), Type.Number()]),
          ),
        },
        closed,
      ),
    ),
    /** From which seconds count; null before the first metric. */
    began: Nullable(Instant),
    /** Of the newest metric that is in it, as the feed numbers them. */
    upTo: Count,
  },
  closed,
);
export type JobMetricsReply = Static<typeof JobMetricsReply>;

export const JobInputsReply = Type.Array(
  Type.Object(
    {
      kind: Type.String(),
      key: Type.String(),
      versionId: Type.String(),
      sizeBytes: Count,
      /** Which site gets it, from 0; null for what all get. */
      shard: Nullable(Count),
    },
    closed,
  ),
);
export type JobInputsReply = Static<typeof JobInputsReply>;

/** What a job was made of, in what a person chose and in what its files hold: enough to compare it with another, and to begin one like it. */
export const JobParametersReply = Type.Object(
  {
    name: Type.String(),
    kind: Type.String(),
    projectId: Type.String(),
    /** Key of the script that a command runs; null for a job that trains. */
    script: Nullable(Type.String()),
    arguments: Type.Array(Type.String()),
    environment: Type.Record(Type.String(), Type.String()),
    /** Catalogue ids in order of preference; null: any. */
    gpuModels: Nullable(Type.Array(Type.String())),
    /** Pinned; null: whichever fit. */
    workerIds: Nullable(Type.Array(Type.String())),
    /** For each member, of one model on one node. */
    workersPerMember: Count,
    /** Of its node, for each member; null: its workers' part. */
    cpusPerMember: Nullable(Count),
    hostMemoryMbPerMember: Nullable(Count),
    /** Of one script as several, each on a worker of its own; null: it is no such job. */
    ranks: Nullable(Count),
    /** How they share the work; null as ranks are. */
    strategy: Nullable(Type.Enum([...STRATEGIES])),
    onlyMineWorkers: Type.Boolean(),
    maxPricePerGpuHourCents: Nullable(Count),
    estimatedMemoryMb: Nullable(Count),
    timeLimitMinutes: Nullable(Count),
    /** As it was asked for; null: that of its kind. */
    class: Nullable(Type.Enum([...ASKED_CLASSES])),
    /** As it was asked for; null: it makes way as others do. */
    preemptible: Nullable(Type.Boolean()),
    /** Name of the pool that it names, its id where the pool is gone; null: none. */
    pool: Nullable(Type.String()),
    /** Profiles of the images that the job's files go with, best first. */
    images: Type.Array(
      Type.Object(
        { profile: Type.String(), /** With its digest. */ reference: Type.String() },
        closed,
      ),
    ),
    rounds: Nullable(Count),
    /** So many sites end a round. */
    minSites: Count,
    /** Same for two jobs whose scripts, configs and requirements hold the same. */
    codeDigest: Type.String(),
    inputs: Type.Array(
      Type.Object(
        {
          kind: Type.String(),
          key: Type.String(),
          versionId: Type.String(),
          sizeBytes: Count,
          /** Where a member finds it; shards of all sites have one path. */
          path: Type.String(),
          /** The store's own digest of the content: the same for the same file, uploaded the same way. */
          etag: Type.String(),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type JobParametersReply = Static<typeof JobParametersReply>;

/** An input or an output of the job, by version: a later job of the same name hides it, and leaves it there. */
export const JobFileBody = Type.Object(
  {
    key: Type.String({ minLength: 1, maxLength: 1024 }),
    versionId: Type.String({ minLength: 1, maxLength: 256 }),
  },
  closed,
);

/** Who printed, and how much of it is stored. */
export const JobLogsReply = Type.Array(
  Type.Object(
    {
      member: Type.String(),
      role: Type.String(),
      site: Nullable(Type.String()),
      attempt: Count,
      state: Type.Enum([...MEMBER_STATES]),
      /** Why it ended, or was told to; null while it runs, and where it simply was done. */
      reason: Nullable(Type.String()),
      /** The same in words, of whoever knew. */
      message: Nullable(Type.String()),
      storedBytes: Count,
    },
    closed,
  ),
);
export type JobLogsReply = Static<typeof JobLogsReply>;

export const JobLogQuery = Type.Object(
  {
    /** Negative: so many bytes before the end. */
    offset: Type.Integer({ default: 0, minimum: -(2 ** 40), maximum: 2 ** 40 }),
    bytes: Type.Integer({ minimum: 1, maximum: 1024 ** 2, default: 256 * 1024 }),
  },
  closed,
);
export const JobLogReply = Type.Object(
  {
    /** Where `text` begins, in bytes of what the member printed. */
    offset: Count,
    /** Where it ends. */
    end: Count,
    storedBytes: Count,
    /** Bytes that are no UTF-8 are replaced; a character is never cut. */
    text: Type.String(),
  },
  closed,
);
export type JobLogReply = Static<typeof JobLogReply>;

export const JobLogSearchQuery = Type.Object(
  {
    text: Type.String({
      ...{ minLength: 1, maxLength: 200, pattern: "^[^\\r\\n]+$" },
      description: "Found as it stands, inside one line",
    }),
    /** Without it letters of any case match. */
    case: Type.Boolean({ default: false }),
    /** Matches before the first one of the answer. */
    skip: Type.Integer({ minimum: 0, maximum: 2 ** 31, default: 0 }),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
    /** Lines around a match, on each side. */
    context: Type.Integer({ minimum: 0, maximum: 5, default: 2 }),
    /** The answer comes with the first matches behind the skipped ones; what follows them is not searched. */
    first: Type.Boolean({ default: false }),
  },
  closed,
);
export type JobLogSearchQuery = Static<typeof JobLogSearchQuery>;
export const JobLogSearchReply = Type.Object(
  {
    matches: Type.Array(
      Type.Object(
        {
          /** From 1, over all members. */
          number: Count,
          member: Type.String(),
          role: Type.String(),
          site: Nullable(Type.String()),
          attempt: Count,
          /** Where the line begins, in bytes of what the member printed. */
          offset: Count,
          /** A long line is cut around the match. */
          line: Type.String(),
          before: Type.Array(Type.String()),
          after: Type.Array(Type.String()),
        },
        closed,
      ),
    ),
    /** Lines that match. */
    total: Count,
    /** False where time ran out, or the first matches were enough: `total` counts what was searched. */
    isComplete: Type.Boolean(),
    searchedBytes: Count,
  },
  closed,
);
export type JobLogSearchReply = Static<typeof JobLogSearchReply>;
/** Of which jobs' ends somebody wants a mail. */
export const JobMailsReply = Type.Object({ all: Type.Boolean(), jobs: Type.Array(Type.String()) });
export type JobMailsReply = Static<typeof JobMailsReply>;
