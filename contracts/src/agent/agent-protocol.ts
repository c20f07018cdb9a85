/**
 * What an agent and the coordinator say to each other over NATS (request and reply, mutual TLS).
 *
 * A node may publish to `agent.<node>.>` alone and hear only `agent.<node>.hint` and its own inbox `_INBOX_<node>.>`.
 * Every request is safe to repeat. Losing, doubling or reordering any message is harmless: the desired set is fetched whole.
 * Every reply is `{ ok: true, ... }` or `{ ok: false, error: { code, message } }`; `stale_epoch` and `stale_fence` mean "stop that work".
 *
 * Agent and coordinator may be of different releases. They agree on a version when the agent registers, and each passes over fields that it does
 * not know (readable.ts). What is sent is built by the closed schema.
 */
import { type Static, Type } from "typebox";
import { Fence } from "./fence.ts";
import { AgreedProtocol, ProtocolVersions } from "../versions/protocol-versions.ts";
import { PortRange } from "../config/port-range.ts";

/**
 * 1: the first release. 2: the agent names the versions that it speaks, and passes over fields that it does not know. An agent of 1 is sent what
 * version 1 has, and nothing more.
 */
export const AGENT_PROTOCOL = { min: 1, max: 2 } as const;

const closed = { additionalProperties: false } as const;
const Id = Type.String({ minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9._-]+$" });
/** Of a file in a folder of its own: no path. */
const FileName = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: "^[A-Za-z0-9_][A-Za-z0-9._-]*$",
});
const Bytes = Type.Integer({ minimum: 0 });
/** More than any log has, and sums of them are still exact. */
const LogBytes = Type.Integer({ minimum: 0, maximum: 2 ** 50 });
const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const Text = Type.String({ maxLength: 16_384 });
/** Workflows count rounds from 0 or 1; a larger number would be none that the database takes as an integer. */
export const RoundNumber = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });

/** The verbs, each a subject `agent.<node>.<verb>`. */
export const AGENT_VERBS = [
  "register",
  "beat",
  "desired",
  "report",
  "stage",
  "sign",
  "pull-token",
  "output-open",
  "output-parts",
  "output-complete",
  "audit",
  "tail",
] as const;
export type AgentVerb = (typeof AGENT_VERBS)[number];

export const agentSubject = (node: string, verb: AgentVerb | "hint"): string =>
  `agent.${node}.${verb}`;
export const agentInboxPrefix = (node: string): string => `_INBOX_${node}`;

export const ProtocolError = Type.Object(
  { code: Type.String({ maxLength: 64 }), message: Text },
  closed,
);

// ── Inventory ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** One schedulable slot. `id` is `<node>-<n>`; `model` is a catalogue id such as `rtx_4090` or `cpu`. */
export const InventoryWorker = Type.Object(
  {
    id: Id,
    kind: Type.Union([Type.Literal("gpu"), Type.Literal("cpu")]),
    model: Id,
    memoryBytes: Bytes,
    /** Device handle for the container engine (GPU UUID, /dev/dri path); absent for a CPU slot. */
    device: Type.Optional(Type.String({ maxLength: 256 })),
    vendor: Type.Optional(
      Type.Union([Type.Literal("nvidia"), Type.Literal("amd"), Type.Literal("intel")]),
    ),
    healthy: Type.Boolean(),
    /** What code the device runs, as its vendor counts: compute capability `8.6`, `gfx942`. Absent for a CPU slot, and where the tool does not say. */
    architecture: Type.Optional(Type.String({ pattern: "^[a-z0-9.-]{1,32}$" })),
    /** Version of the vendor's driver: `580.95.05`. */
    driver: Type.Optional(Type.String({ pattern: "^[0-9A-Za-z.+~-]{1,64}$" })),
    /** Why it is not healthy, for people. */
    reason: Type.Optional(Type.String({ maxLength: 512 })),
    pciAddress: Type.Optional(
      Type.String({ pattern: "^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]$" }),
    ),
    /** Processors and memory that are near to it; absent on a machine of one NUMA node. */
    numaNode: Type.Optional(Type.Integer({ minimum: 0, maximum: 1024 })),
    /** Which of the product's hardware requirements it meets with its host; below the least it is `unverified`. Absent for a CPU slot. */
    grade: Type.Optional(
      Type.Union([Type.Literal("recommended"), Type.Literal("least"), Type.Literal("unverified")]),
    ),
    /** What it lacks for the least, or else for what is recommended. For people. */
    shortOf: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 16 })),
  },
  closed,
);
export type InventoryWorker = Static<typeof InventoryWorker>;

