/** `register` and `beat`: how a node says that it lives, and is granted the time that its members may run. */
import { type Static, Type } from "typebox";
import { Bytes, Id, Sha256 } from "./agent-fields.ts";
import { MAX_DOOR_AUTHORITIES } from "./door-authorities.ts";
import { Fence } from "./fence.ts";
import { Inventory } from "./inventory.ts";
import { UpgradeFailure, UpgradeRequest } from "./node-upgrade.ts";
import { PortRange } from "../config/port-range.ts";
import { ReleaseName } from "../release/release-name.ts";
import { MemberUses, NodeUse } from "./told-use.ts";
import { AgreedProtocol, ProtocolVersions } from "../versions/protocol-versions.ts";
import { closed } from "../closed.ts";

/** Where other nodes' agents reach this node's, mutual TLS by the node certificates. */
export const BridgeAddress = Type.Object(
  { address: Type.String({ pattern: "^[0-9]{1,3}(\\.[0-9]{1,3}){3}$" }), ports: PortRange },
  closed,
);
export type BridgeAddress = Static<typeof BridgeAddress>;

const Milliseconds = Type.Number({ minimum: 0 });
const HeldLease = Type.Object({ member: Id, fence: Fence }, closed);

export const RegisterRequest = Type.Object(
  {
    protocol: ProtocolVersions,
    bootId: Id,
    agentVersion: Type.String({ maxLength: 64 }),
    inventory: Inventory,
    /** Absent: no other node can reach this one, so it holds no server whose clients are elsewhere. */
    bridge: Type.Optional(BridgeAddress),
    held: Type.Array(HeldLease, { maxItems: 1024 }),
    /** What runs here; absent where the agent can't bring another: on the appliance's own host. */
    release: Type.Optional(ReleaseName),
    /** How its last order to bring another release failed; absent where it did not. */
    upgradeFailed: Type.Optional(UpgradeFailure),
  },
  closed,
);
export type RegisterRequest = Static<typeof RegisterRequest>;
/** `leaseMs` counts from the moment the agent *sent* the request that this answers. */
export const RegisterReply = Type.Object(
  {
    nodeEpoch: Fence,
    leaseMs: Milliseconds,
    beatIntervalMs: Milliseconds,
    protocol: AgreedProtocol,
  },
  closed,
);
export type RegisterReply = Static<typeof RegisterReply>;

/** What a device of the node does, by its worker; what its tool does not say is absent. */
export const DeviceUse = Type.Object(
  {
    worker: Id,
    memoryInUseBytes: Bytes,
    utilizationPercent: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
    powerWatts: Type.Optional(Type.Number({ minimum: 0, maximum: 100_000 })),
    temperatureC: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000 })),
    /** How old it is: tools are asked once a minute, twice while a member holds a device, and when a member comes or goes. */
    ageMs: Milliseconds,
  },
  closed,
);
export type DeviceUse = Static<typeof DeviceUse>;

export const BeatRequest = Type.Object(
  {
    nodeEpoch: Fence,
    nonce: Id,
    /** The beat whose answer gave the lease that the agent counts on; null while that is its registration's. */
    leaseOf: Type.Union([Id, Type.Null()]),
    bootId: Id,
    held: Type.Array(HeldLease, { maxItems: 1024 }),
    inventoryDigest: Sha256,
    loopLagMs: Type.Number({ minimum: 0 }),
    diskFreeBytes: Bytes,
    devices: Type.Optional(Type.Array(DeviceUse, { maxItems: 1024 })),
    members: Type.Optional(MemberUses),
    node: Type.Optional(NodeUse),
    /** Of who vouches for the doors there beside the root (door-authorities.ts). */
    trusts: Type.Optional(Sha256),
  },
  closed,
);
export type BeatRequest = Static<typeof BeatRequest>;
/** `desiredVersion` differs from the last one fetched → fetch `desired`. `leaseMs` is longer during maintenance. */
export const BeatReply = Type.Object(
  {
    nonce: Id,
    leaseMs: Milliseconds,
    desiredVersion: Type.Integer(),
    reregister: Type.Boolean(),
    /** How often an operator has said that this node is well (`node undrain`): one more lifts the quarantines of its devices. */
    undrains: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Who vouches for the doors beside the root, PEM; told to an agent that said something else. */
    doorAuthorities: Type.Optional(Type.String({ maxLength: MAX_DOOR_AUTHORITIES })),
    /** The release that the node is to bring now. */
    upgrade: Type.Optional(UpgradeRequest),
  },
  closed,
);
export type BeatReply = Static<typeof BeatReply>;
