/** `<root>/etc/audit-out.json` (0440, root; group rt-audit-out): the one place where receivers of the log are named. Paths are absolute. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";

const Path = Type.String({ pattern: "^/", minLength: 2, maxLength: 4096 });
/** At most 107 bytes: the kernel's limit. */
const SocketPath = Type.String({ pattern: "^/", minLength: 2, maxLength: 107 });
const SinkName = Type.String({ pattern: "^[a-z][a-z0-9-]{0,31}$" });

export const EXPORT_FORMATS = ["leaf", "ocsf", "cef", "leef"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A line for each event, in files `<sink>-<shard>-<index>.log` named by the first event that they hold. */
const FileTarget = Type.Object(
  {
    kind: Type.Literal("file"),
    /** It must exist and be rt-audit-out's. */
    folder: Path,
    /** A file that has reached this size is closed and the next one begun. Old ones are the receiver's to remove. @default 64 MiB */
    rotateBytes: Type.Integer({ minimum: 65_536, maximum: 1_099_511_627_776, default: 67_108_864 }),
  },
  closed,
);
export type FileTarget = Static<typeof FileTarget>;

/** RFC 5424 messages over TLS (RFC 5425). */
const SyslogTarget = Type.Object(
  {
    kind: Type.Literal("syslog"),
    host: Type.String({ minLength: 1, maxLength: 253 }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, default: 6_514 }),
    /** Name that the receiver's certificate must carry; `host` where it is not given. */
    serverName: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
    /** PEM: who may have signed the receiver's certificate. Nobody else is trusted. */
    caFile: Path,
    /** PEM: our own certificate and its key, where the receiver asks for one; the key's mode must be 0400. */
    client: Type.Optional(Type.Object({ certFile: Path, keyFile: Path }, closed)),
    /** 13 is "log audit". @default 13 */
    facility: Type.Integer({ minimum: 0, maximum: 23, default: 13 }),
    /** Private enterprise number of the structured data. @default 32473, the one for examples (RFC 5612) */
    enterpriseNumber: Type.Integer({ minimum: 1, maximum: 4_294_967_295, default: 32_473 }),
    /** So often the receiver is made to confirm what it read; what lies between is sent again after a failure. @default 10000 */
    confirmMs: Type.Integer({ minimum: 100, maximum: 600_000, default: 10_000 }),
  },
  closed,
);
export type SyslogTarget = Static<typeof SyslogTarget>;

/** Last part of a log's origin: `2026`, `2026-2`. */
const Shard = Type.String({ pattern: "^[0-9]{4}(-[1-9][0-9]{0,3})?$" });

/** Shards that are damaged for good: what can't be read of them is passed over, and `audit.sink` says what. Without it the sink, or the copy, stops before it. */
const SkipDamaged = Type.Optional(Type.Array(Shard, { maxItems: 100 }));

const Sink = Type.Object(
  {
    /** Names its cursor: another name is another receiver, which gets the log from its first entry. */
    name: SinkName,
    format: Type.Enum([...EXPORT_FORMATS]),
    target: Type.Union([FileTarget, SyslogTarget]),
    skipDamaged: SkipDamaged,
  },
  closed,
);
export type Sink = Static<typeof Sink>;

/** A copy in a bucket with object lock, mode COMPLIANCE. */
const WormCopy = Type.Object(
  {
    /** Scheme, name and port. */
    endpoint: Type.String({ pattern: "^https?://[^/]+$", maxLength: 300 }),
    region: Type.String({ minLength: 1, maxLength: 64 }),
    bucket: Type.String({ pattern: "^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$" }),
    /** PEM; needed where the endpoint is HTTPS with an authority of the site's own. */
    caFile: Type.Optional(Path),
    /** `{"accessKeyId","secretAccessKey"}`, 0400. */
    credentialsFile: Path,
    /** From the day of writing. Leaves are kept seven years. @default 2557 */
    retentionDays: Type.Integer({ minimum: 1, maximum: 36_500, default: 2_557 }),
    /** So often the newest checkpoint is copied. @default 3600000 */
    checkpointMs: Type.Integer({ minimum: 100, maximum: 86_400_000, default: 3_600_000 }),
    skipDamaged: SkipDamaged,
  },
  closed,
);
export type WormCopy = Static<typeof WormCopy>;

export const AuditOutConfig = Type.Object(
  {
    /** auditd's folder of shards; readable by the group, never written here. */
    auditDir: Path,
    /** tlog-policy: whose signature makes a checkpoint the log's. */
    policyFile: Path,
    /** Cursors and the search index; 0700, rt-audit-out. It must exist. */
    stateDir: Path,
    /** auditd's socket of the producer `audit-out`. */
    auditSocket: SocketPath,
    /** Where searches are answered; its folder must exist: 0750, of the group that may ask. */
    searchSocket: SocketPath,
    /** The vault's, which has tokens of values; null: entries are not found by a value. @default null */
    tokensSocket: Type.Union([SocketPath, Type.Null()], { default: null }),
    /** PEM: who may have signed the certificates of witnesses at `https:` addresses; the policy names the witnesses. @default null */
    witnessCaFile: Type.Union([Path, Type.Null()], { default: null }),
    sinks: Type.Array(Sink, { maxItems: 16, default: [] }),
    worm: Type.Union([WormCopy, Type.Null()], { default: null }),
    /** How often the log is looked at. @default 250 */
    pollMs: Type.Integer({ minimum: 10, maximum: 60_000, default: 250 }),
    /** First pause after a receiver failed; it doubles up to a minute. @default 1000 */
    retryMs: Type.Integer({ minimum: 10, maximum: 60_000, default: 1_000 }),
    logLevel: Type.String({ default: "info" }),
  },
  closed,
);
export type AuditOutConfig = Static<typeof AuditOutConfig>;

/** `<root>/etc/audit-sinks.json`: whom the operator lets the log go to, and who vouches for witnesses. */
export const LogReceivers = Type.Object(
  {
    sinks: Type.Optional(AuditOutConfig.properties.sinks),
    worm: Type.Optional(AuditOutConfig.properties.worm),
    witnessCaFile: Type.Optional(AuditOutConfig.properties.witnessCaFile),
  },
  closed,
);
export type LogReceivers = Static<typeof LogReceivers>;
