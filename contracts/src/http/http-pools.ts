/** `/api/pools` and `/api/calendar`: whose nodes are, by which rules, and when they are for somebody alone, or for nobody. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";
import { IdParam, Instant } from "./http-common.ts";
import { JOB_CLASSES } from "./http-queue.ts";

/** What changes stands in one entry of the log. */
export const MOST_NODES_AT_ONCE = 16;
const Nodes = Type.Array(IdParam, { minItems: 1, maxItems: MOST_NODES_AT_ONCE, uniqueItems: true });
const PoolName = Type.String({
  pattern: "^[a-z0-9][a-z0-9-]{0,40}$",
  description: "By which jobs name it; it stays",
});
/** Shared: everybody's. Managed: one project's, and idle nodes may be lent. Private: one project's alone. */
const Kind = Type.Enum(["shared", "managed", "private"]);

const rules = {
  /** Of a managed pool: others may use what is idle, and make way once its project asks. */
  lends: Type.Optional(Type.Boolean()),
  /** Jobs that state more, or no time limit, don't start there. */
  mostRunMinutes: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 525_600 }))),
  /** Other classes of jobs don't start there. */
  classes: Type.Optional(
    Nullable(
      Type.Array(Type.Enum([...JOB_CLASSES]), {
        ...{ minItems: 1, maxItems: JOB_CLASSES.length, uniqueItems: true },
      }),
    ),
  ),
  /** The most workers that one project may hold there at a time. A job starts there if all its workers are within it. */
  projectWorkers: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
  /** Models, or parts of devices as `h100-mig-1g.10gb`, that its workers are to be. A node that shows others is named; nobody is kept out. */
  workerModels: Type.Optional(
    Nullable(
      Type.Array(Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,63}$" }), {
        ...{ minItems: 1, maxItems: 8, uniqueItems: true },
      }),
    ),
  ),
  /** The most that each of its nodes keeps of inputs between jobs of its project; of no shared pool. */
  cacheBytes: Type.Optional(Nullable(Type.Integer({ minimum: 1024 ** 2, maximum: 1024 ** 5 }))),
};

export const PoolBody = Type.Object(
  {
    name: PoolName,
    kind: Kind,
    /** Of a managed or private pool, and of no other. */
    project: Type.Optional(IdParam),
    ...rules,
    nodes: Type.Optional(Nodes),
  },
  closed,
);
export type PoolBody = Static<typeof PoolBody>;

/** What is left out stays. */
export const poolChange = {
  ...rules,
  addNodes: Type.Optional(Nodes),
  removeNodes: Type.Optional(Nodes),
};
export const PoolChangeBody = Type.Object(poolChange, closed);
export type PoolChangeBody = Static<typeof PoolChangeBody>;

const SeenProject = Nullable(Type.Object({ id: Type.String(), name: Type.String() }, closed));

export const PoolReply = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    kind: Kind,
    /** Null of a shared pool. */
    project: SeenProject,
    lends: Type.Boolean(),
    mostRunMinutes: Nullable(Type.Integer()),
    classes: Nullable(Type.Array(Type.String())),
    projectWorkers: Nullable(Type.Integer()),
    workerModels: Nullable(Type.Array(Type.String())),
    cacheBytes: Nullable(Type.Integer()),
    /** What its nodes keep of inputs now, as far as they told; for whoever sees all pools or is of its project. */
    kept: Type.Array(
      Type.Object({ node: Type.String(), bytes: Type.Integer({ minimum: 0 }) }, closed),
    ),
    /** Its nodes that show other workers than it expects; with nothing shown: none of those. */
    unlike: Type.Array(
      Type.Object({ node: Type.String(), shows: Type.Array(Type.String()) }, closed),
    ),
    /** Guarantees that pools make impossible, in words, for whoever sees all pools. */
    warnings: Type.Array(Type.String()),
    nodes: Type.Array(Type.String()),
    /** Workers of its nodes, by model. */
    workers: Type.Array(
      Type.Object({ model: Type.String(), workers: Type.Integer(), free: Type.Integer() }, closed),
    ),
  },
  closed,
);
export type PoolReply = Static<typeof PoolReply>;
/** Shared pools, and those of the caller's projects; administrators, officers and auditors see all. */
export const PoolsReply = Type.Object({ pools: Type.Array(PoolReply) }, closed);
export type PoolsReply = Static<typeof PoolsReply>;

const Reason = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
});
/** Of a pool, or of some nodes. With a project: theirs is reserved for it; without: nothing starts there, as in maintenance. */
export const CalendarBody = Type.Object(
  {
    pool: Type.Optional(IdParam),
    nodes: Type.Optional(Nodes),
    project: Type.Optional(IdParam),
    from: Instant,
    until: Instant,
    reason: Type.Optional(Reason),
  },
  closed,
);
export type CalendarBody = Static<typeof CalendarBody>;
/** What is left out stays. */
export const calendarChange = {
  from: Type.Optional(Instant),
  until: Type.Optional(Instant),
  reason: Type.Optional(Reason),
};
export const CalendarChangeBody = Type.Object(calendarChange, closed);
export type CalendarChangeBody = Static<typeof CalendarChangeBody>;

export const CalendarEntryReply = Type.Object(
  {
    id: Type.String(),
    kind: Type.Enum(["maintenance", "reservation"]),
    /** The pool that it is of, for whoever sees that pool. */
    pool: Nullable(Type.Object({ id: Type.String(), name: Type.String() }, closed)),
    nodes: Type.Array(Type.String()),
    /** Null of maintenance, and of a project that the caller does not see. */
    project: SeenProject,
    from: Instant,
    until: Instant,
    /** Null also for whoever does not see the project. */
    reason: Nullable(Type.String()),
    /** Jobs that run there and may run into it; null for whoever does not see all. */
    affected: Nullable(Type.Integer({ minimum: 0 })),
  },
  closed,
);
export type CalendarEntryReply = Static<typeof CalendarEntryReply>;
/** What is over is not listed; by their beginnings. */
export const CalendarReply = Type.Object({ entries: Type.Array(CalendarEntryReply) }, closed);
export type CalendarReply = Static<typeof CalendarReply>;

export const EndedReply = Type.Object({ id: Type.String() }, closed);
