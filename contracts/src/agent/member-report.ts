/** `report` and `tail`: what happens to a member, and what it prints. */
import { type Static, Type } from "typebox";
import { Bytes, Id, LogBytes, RoundNumber, Sha256, Text } from "./agent-fields.ts";
import { Fence } from "./fence.ts";
import { closed } from "../closed.ts";

const kind = <K extends string>(value: K) => Type.Literal(value);

/** Of a container that ran, as a shell tells it: 128 and the signal's number for what a signal ended. */
const ExitCode = Type.Integer({ minimum: 0, maximum: 255 });

/** What happened to a member, told by its agent. Spooled on the agent's disk until the coordinator has committed it. */
export const MemberEvent = Type.Union([
  /** Bytes received, layers and files unpacked, or a model that loads (`loading`): progress that renews the deadlines of what is not ready yet. */
  Type.Object(
    { kind: kind("progress"), step: Id, done: Bytes, total: Type.Optional(Bytes) },
    closed,
  ),
  /** Inputs and image are in place. `cachedBytes`: of inputs that the node had kept; absent where it keeps none. */
  Type.Object({ kind: kind("staged"), bytes: Bytes, cachedBytes: Type.Optional(Bytes) }, closed),
  Type.Object({ kind: kind("started"), container: Id }, closed),
  /** Server: listening; client: known to the server. */
  Type.Object({ kind: kind("ready") }, closed),
  /**
   * How a replica stands since it was ready: `stalled`, it gets nothing done and may only be busy; `asleep`, as it was wished. `order`: of the wish that
   * this follows.
   */
  Type.Object(
    {
      kind: kind("standing"),
      standing: Type.Union([Type.Literal("well"), Type.Literal("stalled"), Type.Literal("asleep")]),
      order: Type.Integer({ minimum: 0 }),
    },
    closed,
  ),
  /** Server only: the NVFlare job runs, all sites present. */
  Type.Object({ kind: kind("job-started"), nvflareJob: Id }, closed),
  Type.Object(
    {
      kind: kind("round-started"),
      round: RoundNumber,
      numRounds: Type.Union([RoundNumber, Type.Null()]),
    },
    closed,
  ),
  Type.Object(
    {
      kind: kind("round-ended"),
      round: RoundNumber,
      sites: Type.Array(Id, { maxItems: 4096 }),
      modelSha256: Type.Optional(Sha256),
      /** Of the round's model, where it could be looked at: no weight is NaN or infinite. */
      isFinite: Type.Optional(Type.Boolean()),
    },
    closed,
  ),
  /** Server only: the model of a round and its manifest are stored, by uploads of this very fence; the round is committed. */
  Type.Object({ kind: kind("checkpoint"), round: RoundNumber, model: Id, manifest: Id }, closed),
  /** One `RT_METRIC {json}` line of a site; `value` is that JSON as text, at most 4 KiB. */
  Type.Object({ kind: kind("metric"), site: Id, value: Type.String({ maxLength: 4096 }) }, closed),
  /** People must hear of it though the job goes on. Of each site and topic the newest is kept, with how often it came. */
  Type.Object(
    {
      kind: kind("warning"),
      site: Id,
      topic: Id,
      text: Type.String({ maxLength: 1024 }),
      round: Type.Optional(RoundNumber),
    },
    closed,
  ),
  /** The payload ended well; outputs follow. */
  Type.Object({ kind: kind("finished"), exitCode: Type.Optional(ExitCode) }, closed),
  /** Every output of this member is uploaded; keys are relative to the job's output root. */
  Type.Object(
    { kind: kind("outputs-uploaded"), keys: Type.Array(Type.String({ maxLength: 1024 })) },
    closed,
  ),
  /**
   * The payload or the platform failed; `reason` is a code of the reason table, `detail` the traceback's last lines, `site` whose failure the
   * server tells of.
   */
  Type.Object(
    {
      kind: kind("failed"),
      reason: Id,
      message: Text,
      detail: Type.Optional(Text),
      site: Type.Optional(Id),
      exitCode: Type.Optional(ExitCode),
    },
    closed,
  ),
  /** Proof that nothing is left: container and network gone, file system unmounted, no process, devices at baseline. */
  Type.Object(
    {
      kind: kind("released"),
      processesGone: Type.Boolean(),
      diskGone: Type.Boolean(),
      devicesAtBaseline: Type.Boolean(),
    },
    closed,
  ),
]);
export type MemberEvent = Static<typeof MemberEvent>;

export const MemberReport = Type.Object(
  {
    member: Id,
    fence: Fence,
    /** Counts from 1 for each member and fence; the coordinator drops repeats. */
    seq: Type.Integer({ minimum: 1 }),
    /** The agent's clock, RFC 3339 with milliseconds. */
    at: Type.String({ maxLength: 32 }),
    event: MemberEvent,
  },
  closed,
);
export type MemberReport = Static<typeof MemberReport>;

export const ReportRequest = Type.Object(
  { nodeEpoch: Fence, reports: Type.Array(MemberReport, { maxItems: 256 }) },
  closed,
);
export type ReportRequest = Static<typeof ReportRequest>;
/** Index by index: `accepted` is durable (or a repeat); `stale` will never be taken, the agent drops it and stops that member. */
export const ReportReply = Type.Object(
  {
    results: Type.Array(Type.Union([Type.Literal("accepted"), Type.Literal("stale")]), {
      maxItems: 256,
    }),
  },
  closed,
);
export type ReportReply = Static<typeof ReportReply>;

/**
 * Live tail, published and never answered: bytes `offset` to `offset + bytes` of what the member printed. Without text they are not shown
 * live, for they were more than a job may send in a second.
 */
export const TailMessage = Type.Object(
  {
    ...{ job: Id, member: Id, offset: LogBytes, bytes: LogBytes },
    text: Type.Union([Type.String({ maxLength: 65_536 }), Type.Null()]),
  },
  closed,
);
export type TailMessage = Static<typeof TailMessage>;
