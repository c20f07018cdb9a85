/** `/api/approvals`, `/api/people`: what needs a second person, and who there is. */
import { type Static, Type } from "typebox";
import { MAX_POLICY_LENGTH } from "../audit/audit-control.ts";
import { Code, PlainId, Sha256Hex, ShardName } from "../audit/audit-event.ts";
import { DisclosedSubjects } from "../audit/vault-control.ts";
import { ImageDigest, ImageName } from "../image/own-image.ts";
import { Instant } from "./http-common.ts";
import { shareChange } from "./http-shares.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

const UserId = Type.String({ minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9._-]+$" });
const Reason = Type.Optional(
  Type.String({ minLength: 1, maxLength: 500, pattern: "^[^\\x00-\\x1f\\x7f]*$" }),
);
/** Of one request. */
export const MAX_EXPORTED_FILES = 500;
/** Roles of the whole appliance that are given by two people. */
export const GIVEN_ROLES = [
  "platform-admin",
  "security-officer",
  "compliance-auditor",
  "data-steward",
] as const;

/** What is asked for. */
export const RoleChange = Type.Object(
  {
    kind: Type.Literal("role"),
    userId: UserId,
    role: Type.Enum([...GIVEN_ROLES]),
    change: Type.Enum(["grant", "revoke"]),
  },
  closed,
);
/** The person sets up a new one at the next sign-in. */
export const SecondFactorReset = Type.Object(
  { kind: Type.Literal("second-factor"), userId: UserId },
  closed,
);
export const QuotaChange = Type.Object(
  {
    kind: Type.Literal("quota"),
    projectId: UserId,
    bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  },
  closed,
);
/** Who may do what from then on: all files of a set, by name. */
export const PolicyChange = Type.Object(
  {
    kind: Type.Literal("policy"),
    files: Type.Record(
      Type.String({ pattern: "^[a-z0-9][a-z0-9.-]{0,80}$" }),
      Type.String({ maxLength: 200_000 }),
      { minProperties: 1, maxProperties: 100 },
    ),
  },
  closed,
);
/** What opens a person's values in the audit log is destroyed. The vault does it, and checks both signatures itself. */
export const Erasure = Type.Object(
  {
    kind: Type.Literal("erasure"),
    /** The person's pseudonym in the log. */
    subject: PlainId,
    /** Name of the person's request in the operator's own files. */
    request: PlainId,
    legalBasis: Code,
  },
  closed,
);
/** While it stands nothing of the person is erased, by request or by age. One signature, which the vault checks. */
export const LegalHold = Type.Object(
  {
    kind: Type.Literal("hold"),
    /** The person's pseudonym in the log. */
    subject: PlainId,
    /** The hold's name in the operator's own files. */
    hold: PlainId,
  },
  closed,
);
/** The hold ends. The vault does it, and checks both signatures itself. */
export const HoldLift = Type.Object(
  { kind: Type.Literal("lift"), subject: PlainId, hold: PlainId },
  closed,
);
/** What these people's entries of one shard hold is opened for somebody. The vault does it, and checks both signatures itself. */
export const Disclosure = Type.Object(
  {
    kind: Type.Literal("disclosure"),
    /** Such as `2026`. */
    shard: ShardName,
    /** Kept in ascending order. */
    subjects: DisclosedSubjects,
    /** Who gets the file. */
    receiver: PlainId,
  },
  closed,
);
/** The audit log's trust policy: witnesses, quorum. auditd changes it, and checks both signatures itself. */
export const AuditPolicyChange = Type.Object(
  {
    kind: Type.Literal("audit-policy"),
    /** Text without control characters, and without halves of characters: those have no canonical form that could be signed. */
    policy: Type.String({
      ...{ minLength: 1, maxLength: MAX_POLICY_LENGTH },
      pattern: "^[\\t\\n\\x20-\\x7e\\u00a0-\\ud7ff\\ue000-\\uffff]*$",
    }),
  },
  closed,
);
/** Versions of a job's outputs that whoever asks may read for a day, where the project's outputs leave by approval alone. */
export const OutputExport = Type.Object(
  {
    kind: Type.Literal("export"),
    jobId: UserId,
    /** As `GET /api/tasks/:id/outputs` lists them. */
    files: Type.Array(
      Type.Object(
        {
          key: Type.String({ minLength: 1, maxLength: 1024 }),
          versionId: Type.String({ minLength: 1, maxLength: 128 }),
          sha256: Sha256Hex,
        },
        closed,
      ),
      { minItems: 1, maxItems: MAX_EXPORTED_FILES },
    ),
  },
  closed,
);
/** An image of the customer's own: whoever has its file on the host may admit it by this request. */
export const ImageAdmission = Type.Object(
  { kind: Type.Literal("image"), name: ImageName, digest: ImageDigest },
  closed,
);
/** Another guarantee, limit or weight of an organisation, a team or a project. What is left out stays. */
export const ShareLowering = Type.Object(
  { kind: Type.Literal("share"), share: UserId, ...shareChange },
  closed,
);
export const Requested = Type.Union([
  RoleChange,
  SecondFactorReset,
  QuotaChange,
  PolicyChange,
  Erasure,
  LegalHold,
  HoldLift,
  Disclosure,
  AuditPolicyChange,
  OutputExport,
  ImageAdmission,
  ShareLowering,
]);
export type Requested = Static<typeof Requested>;
export type ApprovalKind = Requested["kind"];
/** Whoever asks for these, or approves them, signs by a second factor; who performs them checks it. */
export const SIGNED_KINDS = [
  "erasure",
  "hold",
  "lift",
  "disclosure",
  "audit-policy",
] as const satisfies readonly ApprovalKind[];
/** Of these the signature of whoever asks is enough: nobody else answers them. */
export const SELF_ANSWERED_KINDS = ["hold"] as const satisfies readonly ApprovalKind[];

export const ApprovalBody = Type.Object({ what: Requested, reason: Reason }, closed);
/** What is to be signed of a request. */
export const SignBody = Type.Object({ answer: Type.Enum(["request", "approve"]) }, closed);
/** Where the browser goes to sign. */
export const SignReply = Type.Object({ location: Type.String() }, closed);
export type SignReply = Static<typeof SignReply>;
export const AnswerBody = Type.Object({ reason: Reason }, closed);

export const APPROVAL_STATES = ["requested", "approved", "denied", "withdrawn", "expired"] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

const Person = Type.Object({ id: Type.String(), username: Type.String() }, closed);

/** One thing that a request would change; null is nothing at all. */
const RequestedChange = Type.Object(
  { what: Type.String(), before: Nullable(Type.String()), after: Nullable(Type.String()) },
  closed,
);
export type RequestedChange = Static<typeof RequestedChange>;

export const ApprovalReply = Type.Object(
  {
    id: Type.String(),
    what: Requested,
    /** In words: what would be different afterwards. */
    summary: Type.String(),
    /** Of a request that waits: what holds now, and what would. Empty once it is answered. */
    changes: Type.Array(RequestedChange),
    state: Type.Enum([...APPROVAL_STATES]),
    requester: Person,
    decider: Nullable(Person),
    reason: Nullable(Type.String()),
    /** Of the one who asked: needed before anybody can approve; null where this kind needs none. */
    isSigned: Nullable(Type.Boolean()),
    /** It passed without a second person, because there was none. */
    singlePerson: Type.Boolean(),
    createdAt: Instant,
    expiresAt: Instant,
    decidedAt: Nullable(Instant),
  },
  closed,
);
export type ApprovalReply = Static<typeof ApprovalReply>;

export const PeopleQuery = Type.Object(
  {
    /** Why somebody wants to know who these people are; the audit log keeps it sealed. */
    reason: Reason,
  },
  closed,
);
export type PeopleQuery = Static<typeof PeopleQuery>;

export const PersonReply = Type.Object(
  {
    id: Type.String(),
    username: Type.String(),
    roles: Type.Array(Type.String()),
    /** Projects of teams of which the person is a member by a lead's word. */
    projects: Type.Array(
      Type.Object({ projectId: Type.String(), name: Type.String(), role: Type.String() }, closed),
    ),
    isDisabled: Type.Boolean(),
    /** When the host's root made an administrator of the person; null once a second person has acknowledged it. */
    restoredAt: Nullable(Instant),
    /** Keycloak knows the person. */
    canSignIn: Type.Boolean(),
    createdAt: Instant,
  },
  closed,
);
export type PersonReply = Static<typeof PersonReply>;
