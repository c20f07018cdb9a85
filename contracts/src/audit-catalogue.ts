/**
 * The closed catalogue of audit event types: which phases each may have, whom its object names, what its `detail` says.
 * docs/auditor/events.md lists the same types; a test fails when they differ. A type never changes meaning.
 */
import { type Static, type TSchema, Type } from "typebox";
import {
  Boot,
  Code,
  Count,
  ENVELOPE_FIELDS,
  type EventPhase,
  Instant,
  type ObjectKind,
  Origin,
  PlainId,
  ProducerName,
  Sha256Hex,
} from "./audit-event.ts";
import { JOB_STATES, type JobState, MEMBER_STATES } from "./job-states.ts";

const closed = { additionalProperties: false } as const;
const NoDetail = Type.Object({}, closed);
/** C2SP signed-note vkey; ML-DSA-44 keys have 1,752 characters of base64. */
const VerifierKey = Type.String({ pattern: "^[^\\s+]{1,255}\\+[0-9a-f]{8}\\+[A-Za-z0-9+/=]{40,1800}$" });
/** Of a file, as the release lists it. */
const ReleasePath = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9@._+/-]{0,127}$" });
const JobStateName = Type.Enum([...JOB_STATES]);
const MemberStateName = Type.Enum([...MEMBER_STATES]);

/** One `requested` before the effect, one outcome after it. */
const OPERATION = ["requested", "completed", "failed", "denied"] as const satisfies EventPhase[];
/** One record, durable before the answer, or written with the transition it tells of. */
const FACT = ["fact"] as const satisfies EventPhase[];
const OPERATION_OR_FACT = [...OPERATION, ...FACT] as const;

/** A heartbeat names so many producers at most; fewer where their names are long, because a leaf holds 16 KiB. */
export const MAX_HEARTBEAT_PRODUCERS = 200;

/** What one part runs. */
export const MAX_MEASURED_FILES = 48;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** As the caller saw it. */
const Status = Type.Integer({ minimum: 100, maximum: 599 });

export type CatalogueEntry = {
  phases: readonly EventPhase[];
  object: ObjectKind;
  /** One line for the auditor. */
  meaning: string;
  detail: TSchema;
  /** Milliseconds after which an operation without outcome is a finding and no longer merely open. */
  maxOpenMs: number;
  /** `false`: new operations of this type are refused while the log's disk is nearly full. */
  whileDraining: boolean;
};

/** What can't be opened any more, by shard: count, and RFC 6962 root over `index ‖ 0x0A ‖ field ‖ 0x0A ‖ commitment` in order of index and field. */
const Erased = Type.Array(Type.Object({ origin: Origin, commitments_count: Count, commitments_root: Sha256Hex }, closed), {
  maxItems: 32,
});

const JobTransition = Type.Object(
  {
    /** Null for the first state of a job. */
    from: Type.Union([JobStateName, Type.Null()]),
    to: JobStateName,
    reason: Type.Optional(Code),
    attempt: Type.Optional(PlainId),
    attempt_no: Type.Optional(Count),
    generation: Type.Optional(Count),
    counter: Type.Optional(Count),
  },
  closed,
);

const transition = (meaning: string) =>
  ({ phases: FACT, object: "job", meaning, detail: JobTransition, maxOpenMs: 0, whileDraining: true }) as const;

const operation = <D extends TSchema>(
  object: ObjectKind,
  meaning: string,
  detail: D,
  rest?: { maxOpenMs?: number; whileDraining?: boolean },
) =>
  ({
    phases: OPERATION,
    object,
    meaning,
    detail,
    maxOpenMs: rest?.maxOpenMs ?? 5 * MINUTE,
    whileDraining: rest?.whileDraining ?? true,
  }) as const;

const fact = <D extends TSchema>(object: ObjectKind, meaning: string, detail: D) =>
  ({ phases: FACT, object, meaning, detail, maxOpenMs: 0, whileDraining: true }) as const;

/** What happened elsewhere and was found afterwards: `source` says where, `lag_ms` how long after. */
const observed = <D extends Record<string, TSchema>>(object: ObjectKind, meaning: string, detail: D) =>
  ({
    phases: ["observed"],
    object,
    meaning,
    detail: Type.Object({ source: Code, at: Instant, lag_ms: Count, ...detail }, closed),
    maxOpenMs: 0,
    whileDraining: true,
  }) as const;

