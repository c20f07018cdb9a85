/** Looking into the audit log: `GET /api/audit/events`, and the same on audit-out's own socket. */
import { type Static, Type } from "typebox";
import { EVENT_TYPES } from "../audit/audit-catalogue.ts";
import {
  Code,
  EVENT_PHASES,
  OBJECT_KINDS,
  PII_FIELDS,
  PlainId,
  ProducerName,
  Sha256Hex,
  Uuid,
} from "../audit/audit-event.ts";
import { QUESTION_IDS } from "../audit/questions/questions.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

/** Characters of what a person writes into a filter. */
const MAX_WRITTEN = 1_088;
const Written = Type.String({ minLength: 1, maxLength: MAX_WRITTEN });
/** As people write it; {@link AuditEventsQuery} says how. */
const WrittenTime = Type.String({ minLength: 1, maxLength: 40 });

/** Entries of one answer. */
export const MAX_EVENTS_PAGE = 1_000;
/** UTC; milliseconds may be left out. */
const Instant = Type.String({
  pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{3})?Z$",
});
/** Last part of a log's origin: `2026`, `2026-2`. */
const Shard = Type.String({ pattern: "^[0-9]{4}(-[1-9][0-9]{0,3})?$" });

/** Where an entry holds a personal value as a commitment, and so where it can be looked for. */
export const HOLDS_FIELDS = [
  ...([
    "actor.sid",
    "src.addr",
    "src.agent",
    "object.id",
    "digests.input",
    "digests.output",
  ] as const),
  ...PII_FIELDS.map((field) => `pii.${field}` as const),
] as const;

/** What may be asked of the log's index: exact forms. How people write it is {@link AuditEventsQuery}. */
export const AuditIndexQuery = Type.Object(
  {
    type: Type.Optional(Type.Enum(EVENT_TYPES)),
    prod: Type.Optional(ProducerName),
    phase: Type.Optional(Type.Enum([...EVENT_PHASES])),
    outcome: Type.Optional(Code),
    op: Type.Optional(Uuid),
    /** Who acted. */
    actor: Type.Optional(PlainId),
    /** A person whom the entry is about: the one whose rights changed, or who asked or agreed. */
    concerns: Type.Optional(PlainId),
    /** The approval that the entry is of, or that its effect rests on. */
    approval: Type.Optional(PlainId),
    kind: Type.Optional(Type.Enum([...OBJECT_KINDS])),
    /** Id of what it was done to. */
    object: Type.Optional(PlainId),
    /** With what that id begins: `job-7f` finds `job-7f3a`. */
    objectPrefix: Type.Optional(PlainId),
    /** Not before, by auditd's clock. */
    from: Type.Optional(Instant),
    /** Before. */
    to: Type.Optional(Instant),
    /** A personal value that the entry holds as a commitment, `FIELD=VALUE`. It is looked up by the vault, and written nowhere. */
    holds: Type.Optional(
      Type.String({
        pattern: `^(?:${HOLDS_FIELDS.map((field) => field.replace(".", "\\.")).join("|")})=`,
        minLength: 3,
        maxLength: 1_024,
      }),
    ),
    /** A folder, `bucket/jobs/study/`: entries of objects that lie in it, at any depth. It is looked up by the vault as well. */
    below: Type.Optional(
      Type.String({ pattern: "^[^/]+/(?:.*/)?$", minLength: 2, maxLength: MAX_WRITTEN }),
    ),
    order: Type.Enum(["newest", "oldest"], { default: "newest" }),
    limit: Type.Integer({ minimum: 1, maximum: MAX_EVENTS_PAGE, default: 100 }),
    /** Of the page before, with the very same filters. */
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  closed,
);
export type AuditIndexQuery = Static<typeof AuditIndexQuery>;

/** How an answer is arranged, and the period that it is about. */
const Paging = {
  /** Not before: a day in UTC, `2026-11-28`, a time, `2026-11-28 14:00` or with `Z` or an offset, `yesterday`, or how long ago, `7d`, `24h`, `30m`. */
  from: Type.Optional(WrittenTime),
  /** Before that time, in the same forms; a day counts whole. */
  to: Type.Optional(WrittenTime),
  order: AuditIndexQuery.properties.order,
  limit: AuditIndexQuery.properties.limit,
  /** Of the page before, with the very same filters. */
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 240 })),
};

/** A search as people write it. What can match no entry is refused as `search_invalid`, with what is allowed. */
export const AuditEventsQuery = Type.Object(
  {
    /** A type of `docs/auditor/events.md`. */
    type: Type.Optional(Written),
    prod: Type.Optional(Written),
    phase: Type.Optional(Written),
    /** `ok`, a code, or `refused` for all that was refused. */
    outcome: Type.Optional(Written),
    op: Type.Optional(Written),
    actor: Type.Optional(Written),
    /** A person whom the entry is about. */
    concerns: Type.Optional(Written),
    approval: Type.Optional(Written),
    kind: Type.Optional(Written),
    /** An id, or how it begins: `job-7f*`. */
    object: Type.Optional(Written),
    objectPrefix: Type.Optional(Written),
    /** `FIELD=VALUE`: `pii.username=anna`, `object.id=bucket/key`, `src.addr=10.0.0.7` or a range of at most 256 addresses, `src.addr=10.0.0.0/28`. */
    holds: Type.Optional(Written),
    below: Type.Optional(Written),
    /** A job that the caller may see: entries of the objects in its folder, of its logs and rounds, and of its inputs elsewhere. */
    objectsOf: Type.Optional(PlainId),
    ...Paging,
  },
  closed,
);
export type AuditEventsQuery = Static<typeof AuditEventsQuery>;

