/** `/api/nodes`, `/api/appliance`: what a platform administrator sees of the box. Of jobs their states alone. */
import { type Static, Type } from "typebox";
import { DeviceUse } from "../agent/agent-protocol.ts";
import { NODE_STATES } from "../agent/node-states.ts";
import { MEMBER_STATES } from "../job/job-states.ts";
import { IdParam, Instant } from "./http-common.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

const Count = Type.Integer({ minimum: 0 });

export const NodeReply = Type.Object(
  {
    node: Type.String(),
    state: Type.Enum([...NODE_STATES]),
    workers: Count,
    /** Workers that a member of a job holds. */
    busy: Count,
    /** Why somebody keeps it out of new work; null when nobody does. A node that is silent, or whose disk is full, takes none either. */
    drained: Nullable(Type.String()),
    /** Since its last beat; null when it was not heard since the coordinator started. */
    silentS: Nullable(Count),
    freeBytes: Nullable(Count),
  },
  closed,
);
export type NodeReply = Static<typeof NodeReply>;

const { worker: _worker, ...use } = DeviceUse.properties;
export const NodeDetailReply = Type.Object(
  {
    node: NodeReply,
    members: Type.Array(
      Type.Object(
        {
          job: Type.String(),
          role: Type.String(),
          site: Nullable(Type.String()),
          worker: Nullable(Type.String()),
          state: Type.Enum([...MEMBER_STATES]),
        },
        closed,
      ),
    ),
    workers: Type.Array(
      Type.Object(
        {
          worker: Type.String(),
          model: Type.String(),
          memoryBytes: Count,
          /** Why nothing is placed on it; null when something is. */
          unfit: Nullable(Type.String()),
          architecture: Nullable(Type.String()),
          driver: Nullable(Type.String()),
          pciAddress: Nullable(Type.String()),
          numaNode: Nullable(Type.Integer()),
          grade: Nullable(Type.Enum(["recommended", "least", "unverified"])),
          shortOf: Type.Array(Type.String()),
          /** What it did at the node's last beat; null where that was not told. */
          use: Nullable(Type.Object(use, closed)),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type NodeDetailReply = Static<typeof NodeDetailReply>;

/** @property members of jobs that still hold something there */
export const NodeChangedReply = Type.Object({ node: Type.String(), members: Count }, closed);

export const InviteNodeBody = Type.Object(
  { node: IdParam, ttlS: Type.Integer({ minimum: 60, maximum: 86_400, default: 3_600 }) },
  closed,
);
/** The token is shown this once. */
export const InviteNodeReply = Type.Object(
  {
    ...{ node: Type.String(), token: Type.String(), expiresAt: Instant },
    /** What the new host runs, and gives the token to; null where no other host reaches this appliance. */
    command: Nullable(Type.String()),
  },
  closed,
);
export type InviteNodeReply = Static<typeof InviteNodeReply>;

export const ApplianceReply = Type.Object(
  {
    version: Type.String(),
    policySet: Type.String(),
    jobs: Type.Record(Type.String(), Count),
    bus: Type.Enum(["up", "down"]),
    audit: Type.Object(
      {
        state: Type.Enum(["ok", "away", "draining", "halted"]),
        /** Records that the log has not taken yet. */
        waiting: Count,
        oldestWaitMs: Count,
      },
      closed,
    ),
    database: Type.Enum(["ok", "full", "failing"]),
    storage: Type.Enum(["ok", "unavailable"]),
    loopLagMs: Type.Number(),
    /** Why nobody is declared dead although somebody is silent. */
    brake: Nullable(Type.String()),
    plannedStopUntil: Nullable(Instant),
    /** Somebody could approve what needs a second person. */
    hasApprover: Type.Boolean(),
    endingKeys: Type.Array(
      Type.Object({ key: Type.String(), username: Type.String(), expiresAt: Instant }, closed),
    ),
    /** Administrators whom the host's root made and nobody has acknowledged. */
    restored: Type.Array(
      Type.Object({ userId: Type.String(), username: Type.String(), restoredAt: Instant }, closed),
    ),
    /** Service accounts that nobody answers for: each ends seven days after that unless a lead adopts it. */
    orphanedAccounts: Type.Array(
      Type.Object({ name: Type.String(), project: Type.String(), orphanedAt: Instant }, closed),
    ),
    /** Groups of a directory that would make an auditor a member of a project, and give nothing. */
    givenNothing: Type.Array(
      Type.Object(
        { username: Type.String(), group: Type.String(), project: Type.String() },
        closed,
      ),
    ),
    nodes: Type.Array(NodeReply),
  },
  closed,
);
export type ApplianceReply = Static<typeof ApplianceReply>;
