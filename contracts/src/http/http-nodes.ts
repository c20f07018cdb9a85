/** `/api/nodes`: the hosts that run jobs, as a platform administrator sees them. Of jobs their states alone. */
import { type Static, type TSchema, Type } from "typebox";
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
          /** The first that it holds. */
          worker: Nullable(Type.String()),
          workers: Type.Array(Type.String()),
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

const Column = <T extends TSchema>(item: T) => Type.Array(item);
const Percent = Type.Integer({ minimum: 0, maximum: 100 });
/**
 * Every device of the fleet in columns: value `i` of each column of a node is of its worker `i`. A thousand nodes of eight devices stay below 500 kB.
 * What a device's tool does not tell is null, as is all of a device that no beat told of.
 */
export const FleetDevicesReply = Type.Object(
  {
    models: Type.Array(Type.Object({ model: Type.String(), memoryBytes: Count }, closed)),
    nodes: Type.Array(
      Type.Object(
        {
          ...{ node: Type.String(), state: Type.Enum([...NODE_STATES]) },
          worker: Column(Type.String()),
          /** Place in `models`. */
          model: Column(Count),
          /** Whether a member of a job holds it. */
          held: Column(Type.Boolean()),
          /** Why nothing is placed on it; null when something is. */
          unfit: Column(Nullable(Type.String())),
          usePercent: Column(Nullable(Percent)),
          memoryPercent: Column(Nullable(Percent)),
          temperatureC: Column(Nullable(Type.Integer({ minimum: 0 }))),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type FleetDevicesReply = Static<typeof FleetDevicesReply>;

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
