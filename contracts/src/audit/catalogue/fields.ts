/** Fields that details of several subjects have. */
import { Type } from "typebox";
import { Count, PlainId, Sha256Hex } from "../audit-event.ts";

export const Fenced = {
  generation: Type.Optional(Count),
  counter: Type.Optional(Count),
  node: Type.Optional(PlainId),
  member: Type.Optional(PlainId),
};

/** SHA-256 of a presigned URL's signature: pairs the record of its issue with the S3 door's record of its use. */
export const OfUrl = { url_sha256: Type.Optional(Sha256Hex) };
/** SHA-256 of the id of a multipart upload: pairs its opening, its end, and what the S3 door saw. */
export const OfUpload = { upload_sha256: Type.Optional(Sha256Hex) };
/**
 * Whose key the request named, where its signature was not, or not yet, checked: the entry's actor is `unproven` then. The outcome of an operation
 * names as actor who it was.
 */
export const Claimed = { claimed: Type.Optional(PlainId) };

/** Refusals of one source and kind after the first of a minute, in one record: how many, and in how many seconds. A record without them is one refusal. */
export const Repeated = { count: Type.Optional(Count), window_s: Type.Optional(Count) };

/** What was done for a request: which one, who asked, who agreed. Entries of older releases name the request alone. */
export const ByRequest = {
  approval: Type.Optional(PlainId),
  requester: Type.Optional(PlainId),
  approvers: Type.Optional(Type.Array(PlainId, { minItems: 1, maxItems: 2 })),
  /** Nobody else was there who could have agreed. */
  single_person: Type.Optional(Type.Boolean()),
};
/**
 * Two people agreed, and whoever did it has checked their signatures: as {@link ByRequest}, and SHA-256 of both tokens. Older entries have two approvers
 * whose names nothing proved.
 */
export const ApprovedBy = {
  ...ByRequest,
  signatures: Type.Optional(Type.Array(Sha256Hex, { minItems: 1, maxItems: 2 })),
};
/** Entries of older releases: people were named beside it, and nothing proves that they agreed. */
export const Unproven = { unproven: Type.Optional(Type.Literal(true)) };
const UnprovenNames = { proof: Type.Literal("unproven") };
const Approvers = Type.Optional(Type.Array(PlainId, { minItems: 1, maxItems: 2 }));
/** As {@link ClaimedPeople}, of what nobody asks for by name. */
export const ClaimedApprovers = {
  claimed: Type.Optional(
    Type.Object({ approvers: Approvers, ...UnprovenNames }, { additionalProperties: false }),
  ),
};
/** People whose names somebody typed at the host: nothing proves that they asked or agreed. The entry's actor is who gave the command. */
export const ClaimedPeople = {
  claimed: Type.Optional(
    Type.Object(
      {
        requester: Type.Optional(PlainId),
        approvers: Approvers,
        ...UnprovenNames,
      },
      { additionalProperties: false },
    ),
  ),
};