export const AuditQuestionParams = Type.Object({ question: Type.Enum(QUESTION_IDS) }, closed);
export type AuditQuestionParams = Static<typeof AuditQuestionParams>;
export const AuditQuestionQuery = Type.Object(
  {
    data: Type.Optional(Written),
    person: Type.Optional(Written),
    job: Type.Optional(Written),
    deployment: Type.Optional(Written),
    ...Paging,
  },
  closed,
);
export type AuditQuestionQuery = Static<typeof AuditQuestionQuery>;

/** The catalogue of questions: what each needs, what it takes beside a period, and what no entry shows of it. */
export const AuditQuestionsReply = Type.Object(
  {
    questions: Type.Array(
      Type.Object(
        {
          id: Type.Enum(QUESTION_IDS),
          title: Type.String(),
          needs: Type.Array(Type.String()),
          takes: Type.Array(Type.String()),
          limits: Type.String(),
          /** Types of event that bear on it by themselves. */
          types: Type.Array(Type.String()),
        },
        closed,
      ),
    ),
    /** What each parameter is. */
    parameters: Type.Record(Type.String(), Type.String()),
  },
  closed,
);
export type AuditQuestionsReply = Static<typeof AuditQuestionsReply>;

export const AuditEventParams = Type.Object(
  { index: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) },
  closed,
);
export const AuditEventQuery = Type.Object(
  {
    /** @default the newest shard */
    shard: Type.Optional(Shard),
  },
  closed,
);

/** What the index holds of an entry. */
export const AuditEventRow = Type.Object(
  {
    shard: Shard,
    index: Type.Integer({ minimum: 0 }),
    t_log: Type.String(),
    type: Type.String(),
    prod: Type.String(),
    phase: Type.String(),
    op: Type.String(),
    sub: Type.String(),
    onBehalfOf: Nullable(Type.String()),
    kind: Type.String(),
    object: Type.String(),
    outcome: Nullable(Type.String()),
    /** The approval that it is of, or that its effect rests on. */
    approval: Nullable(Type.String()),
    /** Stands for the address that it came from, the same for the same address; null where none is known, or its opening was erased. */
    source: Nullable(Type.String()),
    /** Stands for an object of the store, whose id is a commitment of one entry alone: the same for the same object; null where none is known, or its opening was erased. */
    handle: Nullable(Type.String()),
  },
  closed,
);
export type AuditEventRow = Static<typeof AuditEventRow>;

export const AuditEventsReply = Type.Object(
  {
    events: Type.Array(AuditEventRow),
    /** For the next page; null when nothing was looked at. */
    cursor: Nullable(Type.String()),
    more: Type.Boolean(),
    /** Entries that are proven and not yet indexed. */
    behind: Type.Integer({ minimum: 0 }),
    /** Shards of which entries may be missing here: they are damaged, or can't be read, and the operator's `GET /status` says why. */
    incomplete: Type.Array(Shard),
    /** Of a question about a job: false where nobody knows which objects are its own, and entries of them may be missing. */
    areObjectsKnown: Type.Optional(Type.Boolean()),
    /** Of an answer to `objectsOf`, or about a job: jobs with the same folder, whose entries can't be told from this one's. */
    sameFolder: Type.Optional(Type.Array(Type.String())),
  },
  closed,
);
export type AuditEventsReply = Static<typeof AuditEventsReply>;

export const AuditEventReply = Type.Object(
  {
    shard: Shard,
    index: Type.Integer({ minimum: 0 }),
    leafHash: Sha256Hex,
    /** The leaf, as the log has it. */
    event: Type.Unknown(),
    /** C2SP tlog-proof, for the offline verifier. */
    proof: Type.String(),
  },
  closed,
);
export type AuditEventReply = Static<typeof AuditEventReply>;

/** Entries of one answer, each with what proves it. */
export const MAX_PROOFS_PAGE = 100;

export const AuditProofsQuery = Type.Object(
  {
    ...AuditEventsQuery.properties,
    limit: Type.Integer({ minimum: 1, maximum: MAX_PROOFS_PAGE, default: MAX_PROOFS_PAGE }),
  },
  closed,
);
export type AuditProofsQuery = Static<typeof AuditProofsQuery>;

export const AuditQuestionProofsQuery = Type.Object(
  { ...AuditQuestionQuery.properties, limit: AuditProofsQuery.properties.limit },
  closed,
);
export type AuditQuestionProofsQuery = Static<typeof AuditQuestionProofsQuery>;

/** What {@link AuditEventsReply} says, with each entry's proof. */
export const AuditProofsReply = Type.Object(
  {
    ...AuditEventsReply.properties,
    events: Type.Array(
      Type.Object(
        {
          ...AuditEventRow.properties,
          leafHash: AuditEventReply.properties.leafHash,
          proof: AuditEventReply.properties.proof,
        },
        closed,
      ),
    ),
  },
  closed,
);
export type AuditProofsReply = Static<typeof AuditProofsReply>;
