/** Plans of the scheduler that were recorded, and how they come out when they are made again. They name nobody but by ids. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { Instant } from "../http/http-common.ts";
import { Nullable } from "../nullable.ts";
import { operatorRoute } from "./operator-route.ts";

const Ids = Type.Array(Type.String());
/** Or how the id begins. */
const BegunJob = Type.String({ minLength: 1, maxLength: 128, pattern: "^[A-Za-z0-9_-]+$" });

export const DecidedPlan = Type.Object(
  {
    placements: Type.Array(
      Type.Object(
        {
          ...{ job: Type.String(), isFurther: Type.Boolean(), home: Type.String() },
          workers: Ids,
        },
        closed,
      ),
    ),
    replacements: Type.Array(
      Type.Object({ job: Type.String(), member: Type.String(), workers: Ids }, closed),
    ),
    preemptions: Type.Array(
      Type.Object(
        {
          ...{ job: Type.String(), reason: Type.String(), workers: Ids },
          victims: Type.Array(
            Type.Object(
              {
                ...{ job: Type.String(), attempt: Type.String() },
                isAsleep: Type.Optional(Type.Literal(true)),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
    /** Jobs that the next workers which serve them are reserved for. */
    reserved: Ids,
  },
  closed,
);
export const PlanFacts = Type.Object(
  {
    plan: Type.Integer(),
    at: Instant,
    /** That made it. */
    release: Type.String(),
    /** SHA-256 of what it was made from. */
    input: Type.String(),
    decisions: DecidedPlan,
    /** Plans before it that were not recorded. */
    missed: Type.Integer(),
    /** It can't be made again: its record, or one before it in its file, holds other bytes than were written. */
    isDamaged: Type.Boolean(),
  },
  closed,
);
export type PlanFacts = Static<typeof PlanFacts>;

const OfPlan = Type.Object({ plan: Type.Integer({ minimum: 1 }) }, closed);

export const SCHEDULER_ROUTES = {
  /** The newest first. */
  "plan-list": operatorRoute({
    ...{ method: "GET", path: "/api/operator/scheduler/plans" },
    query: Type.Object(
      {
        limit: Type.Integer({ minimum: 1, maximum: 1_000 }),
        /** Those that decided about it alone. */
        job: Type.Optional(BegunJob),
      },
      closed,
    ),
    answer: Type.Object(
      {
        /** Whether plans are recorded now, or why not. */
        recording: Type.Enum(["ok", "full", "failing"]),
        plans: Type.Array(PlanFacts),
        /** What can't be read: where a file was cut or changed, or goes on as a newer release wrote it, and the last plan before. */
        unread: Type.Array(
          Type.Object(
            {
              ...{ file: Type.String(), why: Type.Enum(["cut", "changed", "newer"]) },
              ...{ at: Type.Integer(), bytes: Type.Integer(), after: Nullable(Type.Integer()) },
            },
            closed,
          ),
        ),
      },
      closed,
    ),
  }),
  "plan-replay": operatorRoute({
    ...{ method: "GET", path: "/api/operator/scheduler/plans/:plan/replay", params: OfPlan },
    query: Type.Object({ job: Type.Optional(BegunJob) }, closed),
    answer: Type.Object(
      {
        plan: PlanFacts,
        /** That made it again. */
        replayedBy: Type.String(),
        /** Byte by byte. */
        isSame: Type.Boolean(),
        /** What it decides now; null: the same. */
        replayed: Nullable(DecidedPlan),
        /** What the plan says about one job; null: none was named. */
        job: Nullable(Type.Object({ job: Type.String(), told: Type.Array(Type.String()) }, closed)),
      },
      closed,
    ),
  }),
} as const;
