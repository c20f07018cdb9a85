/** What waits for workers, in line, with when each is expected to start. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";
import { IdParam, Instant } from "./http-common.ts";

export const QueueQuery = Type.Object({ project: Type.Optional(IdParam) }, closed);

/** Why there is no time: somebody who holds workers states no end, too many end before, or the job would not fit if all were free. */
export const NO_START_REASONS = ["no-end-stated", "far-off", "never-fits"] as const;

export const QueuedJob = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    projectId: Type.String(),
    owner: Type.String(),
    kind: Type.String(),
    /** From 1, of those that the caller may read; null for one that is held: it is in no line. */
    place: Nullable(Type.Integer({ minimum: 1 })),
    /** Who has the smaller one became ready first. A job that was held for others counts from its release. */
    line: Type.Integer(),
    since: Instant,
    /** Why it waits, in one sentence. */
    waitingFor: Nullable(Type.String()),
    /** By the times that jobs state. Null where {@link NO_START_REASONS} says why. */
    expectedStart: Nullable(Instant),
    noStart: Nullable(Type.Enum([...NO_START_REASONS])),
  },
  closed,
);
export type QueuedJob = Static<typeof QueuedJob>;

export const QueueReply = Type.Object({ jobs: Type.Array(QueuedJob) }, closed);