const Fenced = {
  generation: Type.Optional(Count),
  counter: Type.Optional(Count),
  node: Type.Optional(PlainId),
  member: Type.Optional(PlainId),
};

/** Which job, attempt and fence a node speaks of. */
const OfMember = { job: PlainId, attempt: PlainId, generation: Count, counter: Count };
/** SHA-256 of a presigned URL's signature: pairs the record of its issue with the S3 door's record of its use. */
const OfUrl = { url_sha256: Type.Optional(Sha256Hex) };
/** SHA-256 of the id of a multipart upload: pairs its opening, its end, and what the S3 door saw. */
const OfUpload = { upload_sha256: Type.Optional(Sha256Hex) };

/**
 * Whose key the request named, where its signature was not, or not yet, checked: the entry's actor is `unproven` then. The outcome of an operation
 * names as actor who it was.
 */
const Claimed = { claimed: Type.Optional(PlainId) };
/** The finished job whose output it was. */
const OfOutput = { job: Type.Optional(PlainId) };

export const EVENT_CATALOGUE = {
  // ── auth, iam ─────────────────────────────────────────────────────────────────────────────────────────────────────────
  "auth.failure": fact(
    "appliance",
    "Requests refused for a missing, malformed, revoked or expired credential; repeats from one source are counted for a minute.",
    Type.Object({ reason: Code, count: Count, window_s: Count }, closed),
  ),
  "auth.refused": fact(
    "appliance",
    "A known actor asked for something that its role or project does not allow.",
    Type.Object({ reason: Code, ...Claimed }, closed),
  ),
  "auth.host.login": observed(
    "appliance",
    "Somebody signed in at the host itself: console, SSH; its name and address are commitments.",
    {
      /** Of the session's first process, as the host has it: pairs sign-in and sign-out. */
      pid: Count,
    },
  ),
  "auth.host.logout": observed("appliance", "A session at the host itself ended.", { pid: Count }),
  "iam.user.create": operation(
    "user",
    "A user was made, with default project.",
    Type.Object({ admin: Type.Optional(Type.Boolean()) }, closed),
  ),
  "iam.user.change": operation(
    "user",
    "A user was disabled or enabled, or was given another quota.",
    Type.Object({ change: Type.Enum(["disabled", "enabled", "quota"]), quota_bytes: Type.Optional(Count) }, closed),
  ),
  "iam.node.change": operation(
    "node",
    "A node was taken out of placement, or given back to it.",
    Type.Object({ change: Type.Enum(["drained", "undrained"]) }, closed),
  ),
  "iam.project.create": operation("project", "A project was made.", NoDetail),
  "iam.node.join-token": operation(
    "node",
    "A one-use token to join a node was made.",
    Type.Object({ ttl_s: Type.Optional(Count) }, closed),
  ),
  "iam.node.join": operation(
    "node",
    "A node used its token and received its certificate.",
    Type.Object({ certificate_sha256: Type.Optional(Sha256Hex) }, closed),
  ),
  "iam.node.register": fact(
    "node",
    "A node registered and received a new epoch; the older one is void.",
    Type.Object({ generation: Count, counter: Count, workers: Type.Optional(Count) }, closed),
  ),
  "iam.node.lost": fact(
    "node",
    "A node did not answer in time; its members are fenced.",
    Type.Object({ generation: Count, counter: Count }, closed),
  ),

  // ── job ───────────────────────────────────────────────────────────────────────────────────────────────────────────────
  "job.submit": operation(
    "job",
    "A task was submitted.",
    Type.Object(
      {
        shards: Type.Optional(Count),
        inputs: Type.Optional(Count),
        input_bytes: Type.Optional(Count),
        key_in_script: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
    { whileDraining: false },
  ),
  "job.cancel": operation("job", "A job was asked to stop; its end is a transition of its own.", NoDetail),
  "job.accepted": transition("The job's row was made."),
  "job.queued": transition("The job waits for workers."),
  "job.held": transition("The job waits for a person; `reason` says why."),
  "job.placed": transition("Workers were reserved for the whole gang."),
  "job.provisioning": transition("Containers and networks are being made."),
  "job.staging": transition("Inputs and images are being fetched."),
  "job.started": transition("The payload runs, all members present."),
  "job.preempting": transition("The job makes way for another."),
  "job.recovering": transition("An infrastructure fault ended the attempt."),
  "job.finalizing": transition("The payload ended well; outputs are being stored."),
  "job.stopping": transition("The job is being stopped; `reason` says why."),
  "job.finished": transition("The job ended with its outputs stored."),
  "job.failed": transition("The job ended without success; `reason` says why."),
  "job.cancelled": transition("The job was stopped on request."),
  "job.expired": transition("The job ran out of its stated time."),
  "job.rejected": transition("Quota or policy refused the job."),
  "job.member": fact(
    "member",
    "One part of an attempt changed its state.",
    Type.Object(
      {
        job: PlainId,
        attempt: PlainId,
        role: Code,
        node: Type.Optional(PlainId),
        from: Type.Union([MemberStateName, Type.Null()]),
        to: MemberStateName,
        generation: Count,
        counter: Count,
        reason: Type.Optional(Code),
      },
      closed,
    ),
  ),

  // ── what a node's own agent says, signed with its key ─────────────────────────────────────────────────────────────────────
  "job.node.image": fact(
    "member",
    "A node's agent asked its engine for the image of a member by digest, and has it.",
    Type.Object({ ...OfMember, pulled: Type.Boolean() }, closed),
  ),
  "job.node.staged": fact(
    "member",
    "Inputs and image of a member are in place on its node.",
    Type.Object({ ...OfMember, bytes: Count, inputs: Count }, closed),
  ),
  "job.node.started": fact(
    "member",
    "A node's agent started the container of a member.",
    Type.Object({ ...OfMember, container: PlainId }, closed),
  ),
  "job.node.ended": fact(
    "member",
    "The container of a member ended; its exit code as the node's engine has it.",
    Type.Object({ ...OfMember, exit_code: Type.Integer({ minimum: 0, maximum: 255 }), out_of_memory: Type.Boolean() }, closed),
  ),
  "job.node.failed": fact(
    "member",
    "A member failed on its node; `reason` says why.",
    Type.Object({ ...OfMember, reason: Code }, closed),
  ),
  "job.node.released": fact(
    "member",
    "A node's agent looked whether anything of a member is left: processes, disk, use of devices.",
    Type.Object(
      { ...OfMember, processes_gone: Type.Boolean(), disk_gone: Type.Boolean(), devices_at_baseline: Type.Boolean() },
      closed,
    ),
  ),
  "job.node.lease-lost": fact(
    "node",
    "The lease of a node lapsed: its agent ends every member.",
    Type.Object({ members: Count }, closed),
  ),
  "model.node.output": fact(
    "member",
    "One file left a node for the object store, with its digest as the node computed it.",
    Type.Object({ ...OfMember, bytes: Count, area: Code }, closed),
  ),

  // ── key ───────────────────────────────────────────────────────────────────────────────────────────────────────────────
  "key.mint": operation(
    "key",
    "A platform key was made.",
    Type.Object({ expires_in_s: Type.Optional(Count), project: Type.Optional(PlainId) }, closed),
  ),
  "key.bootstrap": operation(
    "key",
    "The first platform key of a user was made by the operator.",
    Type.Object({ expires_in_s: Type.Optional(Count), project: Type.Optional(PlainId) }, closed),
  ),
  "key.renew": operation(
    "key",
    "The life of a platform key was extended; its secret stays the same.",
    Type.Object({ expires_in_s: Count }, closed),
  ),
  "key.revoke": operation("key", "A platform key was revoked.", NoDetail),
  "key.list": fact("user", "A user's platform keys were listed.", Type.Object({ count: Type.Optional(Count) }, closed)),
  "key.bucket.rotate": operation("bucket", "A bucket's key pair was replaced; the old pair is void.", NoDetail),
  "key.registry.token": fact("node", "A token to pull an image was issued to a node.", Type.Object(Fenced, closed)),
  "key.certificate.issue": fact(
    "node",
    "A certificate was signed for a key made on a node.",
    Type.Object({ ...Fenced, identity: Code, certificate_sha256: Sha256Hex }, closed),
  ),

  // ── data, model ───────────────────────────────────────────────────────────────────────────────────────────────────────
  "data.bucket.create": operation(
    "bucket",
    "A bucket was made, versioned.",
    Type.Object({ quota_bytes: Type.Optional(Count) }, closed),
  ),
  "data.bucket.read": fact("bucket", "A bucket's name and address were read.", NoDetail),
  "data.versions.collect": operation(
    "bucket",
    "Old versions that no living job needs were removed.",
    Type.Object({ versions: Type.Optional(Count), bytes: Type.Optional(Count) }, closed),
    { maxOpenMs: HOUR },
  ),
  "data.bucket.usage": fact("bucket", "A bucket's usage was read.", NoDetail),
  "data.upload.init": operation(
    "object",
    "A multipart upload was opened and its part URLs issued.",
    Type.Object(
      {
        bucket: Type.Optional(PlainId),
        bytes: Type.Optional(Count),
        parts: Type.Optional(Count),
        ttl_s: Type.Optional(Count),
        ...OfUpload,
      },
      closed,
    ),
    { whileDraining: false },
  ),
  "data.upload.complete": operation(
    "object",
    "A multipart upload was completed.",
    Type.Object({ bucket: Type.Optional(PlainId), parts: Type.Optional(Count), ...OfUpload }, closed),
    { maxOpenMs: HOUR },
  ),
  "data.upload.abort": operation(
    "object",
    "A multipart upload was aborted.",
    Type.Object({ bucket: Type.Optional(PlainId), ...OfUpload }, closed),
  ),
  "data.stage": fact(
    "object",
    "A URL to read one input was issued to the node of a member.",
    Type.Object({ ...Fenced, job: PlainId, bytes: Type.Optional(Count), ttl_s: Type.Optional(Count), ...OfUrl }, closed),
  ),
  "data.log.read": fact("job", "A job's log was read.", Type.Object({ bytes: Type.Optional(Count) }, closed)),
  "model.output.open": fact(
    "object",
    "A multipart upload for one output was opened and its part URLs issued to a member's node, or issued again.",
    Type.Object(
      {
        ...Fenced,
        job: PlainId,
        bytes: Type.Optional(Count),
        parts: Type.Optional(Count),
        ttl_s: Type.Optional(Count),
        again: Type.Optional(Type.Boolean()),
        export: Type.Optional(Type.Boolean()),
        ...OfUpload,
      },
      closed,
    ),
  ),
  "model.output": {
    phases: OPERATION_OR_FACT,
    object: "object",
    meaning: "One output of a job was stored, after the fence check.",
    detail: Type.Object(
      {
        ...Fenced,
        job: PlainId,
        bytes: Type.Optional(Count),
        /** A site's own file left the site, because its project lets such files out. */
        export: Type.Optional(Type.Boolean()),
        ...OfUpload,
      },
      closed,
    ),
    maxOpenMs: HOUR,
    whileDraining: true,
  },

  // ── data, as it passes the S3 front ───────────────────────────────────────────────────────────────────────────────────
  "data.object.read": fact(
    "object",
    "An object or its attributes were asked for at the S3 door; durable before the first byte was sent.",
    Type.Object(
      {
        bucket: Type.Optional(PlainId),
        status: Status,
        bytes: Type.Optional(Count),
        version: Type.Optional(Type.Boolean()),
        code: Type.Optional(Code),
        ...OfUrl,
        ...Claimed,
      },
      closed,
    ),
  ),
  "data.object.write": operation(
    "object",
    "An object was written or copied through the S3 door.",
    Type.Object(
      {
        bucket: Type.Optional(PlainId),
        bytes: Type.Optional(Count),
        copied: Type.Optional(Type.Boolean()),
        ...OfUrl,
        ...Claimed,
      },
      closed,
    ),
    { maxOpenMs: DAY },
  ),
  "data.object.multipart": operation(
    "object",
    "A multipart upload was opened, completed or aborted through the S3 door; its parts have no record of their own.",
    Type.Object({ bucket: Type.Optional(PlainId), step: Code, ...OfUpload, ...Claimed }, closed),
    { maxOpenMs: HOUR },
  ),
  "data.object.delete": operation(
    "object",
    "An object, or one version of it, was deleted through the S3 door; `job` says whose output it was.",
    Type.Object({ bucket: Type.Optional(PlainId), version: Type.Optional(Type.Boolean()), ...OfOutput, ...Claimed }, closed),
  ),
  "data.object.delete.listed": fact(
    "object",
    "One of the objects that a request for several deletions names; the operation is `data.bucket.delete`.",
    Type.Object({ bucket: Type.Optional(PlainId), version: Type.Optional(Type.Boolean()), ...OfOutput, ...Claimed }, closed),
  ),
  "data.object.delete.ended": fact(
    "object",
    "What became of one of the objects that a request for several deletions named: its outcome says whether it was deleted.",
    Type.Object({ bucket: Type.Optional(PlainId), version: Type.Optional(Type.Boolean()), ...OfOutput, ...Claimed }, closed),
  ),
  "data.object.change": operation(
    "object",
    "Tags, retention, legal hold or access list of an object were changed through the S3 door.",
    Type.Object({ bucket: Type.Optional(PlainId), aspect: Code, ...Claimed }, closed),
  ),
  "data.object.refused": fact(
    "object",
    "A request for an object was refused: at the S3 door or the API (quota, export control), or a read by the object store (signature, rights).",
    Type.Object(
      { bucket: Type.Optional(PlainId), status: Status, code: Code, bytes: Type.Optional(Count), ...OfUrl, ...Claimed },
      closed,
    ),
  ),
  "data.bucket.refused": fact(
    "bucket",
    "A request to list a bucket, or to read of its state, was refused by the object store: signature, rights.",
    Type.Object({ status: Status, code: Code, ...Claimed }, closed),
  ),
  "data.bucket.delete": operation(
    "bucket",
    "Several objects of a bucket were deleted in one request; each is named by a record `data.object.delete.listed`.",
    Type.Object({ objects: Count, ...Claimed }, closed),
    { maxOpenMs: HOUR },
  ),
  "data.bucket.list": fact(
    "bucket",
    "Objects, versions or open uploads of a bucket were listed at the S3 door.",
    Type.Object({ status: Status, code: Type.Optional(Code), ...Claimed }, closed),
  ),
  "data.bucket.inspect": fact(
    "bucket",
    "A bucket's existence, policy or configuration was read at the S3 door.",
    Type.Object({ status: Status, aspect: Code, code: Type.Optional(Code), ...Claimed }, closed),
  ),
  "data.bucket.change": operation(
    "bucket",
    "A bucket was made, removed, or its policy or configuration changed through the S3 door.",
    Type.Object({ aspect: Code, removed: Type.Optional(Type.Boolean()), ...Claimed }, closed),
  ),
  "data.buckets.list": fact(
    "appliance",
    "The buckets were listed at the S3 door.",
    Type.Object({ status: Status, code: Type.Optional(Code), ...Claimed }, closed),
  ),
  "key.store.change": operation(
    "key",
    "A key pair was made in or removed from the object store.",
    Type.Object({ removed: Type.Boolean(), ...Claimed }, closed),
  ),

  // ── privacy ───────────────────────────────────────────────────────────────────────────────────────────────────────────
  "privacy.erasure": {
    phases: OPERATION_OR_FACT,
    object: "user",
    meaning: "What opens a subject's commitments was destroyed; the fact that follows says that it was looked for and not found.",
    detail: Type.Object(
      {
        request: Type.Optional(PlainId),
        legal_basis: Type.Optional(Code),
        requester: Type.Optional(PlainId),
        approvers: Type.Optional(Type.Array(PlainId, { minItems: 2, maxItems: 2 })),
        erased: Type.Optional(Erased),
        /** From this time on no backup can open them. */
        final_after: Type.Optional(Instant),
        /** Times that values of this subject were disclosed before: beyond reach. */
        handed_out: Type.Optional(Count),
        /** Salts, keys and sealed values that the fact's search looked for in the vault's files, and did not find. */
        looked_for: Type.Optional(Count),
      },
      closed,
    ),
    maxOpenMs: HOUR,
    whileDraining: true,
  },
  "privacy.refusal": fact(
    "user",
    "An erasure was refused for a reason in law, until a date.",
    Type.Object(
      { request: Type.Optional(PlainId), legal_basis: Code, until: Instant, requester: Type.Optional(PlainId) },
      closed,
    ),
  ),
  "privacy.hold": operation(
    "user",
    "A legal hold was set or lifted: while it stands nothing of the subject is erased.",
    Type.Object(
      {
        hold: PlainId,
        lifted: Type.Boolean(),
        requester: Type.Optional(PlainId),
        approvers: Type.Optional(Type.Array(PlainId, { minItems: 1, maxItems: 2 })),
      },
      closed,
    ),
  ),
  "privacy.holds.confirm": fact(
    "log",
    "The vault's database had been put back or lost; people vouched that the legal holds which it now has are those of the log.",
    Type.Object({ holds: Count, requester: PlainId, approvers: Type.Array(PlainId, { minItems: 2, maxItems: 2 }) }, closed),
  ),
  "privacy.disclose": operation(
    "user",
    "Commitments of a subject were opened for somebody.",
    Type.Object(
      {
        commitments: Type.Optional(Count),
        receiver: PlainId,
        requester: Type.Optional(PlainId),
        approvers: Type.Optional(Type.Array(PlainId, { minItems: 2, maxItems: 2 })),
      },
      closed,
    ),
  ),
  "privacy.retention": operation(
    "log",
    "What opens commitments older than their retention class allows was destroyed.",
    Type.Object({ before: Instant, erased: Type.Optional(Erased), final_after: Type.Optional(Instant) }, closed),
    { maxOpenMs: HOUR },
  ),
  "privacy.spool": fact(
    "log",
    "The vault can't take over what opens commitments from this segment on, and can erase nothing; or it can again.",
    Type.Object({ origin: Origin, segment: Code, reason: Code, over: Type.Boolean() }, closed),
  ),
  "privacy.keys.restore": operation(
    "process",
    "Keys that open commitments were put back from a copy whose epoch lives; those that were destroyed on purpose stayed destroyed.",
    Type.Object({ restored: Type.Optional(Count), kept: Type.Optional(Count), destroyed: Type.Optional(Count) }, closed),
  ),

  // ── admin ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
  "admin.coordinator.start": fact(
    "process",
    "The coordinator started; fences of older generations are void.",
    Type.Object({ generation: Count, version: Code }, closed),
  ),
  "admin.install": operation(
    "appliance",
    "The appliance was installed.",
    Type.Object({ release_sha256: Type.Optional(Sha256Hex) }, closed),
    { maxOpenMs: HOUR },
  ),
  "admin.uninstall": operation("appliance", "The appliance was removed.", NoDetail, { maxOpenMs: HOUR }),
  "admin.start": operation("process", "A part was started.", NoDetail),
  "admin.stop": operation("process", "A part was stopped.", NoDetail),
  "admin.restart": operation("process", "A part was started again.", Type.Object({ reason: Type.Optional(Code) }, closed)),
  "admin.maintenance": operation(
    "appliance",
    "A planned stop was announced; leases live longer.",
    Type.Object({ until_s: Count }, closed),
  ),
  "admin.control": operation(
    "appliance",
    "A command of the operator on the coordinator's control socket.",
    Type.Object({ verb: Code, project: Type.Optional(PlainId), allowed: Type.Optional(Type.Boolean()) }, closed),
  ),
  "admin.measured": fact(
    "process",
    "Before a part was started, the files of the release that it runs were hashed; an image's digest stands under `digests`.",
    Type.Object(
      {
        /** In order of their paths in the release; a part runs few. */
        files: Type.Array(Type.Object({ path: ReleasePath, sha256: Sha256Hex }, closed), { maxItems: MAX_MEASURED_FILES }),
      },
      closed,
    ),
  ),
  "admin.refused": fact(
    "appliance",
    "An operator's command was refused before it did anything; `action` says which, `reason` why.",
    Type.Object({ reason: Code }, closed),
  ),
  "admin.clock.step": fact(
    "appliance",
    "The wall clock moved against the monotonic one by more than a second.",
    Type.Object({ step_ms: Type.Integer() }, closed),
  ),

  // ── audit ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
  "audit.export": operation(
    "log",
    "The log was exported.",
    Type.Object(
      {
        size: Type.Optional(Count),
        bytes: Type.Optional(Count),
        bundle_sha256: Type.Optional(Sha256Hex),
        /** The auditor's 32 bytes: an export that covers this leaf is no older than they are. */
        nonce: Type.Optional(Sha256Hex),
        /** Commitments opened in the export; only with two approvers and a receiver. */
        disclosed: Type.Optional(Count),
        approvers: Type.Optional(Type.Array(PlainId, { minItems: 2, maxItems: 2 })),
        receiver: Type.Optional(PlainId),
        /** It is an evidence pack for this one; size, bytes and hash are those of the log's bundle in it. */
        framework: Type.Optional(Code),
      },
      closed,
    ),
    { maxOpenMs: HOUR },
  ),
  "audit.read": fact("log", "Entries of the log were read.", Type.Object({ entries: Count }, closed)),
  "audit.search": fact(
    "log",
    "Entries of the log were searched for.",
    Type.Object({ filters: Type.Array(Code, { maxItems: 16 }), entries: Count, more: Type.Boolean() }, closed),
  ),
  "audit.producer.start": fact(
    "producer",
    "auditd admitted a new life of a producer, and states where the previous one ended.",
    Type.Object({ boot: Boot, first_pseq: Count, prev_boot: Type.Union([Boot, Type.Null()]), prev_pseq: Count }, closed),
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
          Type.Array(Type.Object({ origin: Origin, size: Count, root: Type.Union([Sha256Hex, Type.Null()]) }, closed), {
            minItems: 1,
            maxItems: 16,
          }),
        ),
        /** The coordinator's highest generation so far. */
        generation: Count,
        approvers: Type.Optional(Type.Array(PlainId, { minItems: 2, maxItems: 2 })),
      },
      closed,
    ),
  ),
  "audit.shard.next": fact(
    "log",
    "The next shard is prepared: its origin and its keys, signed under this one's.",
    Type.Object({ origin: Origin, keys: Type.Array(VerifierKey, { minItems: 1, maxItems: 4 }) }, closed),
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
      { origin: Origin, size: Count, root: Sha256Hex, last_at: Type.Optional(Instant), before: Type.Optional(Instant) },
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
    Type.Object({ since_s: Count, witnessed_size: Count, size: Count, over: Type.Boolean() }, closed),
  ),
  "audit.policy": operation(
    "log",
    "The trust policy was changed: witnesses, quorum.",
    Type.Object(
      { policy_sha256: Sha256Hex, witnesses: Count, approvers: Type.Array(PlainId, { minItems: 2, maxItems: 2 }) },
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
        passed: Type.Optional(Type.Object({ shard: Code, from: Count, to: Type.Optional(Count) }, closed)),
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
          Type.Array(Type.Object({ prod: ProducerName, boot: Boot, pseq: Count }, closed), { maxItems: MAX_HEARTBEAT_PRODUCERS }),
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

export type EventType = keyof typeof EVENT_CATALOGUE;
export const EVENT_TYPES = Object.keys(EVENT_CATALOGUE) as EventType[];
export type EventDetail<T extends EventType = EventType> = Static<(typeof EVENT_CATALOGUE)[T]["detail"]>;

/** The record that each arrival in a job state writes. */
export const JOB_STATE_EVENT = {
  ACCEPTED: "job.accepted",
  QUEUED: "job.queued",
  HELD: "job.held",
  RESERVED: "job.placed",
  PROVISIONING: "job.provisioning",
  STAGING: "job.staging",
  RUNNING: "job.started",
  PREEMPTING: "job.preempting",
  RECOVERING: "job.recovering",
  FINALIZING: "job.finalizing",
  STOPPING: "job.stopping",
  SUCCEEDED: "job.finished",
  FAILED: "job.failed",
  CANCELLED: "job.cancelled",
  EXPIRED: "job.expired",
  REJECTED: "job.rejected",
} as const satisfies Record<JobState, EventType>;

/** Types that a `requested` may open. */
export type OperationType = {
  [T in EventType]: "requested" extends (typeof EVENT_CATALOGUE)[T]["phases"][number] ? T : never;
}[EventType];
/** Types that may stand alone. */
export type FactType = { [T in EventType]: "fact" extends (typeof EVENT_CATALOGUE)[T]["phases"][number] ? T : never }[EventType];

/** The whole closed schema of one type, as a leaf has it. */
export function leafSchema(type: EventType): TSchema {
  return Type.Object({ ...ENVELOPE_FIELDS, ...narrowed(type) }, closed);
}

/** The same as a producer sends it: without what auditd adds. */
export function sentSchema(type: EventType): TSchema {
  const { prod: _prod, t_log: _tLog, ...sent } = ENVELOPE_FIELDS;
  return Type.Object({ ...sent, ...narrowed(type) }, closed);
}

function narrowed(type: EventType) {
  const entry: CatalogueEntry = EVENT_CATALOGUE[type];
  return {
    type: Type.Literal(type),
    phase: Type.Enum([...entry.phases]),
    detail: Type.Optional(entry.detail),
  };
}
