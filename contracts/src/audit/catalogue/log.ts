/** The log about itself: exports, searches, producers, shards, witnesses, receivers. */
import { Type } from "typebox";
import {
  Boot,
  Code,
  Count,
  Instant,
  Origin,
  PlainId,
  ProducerName,
  Sha256Hex,
} from "../audit-event.ts";
import { type CatalogueEntry, DAY, fact, HOUR, NoDetail, operation } from "./entry.ts";
import { ApprovedBy, ClaimedApprovers, ClaimedPeople, Unproven } from "./fields.ts";
import { closed } from "../../closed.ts";

/** A heartbeat names so many producers at most; fewer where their names are long, because a leaf holds 16 KiB. */
export const MAX_HEARTBEAT_PRODUCERS = 200;

/** An evidence pack reads so many shards at most: its entry names each. */
export const MAX_EXPORTED_SHARDS = 10;

/** C2SP signed-note vkey; ML-DSA-44 keys have 1,752 characters of base64. */
const VerifierKey = Type.String({
  pattern: "^[^\\s+]{1,255}\\+[0-9a-f]{8}\\+[A-Za-z0-9+/=]{40,1800}$",
});

export const LOG_EVENTS = {
  "audit.export": operation(
    "log",
    "The log was exported, or read for an evidence pack; or the journal of model calls was.",
    Type.Object(
      {
        size: Type.Optional(Count),
        bytes: Type.Optional(Count),
        bundle_sha256: Type.Optional(Sha256Hex),
        /** The auditor's 32 bytes: an export that covers this leaf is no older than they are. */
        nonce: Type.Optional(Sha256Hex),
        /** Commitments opened in the export: whoever receives them, and who agreed, stands in `privacy.disclose`. */
        disclosed: Type.Optional(Count),
        /** The request by which values are opened, as the command named it. */
        approval: Type.Optional(PlainId),
        /** Of older releases. */
        ...ClaimedPeople,
        /** Of older releases: names that nothing proved. */
        approvers: Type.Optional(Type.Array(PlainId, { minItems: 2, maxItems: 2 })),
        receiver: Type.Optional(PlainId),
        /** It is an evidence pack for this one; size, bytes and hash are those of the log's bundle in it. */
        framework: Type.Optional(Code),
        /** The period that was asked for: not before the one, and before the other. */
        from: Type.Optional(Instant),
        to: Type.Optional(Instant),
        /** Of an evidence pack over several shards: the bundle of each. */
        shards: Type.Optional(
          Type.Array(
            Type.Object({ origin: Origin, size: Count, bundle_sha256: Sha256Hex }, closed),
            { maxItems: MAX_EXPORTED_SHARDS },
          ),
        ),
        /** It is the journal of model calls: so many lines, of one deployment where one is named; bytes and hash are that file's. */
        calls: Type.Optional(Count),
        deployment: Type.Optional(PlainId),
      },
      closed,
    ),
    { maxOpenMs: HOUR },
  ),
  "audit.read": fact(
    "log",
    "Entries of the log were read.",
    Type.Object({ entries: Count }, closed),
  ),
  "audit.search": fact(
    "log",
    "Entries of the log were searched for.",
    Type.Object(
      { filters: Type.Array(Code, { maxItems: 16 }), entries: Count, more: Type.Boolean() },
      closed,
    ),
  ),
  "audit.producer.start": fact(
    "producer",
    "auditd admitted a new life of a producer, and states where the previous one ended.",
    Type.Object(
      {
        boot: Boot,
        first_pseq: Count,
        prev_boot: Type.Union([Boot, Type.Null()]),
        prev_pseq: Count,
      },
      closed,
    ),
  ),
  "audit.wal.cut": fact(
    "log",
    "An incomplete last batch, never acknowledged, was cut off at start.",
    Type.Object({ index: Count, bytes: Count }, closed),
  ),
  "audit.rejected": fact(
    "producer",
    "An event was refused. Where `taken` is true this leaf stands in its place in the producer's sequence.",
    Type.Object(
      {
        type: Type.Union([Code, Type.Null()]),
        sha256: Sha256Hex,
        bytes: Count,
        reason: Code,
        boot: Type.Union([Boot, Type.Null()]),
        pseq: Type.Union([Count, Type.Null()]),
        taken: Type.Boolean(),
      },
      closed,
    ),
  ),
  "audit.lost": fact(
    "producer",
    "A producer holds an acknowledgement that the log does not bear out.",
    Type.Object({ index: Count, leaf_sha256: Sha256Hex, size: Count }, closed),
  ),
  "audit.disk": fact(
    "log",
    "The disk of the log came near its end, or recovered.",
    Type.Object({ free_bytes: Count, ballast_bytes: Count, draining: Type.Boolean() }, closed),
  ),
  "audit.stop": fact("log", "auditd stops in good order; nothing follows in this life.", NoDetail),
  "audit.clock.vouched": fact(
    "log",
    "An officer vouched for the host's clock, until it is set or auditd ends: the log may turn to the new year by it, and retention may end what is over.",
    NoDetail,
  ),
  "audit.shard.open": fact(
    "log",
    "The first entry of a shard: which one it follows, and why it began.",
    Type.Object(
      {
        reason: Type.Union([Type.Literal("first"), Type.Literal("year"), Type.Literal("restore")]),
        prev_origin: Type.Union([Origin, Type.Null()]),
        prev_size: Count,
        prev_root: Type.Union([Sha256Hex, Type.Null()]),
        /** The most that the witness, an exporter or a producer had seen of the previous one; above `prev_size` entries were lost. */
        seen_size: Count,
        seen_root: Type.Union([Sha256Hex, Type.Null()]),
        /** Shards that had followed the previous one and are gone as a whole, and the most that was seen of each. */
        lost: Type.Optional(
          Type.Array(
            Type.Object(
              { origin: Origin, size: Count, root: Type.Union([Sha256Hex, Type.Null()]) },
              closed,
            ),
            {
              minItems: 1,
              maxItems: 16,
            },
          ),
        ),
        /** The coordinator's highest generation so far. */
        generation: Count,
        /** Of older releases, beside `unproven`. */
        approvers: Type.Optional(Type.Array(PlainId, { minItems: 2, maxItems: 2 })),
        ...Unproven,
        ...ClaimedApprovers,
      },
      closed,
    ),
  ),
  "audit.shard.next": fact(
    "log",
    "The next shard is prepared: its origin and its keys, signed under this one's.",
    Type.Object(
      { origin: Origin, keys: Type.Array(VerifierKey, { minItems: 1, maxItems: 4 }) },
      closed,
    ),
  ),
  "audit.shard.close": fact(
    "log",
    "The last entry of a shard.",
    Type.Object({ next_origin: Origin, open_operations: Count }, closed),
  ),
  "audit.shard.delete": operation(
    "log",
    "A shard past its retention was deleted; the first entry of the one that followed it still names its last tree.",
    Type.Object(
      {
        origin: Origin,
        size: Count,
        root: Sha256Hex,
        last_at: Type.Optional(Instant),
        before: Type.Optional(Instant),
      },
      closed,
    ),
    { maxOpenMs: DAY },
  ),
  "audit.op.carried": fact(
    "log",
    "An operation of the previous shard that was open when it closed; its outcome stands in this one.",
    Type.Object(
      {
        origin: Origin,
        index: Count,
        leaf_sha256: Sha256Hex,
        type: Code,
        prod: ProducerName,
        requested_at: Instant,
        logged_at: Instant,
      },
      closed,
    ),
  ),
  "audit.witness.lag": fact(
    "log",
    "For more than 15 minutes no checkpoint was cosigned by the policy's quorum, or one was again.",
    Type.Object(
      { since_s: Count, witnessed_size: Count, size: Count, over: Type.Boolean() },
      closed,
    ),
  ),
  "audit.policy": operation(
    "log",
    "The trust policy was changed: witnesses, quorum.",
    Type.Object(
      {
        policy_sha256: Sha256Hex,
        witnesses: Count,
        ...ApprovedBy,
      },
      closed,
    ),
  ),
  "audit.sink": fact(
    "log",
    "A receiver of exported events failed, or took them again: nothing is lost meanwhile. Or damaged entries were passed over, as its configuration says.",
    Type.Object(
      {
        ...{ sink: Code, state: Code, cursor: Count, size: Count },
        /** Of one shard, from one entry up to before another; without `to`, to its end. */
        passed: Type.Optional(
          Type.Object({ shard: Code, from: Count, to: Type.Optional(Count) }, closed),
        ),
      },
      closed,
    ),
  ),
  "audit.heartbeat": fact(
    "log",
    "Once a minute: the last sequence number of each producer.",
    Type.Object(
      {
        /** In order of their names; of more than {@link MAX_HEARTBEAT_PRODUCERS} the digest stands instead. */
        producers: Type.Optional(
          Type.Array(Type.Object({ prod: ProducerName, boot: Boot, pseq: Count }, closed), {
            maxItems: MAX_HEARTBEAT_PRODUCERS,
          }),
        ),
        /** SHA-256 over `prod ‖ 0x20 ‖ boot ‖ 0x20 ‖ pseq ‖ 0x0A` of each, in order of their names: whoever reads the log knows the same. */
        vector: Type.Optional(Type.Object({ producers: Count, sha256: Sha256Hex }, closed)),
        /** Who should have a connection now and has none; absent where it was not looked at. */
        away: Type.Optional(Type.Array(ProducerName, { maxItems: 64 })),
        open_operations: Count,
      },
      closed,
    ),
  ),
} as const satisfies Record<string, CatalogueEntry>;
