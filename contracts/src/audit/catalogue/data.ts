/** Data and models as the coordinator handles them: buckets, uploads, staging, outputs. */
import { Type } from "typebox";
import { Count, Instant, PlainId } from "../audit-event.ts";
import {
  type CatalogueEntry,
  fact,
  HOUR,
  NoDetail,
  operation,
  OPERATION_OR_FACT,
} from "./entry.ts";
import { ByRequest, Fenced, OfUpload, OfUrl } from "./fields.ts";
import { closed } from "../../closed.ts";

export const DATA_EVENTS = {
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
    "A multipart upload was completed; a restored version is one, too.",
    Type.Object(
      { bucket: Type.Optional(PlainId), parts: Type.Optional(Count), ...OfUpload },
      closed,
    ),
    { maxOpenMs: HOUR },
  ),
  "data.upload.abort": operation(
    "object",
    "A multipart upload was aborted.",
    Type.Object({ bucket: Type.Optional(PlainId), ...OfUpload }, closed),
  ),
  "data.output.release": operation(
    "job",
    "Outputs of a job were released by an approval: who asked for it may read these versions until then.",
    Type.Object({ ...ByRequest, approval: PlainId, files: Count, until: Instant }, closed),
  ),
  "data.stage": fact(
    "object",
    "A URL to read one input was issued to the node of a member.",
    Type.Object(
      {
        ...Fenced,
        job: PlainId,
        bytes: Type.Optional(Count),
        ttl_s: Type.Optional(Count),
        ...OfUrl,
      },
      closed,
    ),
  ),
  "data.download.issue": fact(
    "object",
    "A URL to read one version of an object was issued to a person or a program.",
    Type.Object(
      { bucket: Type.Optional(PlainId), bytes: Type.Optional(Count), ttl_s: Count, ...OfUrl },
      closed,
    ),
  ),
  "data.log.read": fact(
    "job",
    "A job's log was read.",
    Type.Object({ bytes: Type.Optional(Count) }, closed),
  ),
  "model.output.open": fact(
    "object",
    "A multipart upload for one output was opened. Its part URLs went to a member's node, at first or again, or the coordinator copies a job's last model by it.",
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
        /** Parts of a log whose place it takes: their bytes are its bytes. */
        merged: Type.Optional(Count),
        ...OfUpload,
      },
      closed,
    ),
    maxOpenMs: HOUR,
    whileDraining: true,
  },
} as const satisfies Record<string, CatalogueEntry>;
