import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { BucketReply, RotatedKeyReply, UsageReply } from "@resontech/contracts/http-storage";
import type { BucketKeys } from "../../identity/bucket-keys.ts";
import { type Bucket, findBucket } from "../../identity/bucket-store.ts";
import type { FastifyRequest } from "fastify";
import type { ReadHandle } from "../../db/open-database.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { authorizedRow, callerOfRequest } from "../authorization.ts";
import { responses } from "../responses.ts";

export type BucketRoutesDeps = {
  read: ReadHandle;
  store: Pick<ObjectStore, "usage">;
  bucketKeys: BucketKeys;
  /** As users reach it. */
  s3: { endpoint: string; region: string };
};

export const bucketRoutes: FastifyPluginAsyncTypebox<BucketRoutesDeps> = async (app, deps) => {
  app.get(
    "/api/users/storage/bucket",
    {
      schema: {
        summary: "The caller's bucket",
        tags: ["storage"],
        response: responses(200, BucketReply),
      },
      config: { access: { action: "bucket.read" }, audit: { event: "data.bucket.read" } },
    },
    async (request) => {
      const bucket = await authorizedBucket(request, "bucket.read", deps.read);
      await request.audit.fact({
        type: "data.bucket.read",
        object: { kind: "bucket", id: bucket.ownerId },
      });
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
      config: { access: { action: "bucket.key.rotate" }, audit: { event: "key.bucket.rotate" } },
    },
    async (request) => {
      const bucket = await authorizedBucket(request, "bucket.key.rotate", deps.read);
      return request.audit.operation(
        { type: "key.bucket.rotate", object: { kind: "bucket", id: bucket.ownerId } },
        (operation) => deps.bucketKeys.replace(bucket.name, operation.completeIn),
      );
    },
  );

  app.get(
    "/api/users/storage/usage",
    {
      schema: {
        summary: "Bytes and objects in the bucket",
        tags: ["storage"],
        response: responses(200, UsageReply),
      },
      config: { access: { action: "bucket.read" }, audit: { event: "data.bucket.usage" } },
    },
    async (request) => {
      const bucket = await authorizedBucket(request, "bucket.read", deps.read);
      const usage = await deps.store.usage(bucket.name);
      await request.audit.fact({
        type: "data.bucket.usage",
        object: { kind: "bucket", id: bucket.ownerId },
      });
      return { ...usage, quotaBytes: bucket.quotaBytes };
    },
  );
};

/** The caller's bucket. @throws ApiError bucket_missing */
export async function authorizedBucket(
  request: FastifyRequest,
  action: "bucket.read" | "bucket.write" | "bucket.key.rotate" | "job.inputs.read",
  read: ReadHandle,
): Promise<Bucket> {
  const bucket = findBucket(read, callerOfRequest(request).userId);
  return await authorizedRow(
    request,
    action,
    bucket === null ? null : { ...bucket, userId: bucket.ownerId },
  );
}
