/**
 * The change feed: what changed in a job or a node, told in the order in which it was committed.
 *
 * A reader listens to one topic and remembers the position of the last message that it took. After a gap it listens again from that
 * position. It hears everything since, or a `reset`: then it reads the rows once, and what follows is newer than they are or
 * in them already. So every change states what is now, never a difference, and taking one twice does no harm.
 *
 * Sequences rise over all topics together, so that a reader sees holes in them. An epoch lasts from one start of the coordinator to the next.
 */
import { type Static, Type } from "typebox";
import { APPROVAL_STATES } from "./http-approvals.ts";
import { IdParam, Instant } from "./http-common.ts";
import { AGENT_REASONS, KERNEL_REASONS } from "../job/job-reasons.ts";
import { JOB_STATES, MEMBER_STATES } from "../job/job-states.ts";
import { NODE_STATES } from "../agent/node-states.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

const kind = <K extends string>(value: K) => Type.Literal(value);
const Count = Type.Integer({ minimum: 0 });
const Reason = Nullable(Type.Enum([...AGENT_REASONS, ...KERNEL_REASONS]));
const OfJob = { job: IdParam };
const OfMember = { ...OfJob, member: IdParam };
const OfNode = { node: IdParam };
/** A number of the journal, the same that the job's list of events has. */
const Journal = Count;

/** Where a reader is. */
export const FeedPosition = Type.Object({ epoch: IdParam, sequence: Count }, closed);
export type FeedPosition = Static<typeof FeedPosition>;

/** `project`: its jobs; `jobs`: all that there are; `log`: what the members of a job print; `approvals`: requests that a second person answers; `findings`: how the appliance does. */
export const FeedTopic = Type.Union([
  Type.Object({ kind: kind("job"), ...OfJob }, closed),
  Type.Object({ kind: kind("project"), project: IdParam }, closed),
  Type.Object({ kind: kind("jobs") }, closed),
  Type.Object({ kind: kind("nodes") }, closed),
  Type.Object({ kind: kind("log"), ...OfJob }, closed),
  Type.Object({ kind: kind("approvals") }, closed),
  Type.Object({ kind: kind("findings") }, closed),
]);
export type FeedTopic = Static<typeof FeedTopic>;

/** What the platform did with a job: shown to whoever may read states, for nothing in it was written by a user or by the job. */
export const JobStateChange = Type.Union([
  /** A job that leaves QUEUED waits for nothing any more. `attempt` is the living one. */
  Type.Object(
    {
      ...{
        kind: kind("job"),
        ...OfJob,
        attempt: Nullable(IdParam),
        from: Nullable(Type.Enum([...JOB_STATES])),
      },
      ...{ to: Type.Enum([...JOB_STATES]), event: IdParam, reason: Reason, journal: Journal },
      /** The job's kind, of one that is new. */
      workload: Type.Optional(IdParam),
    },
    closed,
  ),
  /** A member was made. Its first `member` change follows. */
  Type.Object(
    {
      ...{
        kind: kind("member-added"),
        ...OfMember,
        attempt: IdParam,
        role: IdParam,
        site: Nullable(IdParam),
        node: IdParam,
      },
      /** Null for one that holds no device. */
      worker: Nullable(IdParam),
      /** All that it holds, the one above first. Absent: of an older appliance. */
      workers: Type.Optional(Type.Array(IdParam)),
      /** The lost member whose place it takes. */
      replaces: Nullable(IdParam),
    },
    closed,
  ),
  Type.Object(
    {
      ...{
        kind: kind("member"),
        ...OfMember,
        attempt: IdParam,
        from: Nullable(Type.Enum([...MEMBER_STATES])),
      },
      ...{ to: Type.Enum([...MEMBER_STATES]), event: IdParam, reason: Reason, journal: Journal },
    },
    closed,
  ),
  /** Of getting ready, told in steps of a twentieth; `total` is null where nobody knows it. */
  Type.Object(
    { kind: kind("progress"), ...OfMember, step: IdParam, done: Count, total: Nullable(Count) },
    closed,
  ),
  /** Why a queued job is not placed yet. */
  Type.Object({ kind: kind("waiting"), ...OfJob, why: Nullable(Type.String()) }, closed),
  /** `total` is null where the workflow names none, and at the end of a round. */
  Type.Object(
    {
      ...{ kind: kind("round"), ...OfJob, attempt: IdParam, round: Count, total: Nullable(Count) },
      phase: Type.Union([kind("started"), kind("ended")]),
      /** At its end: no weight of its model is NaN or infinite. Null where nobody could look. */
      isFinite: Type.Optional(Nullable(Type.Boolean())),
    },
    closed,
  ),
  /** A later attempt can go on from this round. */
  Type.Object({ kind: kind("checkpoint"), ...OfJob, attempt: IdParam, round: Count }, closed),
]);
export type JobStateChange = Static<typeof JobStateChange>;

