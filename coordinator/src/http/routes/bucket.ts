import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { BucketReply, RotatedKeyReply, UsageReply } from "@resontech/contracts/http-storage";
import { ApiError } from "../../api-error.ts";
import type { BucketKeys } from "../../identity/bucket-keys.ts";
import { type Bucket, findBucket } from "../../identity/bucket-store.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { callerOfRequest } from "../authentication.ts";
import { responses } from "../responses.ts";

export type BucketRoutesDeps = {
  read: ReadHandle;
  store: Pick<ObjectStore, "usage">;
  bucketKeys: BucketKeys;
  /** As users reach it. */
  s3: { endpoint: string; region: string };
};

const access = { scope: "storage" } as const;

export const bucketRoutes: FastifyPluginAsyncTypebox<BucketRoutesDeps> = async (app, deps) => {
  app.get(
    "/api/users/storage/bucket",
    {
      schema: { summary: "The caller's bucket", tags: ["storage"], response: responses(200, BucketReply) },
      config: { access, audit: { event: "data.bucket.read" } },
    },
    async (request) => {
      const bucket = requireBucket(deps.read, callerOfRequest(request).userId);
      await request.audit.fact({ type: "data.bucket.read", object: { kind: "bucket", id: bucket.ownerId } });
      return {
        bucketAlias: bucket.name,
        endpoint: deps.s3.endpoint,
        region: deps.s3.region,
        accessKeyId: bucket.accessKeyId,
        quotaBytes: bucket.quotaBytes,
        versioned: true,
      };
    },
  );

  app.patch(
    "/api/users/storage/bucket/rotate-key",
    {
      schema: {
        summary: "Replace the bucket's key pair; the old one is refused at once",
        tags: ["storage"],
        response: responses(200, RotatedKeyReply),
      },
      config: { access, audit: { event: "key.bucket.rotate" } },
    },
    async (request) => {
      const bucket = requireBucket(deps.read, callerOfRequest(request).userId);
      return request.audit.operation({ type: "key.bucket.rotate", object: { kind: "bucket", id: bucket.ownerId } }, (operation) =>
        deps.bucketKeys.replace(bucket.name, operation.completeIn),
      );
    },
  );

  app.get(
    "/api/users/storage/usage",
    {
      schema: { summary: "Bytes and objects in the bucket", tags: ["storage"], response: responses(200, UsageReply) },
      config: { access, audit: { event: "data.bucket.usage" } },
    },
    async (request) => {
      const bucket = requireBucket(deps.read, callerOfRequest(request).userId);
      const usage = await deps.store.usage(bucket.name);
      await request.audit.fact({ type: "data.bucket.usage", object: { kind: "bucket", id: bucket.ownerId } });
      return { ...usage, quotaBytes: bucket.quotaBytes };
    },
  );
};

export function requireBucket(read: ReadHandle, userId: string): Bucket {
  const bucket = findBucket(read, userId);
  if (bucket === null) throw new ApiError("bucket_missing", "this user has no bucket yet");
  return bucket;
}
