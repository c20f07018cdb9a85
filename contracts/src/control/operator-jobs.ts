/** Jobs of everybody. Of a job its state alone is told, never its name, paths, logs or values: the operator of the box is no reader of the data. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { IdParam, Instant } from "../http/http-common.ts";
import { Nullable } from "../nullable.ts";
import { operatorRoute } from "./operator-route.ts";

/** Longest reason that the job's owner is told. */
const MAX_REASON = 200;
const Round = Nullable(Type.Integer());
/** Or how the id begins. */
const OfJob = Type.Object({ job: IdParam }, closed);

export const JobFacts = Type.Object(
  {
    job: Type.String(),
    /** Of its workload. */
    kind: Type.String(),
    username: Type.String(),
    state: Type.String(),
    since: Instant,
    createdAt: Instant,
    attempt: Type.Integer(),
    round: Round,
    rounds: Round,
    waitingFor: Nullable(Type.String()),
    /** Code of why it waits, stops or ended. */
    reason: Nullable(Type.String()),
  },
  closed,
);
export type JobFacts = Static<typeof JobFacts>;

export const JobMemberFacts = Type.Object(
  {
    role: Type.String(),
    site: Nullable(Type.String()),
    node: Type.String(),
    /** The first that it holds. */
    worker: Nullable(Type.String()),
    workers: Type.Array(Type.String()),
    state: Type.String(),
  },
  closed,
);
export type JobMemberFacts = Static<typeof JobMemberFacts>;

export const JOB_ROUTES = {
  "job-list": operatorRoute({
    ...{ method: "GET", path: "/api/operator/jobs" },
    query: Type.Object(
      { living: Type.Boolean(), limit: Type.Integer({ minimum: 1, maximum: 500 }) },
      closed,
    ),
    answer: Type.Object({ jobs: Type.Array(JobFacts) }, closed),
  }),
  "job-show": operatorRoute({
    ...{ method: "GET", path: "/api/operator/jobs/:job", params: OfJob },
    answer: Type.Object({ job: JobFacts, members: Type.Array(JobMemberFacts) }, closed),
  }),
  /** The job's owner reads the reason; the audit log does not hold it. */
  "job-cancel": operatorRoute({
    ...{ method: "POST", path: "/api/operator/jobs/:job/cancel", params: OfJob },
    body: Type.Object(
      { reason: Type.String({ minLength: 1, maxLength: MAX_REASON, pattern: "^[^\\p{Cc}]*$" }) },
      closed,
    ),
    answer: Type.Object({ job: Type.String(), state: Type.String() }, closed),
  }),
} as const;