/** What a job or a person wrote: for whoever may read the job itself. Texts are as they came, and may be hostile. */
export const JobContentChange = Type.Union([
  /** `value` is the JSON that the job printed; `number` rises with each metric of a job, and names it. */
  Type.Object(
    {
      ...{
        kind: kind("metric"),
        ...OfJob,
        attempt: IdParam,
        site: IdParam,
        value: Type.String({ maxLength: 4096 }),
      },
      number: Count,
    },
    closed,
  ),
  /** What the device of a member does; what its tool does not say is null. `number` rises with each reading of a job. */
  Type.Object(
    {
      ...{ kind: kind("device-use"), ...OfMember, site: IdParam, worker: IdParam, number: Count },
      usePercent: Nullable(Type.Number({ minimum: 0, maximum: 100 })),
      memoryBytes: Count,
      watts: Nullable(Type.Number({ minimum: 0 })),
    },
    closed,
  ),
  /** The newest of its site and topic, and how often it came; `text` is null when it is no longer so. */
  Type.Object(
    {
      ...{
        kind: kind("warning"),
        ...OfJob,
        site: IdParam,
        topic: IdParam,
        text: Nullable(Type.String({ maxLength: 1024 })),
      },
      times: Count,
    },
    closed,
  ),
  /** The job left a new version at this key below its folder. */
  Type.Object(
    { kind: kind("output"), ...OfMember, key: Type.String({ maxLength: 1024 }), sizeBytes: Count },
    closed,
  ),
  Type.Object({ kind: kind("outputs-removed"), ...OfJob, count: Count }, closed),
  /** The operator's words to the owner of a job that he stopped. */
  Type.Object({ kind: kind("explained"), ...OfJob, message: Type.String() }, closed),
]);
export type JobContentChange = Static<typeof JobContentChange>;

/** Bytes `offset` to `offset + bytes` of what a member printed; without text they are not shown live, and stand in the stored log alone. */
export const LogChange = Type.Object(
  {
    ...{ kind: kind("log"), ...OfMember, offset: Count, bytes: Count },
    text: Nullable(Type.String({ maxLength: 65_536 })),
  },
  closed,
);
export type LogChange = Static<typeof LogChange>;

export const NodeChange = Type.Union([
  Type.Object(
    {
      ...{
        kind: kind("node"),
        ...OfNode,
        from: Type.Enum([...NODE_STATES]),
        to: Type.Enum([...NODE_STATES]),
      },
    },
    closed,
  ),
  /** For the first time or again: it is no longer cordoned, and none of its workers is quarantined. */
  Type.Object({ kind: kind("node-joined"), ...OfNode, state: Type.Enum([...NODE_STATES]) }, closed),
  /** Its agent has started: a new epoch and maybe other workers. */
  Type.Object(
    {
      kind: kind("node-registered"),
      ...OfNode,
      agentVersion: Type.String({ maxLength: 64 }),
      workers: Count,
    },
    closed,
  ),
  /** Why it takes no new work; null when it does again. */
  Type.Object({ kind: kind("node-cordon"), ...OfNode, reason: Nullable(Type.String()) }, closed),
  /** The first beat after a silence, and one that differs from the last that was told by more than noise. */
  Type.Object(
    {
      kind: kind("node-beat"),
      ...OfNode,
      loopLagMs: Count,
      diskFreeBytes: Count,
      hasDisk: Type.Boolean(),
    },
    closed,
  ),
  Type.Object(
    { kind: kind("worker-quarantined"), ...OfNode, worker: IdParam, reason: IdParam },
    closed,
  ),
]);
export type NodeChange = Static<typeof NodeChange>;

/** A request was made, signed or answered. */
export const ApprovalChange = Type.Object(
  { kind: kind("approval"), approval: IdParam, state: Type.Enum([...APPROVAL_STATES]) },
  closed,
);
export type ApprovalChange = Static<typeof ApprovalChange>;

/** How the appliance does is otherwise than before: `digest` is of all that it says. */
export const FindingsChange = Type.Object(
  { kind: kind("findings"), digest: Type.String({ maxLength: 64 }) },
  closed,
);
export type FindingsChange = Static<typeof FindingsChange>;

export const Change = Type.Union([
  ...JobStateChange.anyOf,
  ...JobContentChange.anyOf,
  LogChange,
  ...NodeChange.anyOf,
  ApprovalChange,
  FindingsChange,
]);
export type Change = Static<typeof Change>;

/** What a reader gets. */
export const FeedMessage = Type.Union([
  Type.Object({ kind: kind("change"), sequence: Count, at: Instant, change: Change }, closed),
  /**
   * Something was not told: read the rows, then go on. What follows comes after `sequence`. `missed` counts the changes that a slow reader
   * was not told; it is null where nobody counted.
   */
  Type.Object(
    { kind: kind("reset"), epoch: IdParam, sequence: Count, missed: Nullable(Count) },
    closed,
  ),
]);
export type FeedMessage = Static<typeof FeedMessage>;
