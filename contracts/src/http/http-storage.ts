/** `/api/users/storage/*`: the bucket of the project that the request is about. */
import { type Static, Type } from "typebox";
import { Instant } from "./http-common.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

/** The client cuts files at this size and takes one URL for each part. */
export const UPLOAD_PART_BYTES = 50 * 1024 * 1024;
/** Slowest connection that an upload's URLs are made for, in bytes a second. */
export const UPLOAD_SLOWEST_BYTES_PER_S = 5_000_000;
export const MAX_UPLOAD_PARTS = 10_000;

const Key = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "Bucket key, without a leading slash",
});
/** As the engine makes them. */
const UploadId = Type.String({ pattern: "^[A-Za-z0-9_-]{1,128}$" });

export const BucketReply = Type.Object(
  {
    bucketAlias: Type.String(),
    endpoint: Type.String(),
    region: Type.String(),
    /** Null until the caller has asked for a key pair: `rotate-key` makes the first one. */
    accessKeyId: Nullable(Type.String()),
    quotaBytes: Type.Integer(),
    versioned: Type.Boolean(),
  },
  closed,
);
export type BucketReply = Static<typeof BucketReply>;

/** Shown once; the pair before it is refused from then on. */
export const RotatedKeyReply = Type.Object(
  { accessKeyId: Type.String(), secretAccessKey: Type.String() },
  closed,
);

export type RotatedKeyReply = Static<typeof RotatedKeyReply>;

/** `usedBytes` counts all versions and the parts of open uploads, `objects` current versions. */
export const UsageReply = Type.Object(
  { usedBytes: Type.Integer(), quotaBytes: Type.Integer(), objects: Type.Integer() },
  closed,
);

export type UsageReply = Static<typeof UsageReply>;

export const UploadInitBody = Type.Object(
  {
    key: Key,
    size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Bytes" }),
    contentType: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, pattern: "^[\\x20-\\x7e]+$" }),
    ),
  },
  closed,
);
export const UploadInitReply = Type.Object(
  {
    uploadId: Type.String(),
    urls: Type.Array(Type.String(), {
      description: "One presigned PUT for each 50 MiB part, in order",
    }),
  },
  closed,
);

export const UploadCompleteBody = Type.Object(
  {
    uploadId: UploadId,
    key: Key,
    parts: Type.Array(
      Type.Object(
        {
          PartNumber: Type.Integer({ minimum: 1, maximum: MAX_UPLOAD_PARTS }),
          ETag: Type.String({ minLength: 1, maxLength: 128, pattern: '^"?[A-Za-z0-9-]+"?$' }),
        },
        closed,
      ),
      { minItems: 1, maxItems: MAX_UPLOAD_PARTS },
    ),
  },
  closed,
);
export const UploadCompleteReply = Type.Object(
  { key: Type.String(), versionId: Type.String(), etag: Type.String(), size: Type.Integer() },
  closed,
);

export const UploadAbortBody = Type.Object({ uploadId: UploadId, key: Key }, closed);

export const ObjectsQuery = Type.Object(
  {
    /** A folder with its last slash; empty for the whole bucket. */
    prefix: Type.Optional(Type.String({ maxLength: 1_024 })),
    /** `next` of the page before. */
    after: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
    limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 200 }),
  },
  closed,
);

/** One folder: what lies in it, and the folders below. */
export const ObjectsReply = Type.Object(
  {
    folders: Type.Array(Type.String({ description: "Whole key with its last slash" })),
    objects: Type.Array(
      Type.Object({ key: Type.String(), sizeBytes: Type.Integer(), modifiedAt: Instant }, closed),
    ),
    next: Nullable(Type.String()),
  },
  closed,
);
export type ObjectsReply = Static<typeof ObjectsReply>;

const VersionId = Type.String({ pattern: "^[A-Za-z0-9._-]{1,128}$" });

export const SizesQuery = Type.Object(
  {
    /** A folder with its last slash; empty for the whole bucket. */
    prefix: Type.Optional(Type.String({ maxLength: 1_024, pattern: "^(?:.*/)?$" })),
  },
  closed,
);
/** What the quota takes for a folder: by kind, and by each folder below. Open uploads are in no folder. */
export const SizesReply = Type.Object(
  {
    folders: Type.Array(
      Type.Object(
        {
          key: Type.String({ description: "Whole key with its last slash" }),
          sizeBytes: Type.Integer(),
          objects: Type.Integer(),
        },
        closed,
      ),
    ),
    kinds: Type.Object(
      {
        /** Objects as they are now, but for logs. */
        objects: Type.Integer(),
        /** What is under them: older versions, and markers of what was removed. */
        olderVersions: Type.Integer(),
        /** Logs that the appliance keeps of jobs. */
        logs: Type.Integer(),
      },
      closed,
    ),
  },
  closed,
);
export type SizesReply = Static<typeof SizesReply>;

export const VersionsQuery = Type.Object({ key: Key }, closed);
/** Newest first. */
export const VersionsReply = Type.Array(
  Type.Object(
    {
      versionId: Type.String(),
      sizeBytes: Type.Integer(),
      modifiedAt: Instant,
      isLatest: Type.Boolean(),
      /** The object was removed then: this version holds nothing. */
      isRemoval: Type.Boolean(),
    },
    closed,
  ),
);
export type VersionsReply = Static<typeof VersionsReply>;

export const RestoreBody = Type.Object({ key: Key, versionId: VersionId }, closed);
/** The version that was made of it. */
export const RestoreReply = Type.Object(
  { key: Type.String(), versionId: Type.String(), sizeBytes: Type.Integer() },
  closed,
);

export const DownloadBody = Type.Object(
  {
    key: Key,
    /** @default the newest */
    versionId: Type.Optional(VersionId),
  },
  closed,
);
/** `url` reads this version without a credential until then. */
export const DownloadReply = Type.Object(
  {
    url: Type.String(),
    versionId: Type.String(),
    sizeBytes: Type.Integer(),
    expiresAt: Instant,
  },
  closed,
);
export type DownloadReply = Static<typeof DownloadReply>;

/** Not a body: many clients send a DELETE without one. */
export const RemoveObjectQuery = Type.Object({ key: Key }, closed);
export const RemoveObjectReply = Type.Object({ key: Type.String() }, closed);
