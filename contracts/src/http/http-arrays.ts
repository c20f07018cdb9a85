/** `/api/arrays`: one task as many jobs, each at a point of its own. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { AGENT_REASONS, KERNEL_REASONS } from "../job/job-reasons.ts";
import { JOB_STATES } from "../job/job-states.ts";
import { Nullable } from "../nullable.ts";
import { Instant } from "./http-common.ts";
import { SubmitTaskBody } from "./http-tasks.ts";

/** As many as Slurm's `MaxArraySize` lets in. */
export const MOST_ARRAY_POINTS = 1_000;
const MOST_PARAMETERS = 16;

const Value = Type.String({ maxLength: 256, pattern: "^[^\\u0000-\\u001f\\u007f]*$" });
const Name = Type.String({ pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}$" });
const Index = Type.Integer({ minimum: 0, maximum: 4_194_303 });

/** One of `indexes` and `grid` is said. */
export const ArrayBody = Type.Object(
  {
    /** As for `POST /api/tasks`, of a kind that runs a script; its name is that of the array. */
    task: SubmitTaskBody,
    indexes: Type.Optional(
      Type.Object(
        { from: Index, to: Index, step: Type.Optional(Type.Integer({ minimum: 1 })) },
        { ...closed, description: "A job for each, both ends among them" },
      ),
    ),
    grid: Type.Optional(
      Type.Array(
        Type.Object(
          { name: Name, values: Type.Array(Value, { minItems: 1, maxItems: MOST_ARRAY_POINTS }) },
          closed,
        ),
        {
          ...{ minItems: 1, maxItems: MOST_PARAMETERS },
          description:
            "A job for each combination; the script gets --<name>=<value> of each parameter, after its own arguments",
        },
      ),
    ),
    atOnce: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: MOST_ARRAY_POINTS },
        description: "So many may be queued or run at once; the others are held. All, if absent",
      }),
    ),
  },
  closed,
);
export type ArrayBody = Static<typeof ArrayBody>;

const JobReasonName = Type.Enum([...AGENT_REASONS, ...KERNEL_REASONS]);

const counts = Type.Object(
  {
    /** Held for room in the array, or queued. */
    waiting: Type.Integer(),
    running: Type.Integer(),
    succeeded: Type.Integer(),
    /** Ended in any other way, or their rows are gone. */
    failed: Type.Integer(),
  },
  closed,
);

const array = {
  id: Type.String(),
  name: Type.String(),
  projectId: Type.String(),
  owner: Type.String(),
  /** Null: all. */
  atOnce: Nullable(Type.Integer()),
  createdAt: Instant,
  points: Type.Integer(),
  counts,
};

export const ArrayListReply = Type.Object(
  { arrays: Type.Array(Type.Object(array, closed)) },
  closed,
);
export type ArrayListReply = Static<typeof ArrayListReply>;

const ArrayPoint = Type.Object(
  {
    index: Type.Integer(),
    /** Of a grid; empty of an array of indexes. */
    parameters: Type.Record(Type.String(), Type.String()),
    /** Null once its row is gone. */
    job: Nullable(
      Type.Object(
        {
          id: Type.String(),
          name: Type.String(),
          state: Type.Enum([...JOB_STATES]),
          /** Why it ended so, or is held; `GET /api/jobs/:id` says it in words. */
          reason: Nullable(JobReasonName),
          /** Bucket key of what it leaves. */
          outputPath: Type.String(),
          startedAt: Nullable(Instant),
          endedAt: Nullable(Instant),
        },
        closed,
      ),
    ),
    /** By name, the last value that the job printed; the mean over its members. */
    metrics: Type.Record(Type.String(), Type.Number()),
  },
  closed,
);
export type ArrayPoint = Static<typeof ArrayPoint>;

export const ArrayReply = Type.Object({ ...array, points: Type.Array(ArrayPoint) }, closed);
export type ArrayReply = Static<typeof ArrayReply>;

/** `stopping`: how many had not ended. */
export const ArrayCancelReply = Type.Object({ stopping: Type.Integer() }, closed);