export const Inventory = Type.Object(
  {
    hostname: Type.String({ maxLength: 255 }),
    os: Type.String({ maxLength: 255 }),
    kernel: Type.String({ maxLength: 255 }),
    cpuModel: Type.String({ maxLength: 255 }),
    cpuCores: Type.Integer({ minimum: 1 }),
    memoryBytes: Bytes,
    diskFreeBytes: Bytes,
    containerEngine: Type.String({ maxLength: 255 }),
    workers: Type.Array(InventoryWorker, { maxItems: 1024 }),
    /** Network devices that are up and say their speed. */
    links: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Id,
            kind: Type.Union([Type.Literal("ethernet"), Type.Literal("infiniband")]),
            megabits: Type.Integer({ minimum: 1 }),
          },
          closed,
        ),
        { maxItems: 64 },
      ),
    ),
    /** How NVIDIA's devices reach each other, by their order on the bus: `NV18` is 18 NVLinks, `SYS` the way between NUMA nodes. */
    topology: Type.Optional(
      Type.Array(
        Type.Object(
          {
            from: Type.Integer({ minimum: 0, maximum: 1024 }),
            to: Type.Integer({ minimum: 0, maximum: 1024 }),
            link: Type.String({ pattern: "^[A-Z0-9]{1,8}$" }),
          },
          closed,
        ),
        { maxItems: 512 },
      ),
    ),
  },
  closed,
);
export type Inventory = Static<typeof Inventory>;

// ── register, beat ──────────────────────────────────────────────────────────────────────────────────────────────────────

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
    /** How old it is: tools are asked once a minute, and when a member comes or goes. */
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
  },
  closed,
);
export type BeatReply = Static<typeof BeatReply>;

// ── desired ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

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
    inputs: Type.Array(StagedInput, { maxItems: 10_000 }),
  },
  closed,
);
export type DesiredMember = Static<typeof DesiredMember>;

export const DesiredRequest = Type.Object({ nodeEpoch: Fence }, closed);
export type DesiredRequest = Static<typeof DesiredRequest>;
/** The whole set for this node: what is not in it must not run. */
export const DesiredReply = Type.Object(
  { version: Type.Integer(), members: Type.Array(DesiredMember) },
  closed,
);
export type DesiredReply = Static<typeof DesiredReply>;

// ── report ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

const kind = <K extends string>(value: K) => Type.Literal(value);

