/** `output-open`, `output-parts`, `output-complete`: a multipart upload that the coordinator creates and completes. */
import { type Static, Type } from "typebox";
import { Bytes, Id, Sha256 } from "./agent-fields.ts";
import { Fence } from "./fence.ts";
import { closed } from "../closed.ts";

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
