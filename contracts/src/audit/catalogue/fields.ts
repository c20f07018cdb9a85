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