/** What happened to a member, told by its agent. Spooled on the agent's disk until the coordinator has committed it. */
export const MemberEvent = Type.Union([
  /** Bytes received, or layers and files unpacked: progress that renews the deadline of PROVISIONING and STAGING. */
  Type.Object(
    { kind: kind("progress"), step: Id, done: Bytes, total: Type.Optional(Bytes) },
    closed,
  ),
  /** Inputs and image are in place. */
  Type.Object({ kind: kind("staged"), bytes: Bytes }, closed),
  Type.Object({ kind: kind("started"), container: Id }, closed),
  /** Server: listening; client: known to the server. */
  Type.Object({ kind: kind("ready") }, closed),
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
  Type.Object({ kind: kind("finished") }, closed),
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

// ── stage, sign, pull-token ─────────────────────────────────────────────────────────────────────────────────────────────

export const StageRequest = Type.Object({ nodeEpoch: Fence, member: Id, fence: Fence }, closed);
export type StageRequest = Static<typeof StageRequest>;
/** One presigned GET for each input of the member, bound to its versionId. */
export const StageReply = Type.Object(
  {
    urls: Type.Array(Type.Object({ id: Id, url: Type.String() }, closed)),
    expiresInS: Type.Number(),
  },
  closed,
);
export type StageReply = Static<typeof StageReply>;

/** Certificates for keys made on the node. `admin` (the job's submitter) is for the server's node alone. */
export const SignRequest = Type.Object(
  {
    nodeEpoch: Fence,
    member: Id,
    fence: Fence,
    identity: Type.Union([Type.Literal("member"), Type.Literal("admin")]),
    /** PKCS#10 request, PEM. Its subject is ignored: names come from the attempt. */
    csr: Type.String({ maxLength: 16_384 }),
  },
  closed,
);
export type SignRequest = Static<typeof SignRequest>;
/** Leaf certificate and the attempt's root, PEM. */
export const SignReply = Type.Object({ cert: Type.String(), rootCert: Type.String() }, closed);
export type SignReply = Static<typeof SignReply>;

export const PullTokenRequest = Type.Object({ nodeEpoch: Fence, member: Id, fence: Fence }, closed);
export type PullTokenRequest = Static<typeof PullTokenRequest>;
/** User name and one-use password for `X-Registry-Auth`; the registry's token realm exchanges them. */
export const PullTokenReply = Type.Object(
  { username: Type.String(), password: Type.String() },
  closed,
);
export type PullTokenReply = Static<typeof PullTokenReply>;

// ── outputs: a multipart that the coordinator creates and completes ─────────────────────────────────────────────────────

/**
 * `key` is relative to the job's output root: `model_out/…`, `files_out/…` (server alone). In the area `log` it is relative to
 * `logs/<job>/`: `<member>-<generation>.<counter>/<seq>` of this very member and fence; in the area `checkpoint` (server alone) to
 * `ckpt/<job>/<attempt>/`: `<member>-<generation>.<counter>/<round>/…`. `urls` has one for each part, in order.
 */
export const OutputOpenRequest = Type.Object(
  {
    nodeEpoch: Fence,
    member: Id,
    fence: Fence,
    key: Type.String({ minLength: 1, maxLength: 1024 }),
    sizeBytes: Bytes,
    sha256: Sha256,
    area: Type.Optional(Type.Union([Type.Literal("log"), Type.Literal("checkpoint")])),
  },
  closed,
);
export type OutputOpenRequest = Static<typeof OutputOpenRequest>;
export const OutputOpenReply = Type.Object(
  { upload: Id, partSizeBytes: Type.Integer({ minimum: 1 }), urls: Type.Array(Type.String()) },
  closed,
);
export type OutputOpenReply = Static<typeof OutputOpenReply>;

/** Fresh URLs for parts of an open upload, numbers from 1. */
export const OutputPartsRequest = Type.Object(
  {
    ...{ nodeEpoch: Fence, member: Id, fence: Fence, upload: Id },
    parts: Type.Array(Type.Integer({ minimum: 1, maximum: 10_000 }), { maxItems: 1_000 }),
  },
  closed,
);
export type OutputPartsRequest = Static<typeof OutputPartsRequest>;
export const OutputPartsReply = Type.Object({ urls: Type.Array(Type.String()) }, closed);
export type OutputPartsReply = Static<typeof OutputPartsReply>;

export const OutputCompleteRequest = Type.Object(
  {
    nodeEpoch: Fence,
    member: Id,
    fence: Fence,
    upload: Id,
    etags: Type.Array(Type.String({ maxLength: 128 }), { maxItems: 10_000 }),
  },
  closed,
);
export type OutputCompleteRequest = Static<typeof OutputCompleteRequest>;
export const OutputCompleteReply = Type.Object(
  { versionId: Type.Union([Type.String(), Type.Null()]) },
  closed,
);
export type OutputCompleteReply = Static<typeof OutputCompleteReply>;

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

/** Coordinator → agent: `desired`, something changed, fetch it now; `beat`, a longer lease is to be had. */
export const HintMessage = Type.Object(
  { about: Type.Union([Type.Literal("desired"), Type.Literal("beat")]) },
  closed,
);
export type HintMessage = Static<typeof HintMessage>;

// ── join (HTTPS, before the node has a certificate) ─────────────────────────────────────────────────────────────────────

/** `POST /api/nodes/join`; the token is used up by the first request whose CSR is signed. */
export const JoinRequest = Type.Object(
  { token: Type.String({ maxLength: 256 }), csr: Type.String({ maxLength: 16_384 }) },
  closed,
);
export type JoinRequest = Static<typeof JoinRequest>;
/** A job image by digest, and a password that is good for an hour to pull it. */
export const TrialPull = Type.Object(
  {
    image: Type.String({ maxLength: 512 }),
    username: Type.String({ maxLength: 256 }),
    password: Type.String({ maxLength: 256 }),
  },
  closed,
);
export type TrialPull = Static<typeof TrialPull>;
export const JoinReply = Type.Object(
  {
    node: Id,
    /** Node certificate followed by the intermediate, PEM. */
    certChain: Type.String(),
    rootCert: Type.String(),
    natsUrl: Type.String(),
    registry: Type.String(),
    /** For one container that shows that the node can run jobs: absent where there is no image for every node. */
    trial: Type.Optional(TrialPull),
  },
  closed,
);
export type JoinReply = Static<typeof JoinReply>;

// ── what the agent tells whoever installs it (on its own host) ──────────────────────────────────────────────────────────

/** The one line that `agent --join` prints. */
export const JoinAnswer = Type.Object(
  {
    refused: Type.Union([
      Type.Object({ code: Type.String(), message: Type.String() }, closed),
      Type.Null(),
    ]),
    trial: Type.Union([TrialPull, Type.Null()]),
  },
  closed,
);
export type JoinAnswer = Static<typeof JoinAnswer>;

/** `registered.json` in the agent's folder: what it told of itself when it registered last. */
export const NodeRegistered = Type.Object({ workers: Inventory.properties.workers }, closed);
export type NodeRegistered = Static<typeof NodeRegistered>;
