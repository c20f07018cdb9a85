/** What waits for workers, in line, with when each is expected to start; who holds the workers; and why one job waits, or is where it is. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";
import { JOB_STATES } from "../job/job-states.ts";
import { SCORE_FACTORS } from "../job/score-words.ts";
import { IdParam, Instant } from "./http-common.ts";

export const QueueQuery = Type.Object({ project: Type.Optional(IdParam) }, closed);

/** Why there is no time: somebody who holds workers states no end, too many end before, or the job would not fit if all were free and within its limits. */
export const NO_START_REASONS = ["no-end-stated", "far-off", "never-fits"] as const;

/** By which gangs of one project come before one another, the first first. */
export const JOB_CLASSES = [
  ...["system", "inference", "interactive", "managed", "train", "scavenger"],
] as const;

/** The first and the last start that is foreseen; `until` null: perhaps later than is looked ahead. Absent where there is no doubt. */
const ExpectedRange = Type.Optional(
  Type.Object({ from: Instant, until: Nullable(Instant) }, closed),
);

export const QueuedJob = Type.Object(
  {
    id: Type.String(),
    /** Null for whoever may read the states of the project's jobs alone. */
    name: Nullable(Type.String()),
    projectId: Type.String(),
    /** Null as the name is. */
    owner: Nullable(Type.String()),
    kind: Type.String(),
    jobClass: Type.Enum([...JOB_CLASSES]),
    /** From 1, of those that the caller may read; null for one that is held: it is in no line. */
    place: Nullable(Type.Integer({ minimum: 1 })),
    /** Who has the smaller one became ready first. A job that was held for others counts from its release. */
    line: Type.Integer(),
    since: Instant,
    /** Why it waits, in one sentence. */
    waitingFor: Nullable(Type.String()),
    /** By the times that jobs state, and by how jobs came and ended lately. Null where {@link NO_START_REASONS} says why. */
    expectedStart: Nullable(Instant),
    expectedRange: ExpectedRange,
    noStart: Nullable(Type.Enum([...NO_START_REASONS])),
  },
  closed,
);
export type QueuedJob = Static<typeof QueuedJob>;

const Workers = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
  description: "Workers by model",
});
/** Null: a project that the caller does not see. */
const SeenProject = Nullable(Type.Object({ id: Type.String(), name: Type.String() }, closed));

export const WorkerHolderReply = Type.Object(
  {
    project: SeenProject,
    /** Null of a class that this release does not know. */
    jobClass: Nullable(Type.Enum([...JOB_CLASSES])),
    workers: Workers,
    since: Instant,
    /** When it ends by itself at the latest; null where it states no time. */
    endsBy: Nullable(Instant),
    /** It was asked to go, and lets go now. */
    isLeaving: Type.Boolean(),
  },
  closed,
);
export type WorkerHolderReply = Static<typeof WorkerHolderReply>;

const StartErrorsReply = Type.Object(
  {
    jobs: Type.Integer({ minimum: 1 }),
    earlierSeconds: Type.Integer({ minimum: 0 }),
    laterSeconds: Type.Integer({ minimum: 0 }),
  },
  closed,
);
export type StartErrorsReply = Static<typeof StartErrorsReply>;

export const QueueReply = Type.Object(
  {
    jobs: Type.Array(QueuedJob),
    /** Who holds workers now, the oldest first. */
    holders: Type.Array(WorkerHolderReply),
    /** How wrong such starts were before: of the newest jobs, eight of ten started no more than so many seconds before or after. Null while too few have started. */
    startErrors: Nullable(StartErrorsReply),
  },
  closed,
);
export type QueueReply = Static<typeof QueueReply>;

/** One model on one node. */
export const PlaceScore = Type.Object(
  {
    node: Type.String(),
    model: Type.String(),
    /** The product of its factors. */
    score: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
    factors: Type.Array(
      Type.Object(
        {
          factor: Type.Enum([...SCORE_FACTORS]),
          /** Null: nobody knows, and it counts 1. */
          value: Nullable(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type PlaceScore = Static<typeof PlaceScore>;

/** How a project stands with the job added; `unset`: nobody is guaranteed anything. */
const GuaranteeStanding = Type.Enum(["unset", "within", "beyond"]);

const Wait = Type.Object(
  {
    /** Workers that it takes, all at once. */
    needs: Type.Integer(),
    /** For each member, of one model on one node. */
    needsEach: Type.Integer(),
    /** All that there are. */
    workers: Type.Integer(),
    /** Would do whenever they are free. */
    serving: Type.Integer(),
    /** Would do now. */
    fitNow: Type.Integer(),
    /** The first filter that excludes each of the others, as an end of "3 …". */
    excluded: Type.Array(Type.Object({ why: Type.String(), workers: Type.Integer() }, closed)),
    /** The first limit on the way up that it would pass. */
    limit: Nullable(
      Type.Object(
        {
          share: Type.String(),
          name: Type.String(),
          model: Type.String(),
          limit: Type.Integer(),
          held: Type.Integer(),
          /** It alone is more than the limit: no wait helps. */
          isAlone: Type.Boolean(),
        },
        closed,
      ),
    ),
    guarantee: GuaranteeStanding,
    /** Jobs that have their turn before it, by project. */
    ahead: Type.Array(Type.Object({ project: SeenProject, jobs: Type.Integer() }, closed)),
    /** Who holds workers that would do. */
    holders: Type.Array(WorkerHolderReply),
    expectedStart: Nullable(Instant),
    expectedRange: ExpectedRange,
    noStart: Nullable(Type.Enum([...NO_START_REASONS])),
    /** How good the places are now that would do whenever they are free, the best first; none where it names its workers. Absent: of an older appliance. */
    scores: Type.Optional(Type.Array(PlaceScore)),
  },
  closed,
);

export const JobPlacementReply = Type.Object(
  {
    id: Type.String(),
    state: Type.Enum([...JOB_STATES]),
    /** In one sentence. */
    waitingFor: Nullable(Type.String()),
    /** Null where it waits for no workers. */
    wait: Nullable(Wait),
    /** Null where it holds none. */
    placed: Nullable(
      Type.Object(
        {
          since: Instant,
          workers: Type.Array(
            Type.Object(
              { worker: Type.String(), node: Type.String(), model: Type.String() },
              closed,
            ),
          ),
          /** Why there, a sentence each. */
          because: Type.Array(Type.String()),
          /** How good each place is now; none where the job names its workers. Absent: of an older appliance. */
          scores: Type.Optional(Type.Array(PlaceScore)),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type JobPlacementReply = Static<typeof JobPlacementReply>;
