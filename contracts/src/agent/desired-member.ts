/** `desired`: what a node shall run, whole. */
import { type Static, Type } from "typebox";
import { Bytes, FileName, Id, Sha256 } from "./agent-fields.ts";
import { Fence } from "./fence.ts";
import { closed } from "../closed.ts";

/** One object to stage. `target` is relative: `scripts/…`, `configs/…`, `shard.zip`, `model/<basename>`, `resume/<basename>`, `payload/…` (`file`). */
export const StagedInput = Type.Object(
  {
    id: Id,
    kind: Type.Union([
      Type.Literal("script"),
      Type.Literal("config"),
      Type.Literal("shard"),
      Type.Literal("model"),
      Type.Literal("checkpoint"),
      Type.Literal("file"),
    ]),
    target: Type.String({ minLength: 1, maxLength: 1024 }),
    sizeBytes: Bytes,
    etag: Type.String({ maxLength: 128 }),
    /** Of what the platform itself stored. */
    sha256: Type.Optional(Sha256),
    /** Names this very version of the object, of which no digest is known: to a node that may keep it (`cache`). */
    version: Type.Optional(Sha256),
  },
  closed,
);
export type StagedInput = Static<typeof StagedInput>;

/** A node as its peers recognize it: the name in its certificate, and that very certificate. */
export const BridgePeer = Type.Object({ node: Id, certificateSha256: Sha256 }, closed);
export type BridgePeer = Static<typeof BridgePeer>;

/**
 * How members of an attempt on several nodes reach its server. One TLS connection between two agents stands for each connection of a
 * client; the listening side sends {@link BRIDGE_REACHED} once it has reached the server's container, then both sides copy bytes.
 */
export const MemberBridge = Type.Union([
  /** The server: its agent listens on this port of its own address and admits these nodes alone. */
  Type.Object(
    {
      kind: Type.Literal("listen"),
      port: Type.Integer({ minimum: 1, maximum: 65535 }),
      peers: Type.Array(BridgePeer),
    },
    closed,
  ),
  /**
   * A client on another node: its agent dials the server's, and listens on this port of its job bridge's gateway, which is where the
   * client finds the server.
   */
  Type.Object(
    {
      kind: Type.Literal("dial"),
      host: Type.String({ maxLength: 255 }),
      port: Type.Integer({ minimum: 1, maximum: 65535 }),
      peer: BridgePeer,
    },
    closed,
  ),
]);
export type MemberBridge = Static<typeof MemberBridge>;
export const BRIDGE_REACHED = 0x01;

const ContainerPath = Type.String({ minLength: 1, maxLength: 1024 });
const OutputKey = Type.String({ minLength: 1, maxLength: 512 });

/**
 * Where a member stands in its attempt's network, which has no way out. `hub`: all know one member by name, and `index` counts the others;
 * it is null for the hub itself.
 */
export const MemberNetwork = Type.Union([
  Type.Object({ shape: Type.Literal("closed") }, closed),
  Type.Object(
    {
      shape: Type.Literal("hub"),
      index: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
      name: Id,
      /** In the hub's own container. */
      port: Type.Integer({ minimum: 1, maximum: 65535 }),
      /** From which its processes are given ports that they don't choose; those of the system where it is left out. */
      ports: Type.Optional(
        Type.Object(
          {
            from: Type.Integer({ minimum: 1024, maximum: 65535 }),
            to: Type.Integer({ minimum: 1024, maximum: 65535 }),
          },
          closed,
        ),
      ),
    },
    closed,
  ),
]);
export type MemberNetwork = Static<typeof MemberNetwork>;

/** What of a member's files is stored, and below which keys of the job's output root. */
export const MemberOutputs = Type.Object(
  {
    /** Files that only grow, by their path in the container: stored at the end, and within seconds of the end of a round. */
    logs: Type.Array(Type.Object({ file: ContainerPath, key: OutputKey }, closed), {
      maxItems: 16,
    }),
    /** What the member printed, its last 64 MiB; null where its chunks below `logs/` are enough. */
    printed: Type.Union([OutputKey, Type.Null()]),
    /** The folder for the model that the payload names at its end; null where it names none. */
    models: Type.Union([OutputKey, Type.Null()]),
    /** Where files of `/app/out` go; null keeps them in. `site` is named where some do not come back. */
    files: Type.Union([Type.Object({ folder: OutputKey, site: Id }, closed), Type.Null()]),
    /** The model of each round is stored as a checkpoint that a later attempt goes on from. */
    checkpoints: Type.Boolean(),
    /** Lines `RT_METRIC {json}` that the member prints are told as metrics of this name. Left out where its runner tells them. */
    metrics: Type.Optional(Id),
  },
  closed,
);
export type MemberOutputs = Static<typeof MemberOutputs>;

