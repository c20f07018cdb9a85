/** Erasure, legal holds, disclosure, retention. */
import { Type } from "typebox";
import { Code, Count, Instant, Origin, PlainId, Sha256Hex } from "../audit-event.ts";
import { type CatalogueEntry, fact, HOUR, operation, OPERATION_OR_FACT } from "./entry.ts";
import { ApprovedBy, ClaimedPeople, Unproven } from "./fields.ts";
import { closed } from "../../closed.ts";

/** What can't be opened any more, by shard: count, and RFC 6962 root over `index ‖ 0x0A ‖ field ‖ 0x0A ‖ commitment` in order of index and field. */
const Erased = Type.Array(
  Type.Object({ origin: Origin, commitments_count: Count, commitments_root: Sha256Hex }, closed),
  {
    maxItems: 32,
  },
);

export const PRIVACY_EVENTS = {
  "privacy.erasure": {
    phases: OPERATION_OR_FACT,
    object: "user",
    meaning:
      "What opens a subject's commitments was destroyed; the fact that follows says that it was looked for and not found.",
    detail: Type.Object(
      {
        request: Type.Optional(PlainId),
        legal_basis: Type.Optional(Code),
        ...ApprovedBy,
        ...ClaimedPeople,
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
  "privacy.access": fact(
    "user",
    "A person, or a security officer for one, was given what the appliance holds about the person.",
    Type.Object(
      {
        /** Rows of the coordinator, and whether Keycloak has an account. */
        rows: Count,
        account: Type.Boolean(),
      },
      closed,
    ),
  ),
  "privacy.refusal": fact(
    "user",
    "An erasure was refused for a reason in law, until a date.",
    Type.Object(
      {
        request: Type.Optional(PlainId),
        legal_basis: Code,
        until: Instant,
        /** Of older releases: a name that nothing proved. */
        requester: Type.Optional(PlainId),
        ...ClaimedPeople,
      },
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
        /** One person signs a hold, two sign its lift. Without `signatures`: of an older release, names that nothing proved. */
        ...ApprovedBy,
        ...ClaimedPeople,
      },
      closed,
    ),
  ),
  "privacy.holds.confirm": fact(
    "log",
    "The vault's database had been put back or lost; people vouched that the legal holds which it now has are those of the log.",
    Type.Object(
      {
        holds: Count,
        /** Of older releases, as `approvers`: names that nothing proved. */
        requester: Type.Optional(PlainId),
        approvers: Type.Optional(Type.Array(PlainId, { minItems: 2, maxItems: 2 })),
        ...Unproven,
        ...ClaimedPeople,
      },
      closed,
    ),
  ),
  "privacy.disclose": operation(
    "user",
    "Commitments of a subject were opened for somebody.",
    Type.Object(
      {
        commitments: Type.Optional(Count),
        receiver: PlainId,
        /** Two people signed. Without `signatures`: of an older release, names that nothing proved. */
        ...ApprovedBy,
        /** Of older releases. */
        ...ClaimedPeople,
      },
      closed,
    ),
  ),
  "privacy.retention": operation(
    "log",
    "What opens commitments older than their retention class allows was destroyed.",
    Type.Object(
      { before: Instant, erased: Type.Optional(Erased), final_after: Type.Optional(Instant) },
      closed,
    ),
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
    Type.Object(
      {
        restored: Type.Optional(Count),
        kept: Type.Optional(Count),
        destroyed: Type.Optional(Count),
      },
      closed,
    ),
  ),
} as const satisfies Record<string, CatalogueEntry>;
