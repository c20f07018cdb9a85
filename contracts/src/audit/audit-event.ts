/**
 * Envelope v1 of an audit event: one leaf of the log is the canonical JSON (RFC 8785) of one of these, at most 16 KiB.
 *
 * The envelope is closed. What a type may say beyond it is its `detail`, closed by audit-catalogue.ts. Nothing personal or
 * guessable stands here in clear: such values are commitments, `SHA-256("sov-pii-v1" ‖ 0 ‖ field ‖ 0 ‖ salt32 ‖ value)` in hex,
 * and salt and value travel beside the event as disclosures.
 */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";

/** Ids that are random or assigned by the appliance, never chosen by a person. */
export const PlainId = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$" });
/** Lower snake or kebab case codes: reasons, roles, verbs. */
export const Code = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$" });
export const Sha256Hex = Type.String({ pattern: "^[0-9a-f]{64}$" });
export const Uuid = Type.String({
  pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
});
/** UTC with milliseconds, the only form: `2026-01-31T23:59:59.999Z`. */
export const Instant = Type.String({
  pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$",
});
export const ProducerName = Type.String({ pattern: "^[a-z][a-z0-9-]{0,62}$" });
/** One life of a producer: a process start, or `g<generation>` of the coordinator's database for its record producer. */
export const Boot = Type.String({ pattern: "^[A-Za-z0-9-]{1,64}$" });
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Of a log's shard: `<appliance>.audit.<customer>/<YYYY>[-n]`. */
export const Origin = Type.String({
  pattern: "^[a-z0-9-]{1,63}\\.audit\\.[a-z0-9-]{1,63}/[0-9]{4}(-[0-9]{1,4})?$",
  maxLength: 255,
});
/** Of a shard within its log: what stands behind the `/` of its origin. */
export const ShardName = Type.String({ pattern: "^[0-9]{4}(-[0-9]{1,4})?$" });
const Commitment = Sha256Hex;

export const EVENT_PHASES = [
  "requested",
  "completed",
  "failed",
  "denied",
  "fact",
  "observed",
] as const;
export type EventPhase = (typeof EVENT_PHASES)[number];

/** Personal values that have no slot of their own in the envelope; the disclosure's field is `pii.<name>`. */
export const PII_FIELDS = [
  "username",
  "email",
  "task-name",
  "key-name",
  "project-name",
  "bucket-alias",
  "hostname",
  "path",
  "reason",
] as const;
export type PiiField = (typeof PII_FIELDS)[number];

/** Every place of an event that holds a commitment; it is hashed with this name, so a value can't be moved between places. */
export type CommitmentField =
  | "actor.sid"
  | "src.addr"
  | "src.agent"
  | "object.id"
  | "digests.input"
  | "digests.output"
  | `pii.${PiiField}`;

export const ACTOR_KINDS = ["user", "key", "node", "operator", "system", "anonymous"] as const;

export const Actor = Type.Object(
  {
    /** Random pseudonym of this appliance (user id, key id, node id), or the name of a process. */
    sub: PlainId,
    kind: Type.Enum([...ACTOR_KINDS]),
    roles: Type.Optional(Type.Array(Code, { maxItems: 32 })),
    acr: Type.Optional(Code),
    azp: Type.Optional(PlainId),
    /** Commitment of the session id. */
    sid: Type.Optional(Commitment),
  },
  closed,
);
export type Actor = Static<typeof Actor>;

export const OBJECT_KINDS = [
  "job",
  "member",
  "key",
  "bucket",
  "upload",
  /** An object of the S3 engine: its id is a commitment of the path. */
  "object",
  "node",
  "user",
  "project",
  "process",
  "producer",
  "log",
  "approval",
  "appliance",
] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];

export const EventObject = Type.Object(
  {
    kind: Type.Enum([...OBJECT_KINDS]),
    /** Plain for ids that the appliance made; a commitment (`object.id`) for kind `object`. */
    id: PlainId,
    class: Type.Optional(Code),
    residency: Type.Optional(Code),
  },
  closed,
);
export type EventObject = Static<typeof EventObject>;

export const Outcome = Type.Object(
  {
    /** A code of the error catalogue or the reason table; `ok` for completed. */
    code: Code,
    /** HTTP status that the caller saw, where there was one. */
    status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
    /** No witness had countersigned what was asked for when it was done, though the policy has witnesses. */
    unwitnessed: Type.Optional(Type.Literal(true)),
  },
  closed,
);
export type Outcome = Static<typeof Outcome>;

/** Everything but `type`, `phase` and `detail`, which the catalogue narrows for each type. */
export const ENVELOPE_FIELDS = {
  v: Type.Literal(1),
  /** UUID version 7. */
  id: Type.String({
    pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
  }),
  /** Shared by the one `requested` and the one outcome of an operation; on a fact, the operation that it belongs to or a fresh one. */
  op: Uuid,
  /** The producer's clock. */
  t: Instant,
  /** auditd's clock, never decreasing; set by auditd. */
  t_log: Instant,
  clk: Type.Optional(
    Type.Object(
      { src: Code, offset_us: Type.Optional(Type.Integer()), synced: Type.Boolean() },
      closed,
    ),
  ),
  /** Set by auditd from the socket. */
  prod: ProducerName,
  boot: Boot,
  /** Contiguous within `(prod, boot)`. */
  pseq: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  actor: Actor,
  on_behalf_of: Type.Optional(PlainId),
  /** Commitments of network address and user agent. */
  src: Type.Optional(
    Type.Object({ addr: Type.Optional(Commitment), agent: Type.Optional(Commitment) }, closed),
  ),
  /** The route, control verb or command, as its pattern and never with values: `POST /api/tasks`. */
  action: Type.Optional(Type.String({ pattern: "^[A-Za-z][A-Za-z0-9 :/_.{}*-]{0,127}$" })),
  object: EventObject,
  decision: Type.Optional(
    Type.Object(
      {
        effect: Type.Union([Type.Literal("allow"), Type.Literal("deny")]),
        policy_set_sha256: Type.Optional(Sha256Hex),
        policy_ids: Type.Optional(Type.Array(Code, { maxItems: 32 })),
      },
      closed,
    ),
  ),
  outcome: Type.Optional(Outcome),
  digests: Type.Optional(
    Type.Object(
      {
        /** Commitments: a plain digest of data can be guessed. */
        input: Type.Optional(Commitment),
        output: Type.Optional(Commitment),
        /** Plain SHA-256. */
        model: Type.Optional(Sha256Hex),
        image: Type.Optional(Sha256Hex),
      },
      closed,
    ),
  ),
  /** In order of field name, each at most once. */
  pii: Type.Optional(
    Type.Array(Type.Object({ field: Type.Enum([...PII_FIELDS]), commitment: Commitment }, closed), {
      maxItems: PII_FIELDS.length,
    }),
  ),
  /** SHA-256 of the canonical JSON of the schema set that the event was checked against. */
  schema_sha256: Sha256Hex,
} as const;

/** Opens one commitment. `salt` is 32 bytes in hex. */
export const Disclosure = Type.Object(
  {
    field: Type.String({ pattern: "^[a-z.-]{1,32}$" }),
    salt: Sha256Hex,
    value: Type.String({ maxLength: 8192 }),
  },
  closed,
);
export type Disclosure = Static<typeof Disclosure>;

/** Longest leaf, in bytes of canonical JSON. */
export const MAX_LEAF_BYTES = 16_384;
/** Deepest nesting of objects and arrays, the event itself included. */
export const MAX_EVENT_DEPTH = 6;