/** What a member runs and what becomes of its files: all that an agent needs to know of a kind of workload. */
export const MemberPayload = Type.Object(
  {
    /** Behind PID 1. */
    command: Type.Array(Type.String({ maxLength: 4096 }), { minItems: 1, maxItems: 1024 }),
    /** Beside what every container has. */
    environment: Type.Record(
      Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$" }),
      Type.String({ maxLength: 8192 }),
      {
        ...closed,
        maxProperties: 128,
      },
    ),
    /** Written below `/rt/job`, readable by the job. */
    files: Type.Array(
      Type.Object({ name: FileName, text: Type.String({ maxLength: 1_048_576 }) }, closed),
      { maxItems: 16 },
    ),
    /** Keys that are made on the node, with certificates of the attempt's own authority: file names below `/rt/job/kit`. */
    certificates: Type.Union([
      Type.Object(
        {
          root: FileName,
          leaves: Type.Array(
            Type.Object(
              {
                identity: Type.Union([Type.Literal("member"), Type.Literal("admin")]),
                key: FileName,
                certificate: FileName,
              },
              closed,
            ),
            { minItems: 1, maxItems: 4 },
          ),
        },
        closed,
      ),
      Type.Null(),
    ]),
    network: MemberNetwork,
    /** Names that its events may speak of. */
    sites: Type.Array(Id, { maxItems: 4096 }),
    outputs: MemberOutputs,
  },
  closed,
);
export type MemberPayload = Static<typeof MemberPayload>;

/** What a replica is to do beside running. `order` grows with each wish; what is told of it names the wish that it answers. */
export const ReplicaSpec = Type.Object(
  { order: Type.Integer({ minimum: 0 }), asleep: Type.Boolean() },
  closed,
);
export type ReplicaSpec = Static<typeof ReplicaSpec>;

export const DesiredMember = Type.Object(
  {
    member: Id,
    job: Id,
    attempt: Id,
    fence: Fence,
    /**
     * `stop` under a fence newer than the one held (or with nothing held at all): whatever is left of this member is torn down, nothing
     * more is uploaded, and `released` is reported under the new fence, its `seq` from 1.
     */
    desired: Type.Union([Type.Literal("run"), Type.Literal("stop")]),
    /** Why it is to stop, a code of the reason table; absent while `desired` is `run`. */
    stopReason: Type.Optional(Id),
    /**
     * Of a member that is to stop: its payload commits first, and has `graceMs` for it. It stops after its commit, or as soon as there is nothing to
     * wait for. The same order without this field stops it now.
     */
    stopAfter: Type.Optional(Type.Literal("commit")),
    graceMs: Type.Integer({ minimum: 1 }),
    /** `<registry>/<repository>@sha256:<digest>` */
    image: Type.String({ maxLength: 512 }),
    resources: Type.Object(
      {
        cpuMillis: Type.Integer({ minimum: 1 }),
        memoryBytes: Type.Integer({ minimum: 1 }),
        pids: Type.Integer({ minimum: 1 }),
        diskBytes: Type.Integer({ minimum: 1 }),
        workers: Type.Array(Id),
      },
      closed,
    ),
    payload: MemberPayload,
    /** Absent when the attempt has all its members on one node, and for a client on the server's. May change under one fence. */
    bridge: Type.Optional(MemberBridge),
    /** Of a replica alone. May change under one fence. */
    wish: Type.Optional(ReplicaSpec),
    inputs: Type.Array(StagedInput, { maxItems: 10_000 }),
    /** The owner of the {@link InputCacheRule} that its inputs may come from, and be kept in; absent where it is a guest of its node. */
    cacheOwner: Type.Optional(Sha256),
  },
  closed,
);
export type DesiredMember = Static<typeof DesiredMember>;

export const DesiredRequest = Type.Object({ nodeEpoch: Fence }, closed);
export type DesiredRequest = Static<typeof DesiredRequest>;
/**
 * What a node may keep of inputs between members. Whatever it keeps of another owner, or of any where this is absent, goes before it starts a member of
 * this set. `owner` names pool and project together: another pool of the same project is another owner.
 */
export const InputCacheRule = Type.Object({ owner: Sha256, maxBytes: Bytes }, closed);
export type InputCacheRule = Static<typeof InputCacheRule>;

/** The whole set for this node: what is not in it must not run. */
export const DesiredReply = Type.Object(
  {
    version: Type.Integer(),
    members: Type.Array(DesiredMember),
    cache: Type.Optional(InputCacheRule),
  },
  closed,
);
export type DesiredReply = Static<typeof DesiredReply>;
