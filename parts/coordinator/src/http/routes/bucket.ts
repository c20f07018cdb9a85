import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { BucketReply, RotatedKeyReply, UsageReply } from "@resontech/contracts/http-storage";
import type { BucketKeys } from "../../identity/bucket-keys.ts";
import { type Bucket, findBucketOfProject, noteMade } from "../../identity/bucket-store.ts";
import { findAccessKey } from "../../identity/pair-store.ts";
import type { FastifyRequest } from "fastify";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { authorizedRow, callerOfRequest } from "../authorization.ts";
import { responses } from "../responses.ts";

export type BucketRoutesDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  now: () => number;
  store: Pick<ObjectStore, "usage" | "ensureBucket">;
  bucketKeys: BucketKeys;
  /** As users reach it. */
  s3: { endpoint: string; region: string };
};

export const bucketRoutes: FastifyPluginAsyncTypebox<BucketRoutesDeps> = async (app, deps) => {
  app.get(
    "/api/users/storage/bucket",
    {
      schema: {
        summary: "The bucket of the project, and the caller's own access key for it",
        tags: ["storage"],
        response: responses(200, BucketReply),
      },
      config: { access: { action: "bucket.read" }, audit: { event: "data.bucket.read" } },
    },
    async (request) => {
      const bucket = await authorizedBucket(request, "bucket.read", deps.read);
      await request.audit.fact({
        type: "data.bucket.read",
        object: { kind: "bucket", id: bucket.logId },
      });
      return {
        bucketAlias: bucket.name,
        endpoint: deps.s3.endpoint,
        region: deps.s3.region,
        accessKeyId: findAccessKey(deps.read, {
          bucket: bucket.name,
          userId: callerOfRequest(request).userId,
        }),
        quotaBytes: bucket.quotaBytes,
        versioned: true,
      };
    },
  );

  app.patch(
    "/api/users/storage/bucket/rotate-key",
    {
      schema: {
        summary:
          "A new key pair of the caller for the bucket; the one before it is refused at once",
        tags: ["storage"],
        response: responses(200, RotatedKeyReply),
      },
      config: { access: { action: "bucket.key.rotate" }, audit: { event: "key.bucket.rotate" } },
    },
    async (request) => {
      const { userId, projectId } = callerOfRequest(request);
      const bucket = await authorizedRow(
        request,
        "bucket.key.rotate",
        findBucketOfProject(deps.read, projectId),
      );
      await ensureMade(request, bucket, deps);
      return request.audit.operation(
        { type: "key.bucket.rotate", object: { kind: "bucket", id: bucket.logId } },
        (operation) => deps.bucketKeys.replace(bucket.name, userId, operation.completeIn),
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
        object: { kind: "bucket", id: bucket.logId },
      });
      return { ...usage, quotaBytes: bucket.quotaBytes };
    },
  );
};

export type MakeBucketDeps = {
  commit: GroupCommit;
  now: () => number;
  store: Pick<ObjectStore, "ensureBucket">;
};

/** A project's bucket comes with the first pair for it, or with the first upload. */
export async function ensureMade(
  request: FastifyRequest,
  { name, logId, quotaBytes, isMade }: Bucket,
  { store, commit, now }: MakeBucketDeps,
): Promise<void> {
  if (isMade) return;
  await request.audit.operation(
    {
      type: "data.bucket.create",
      object: { kind: "bucket", id: logId },
      detail: { quota_bytes: quotaBytes },
      pii: { "bucket-alias": name },
    },
    async (operation) => {
      await store.ensureBucket(name);
      await commit.run((db) => {
        noteMade(db, name, now());
        operation.completeIn(db);
      });
    },
  );
}

/** The project's bucket, whether it is made or not: {@link ensureMade} comes before anything is written. @throws ApiError bucket_missing */
export async function bucketToWrite(request: FastifyRequest, read: ReadHandle): Promise<Bucket> {
  const bucket = findBucketOfProject(read, callerOfRequest(request).projectId);
  return await authorizedRow(request, "bucket.write", bucket);
}

/** The bucket of the project that the request is about. @throws ApiError bucket_missing */
export async function authorizedBucket(
  request: FastifyRequest,
  action: "bucket.read" | "bucket.write" | "job.inputs.read" | "model.add",
  read: ReadHandle,
): Promise<Bucket> {
  const bucket = findBucketOfProject(read, callerOfRequest(request).projectId);
  return await authorizedRow(request, action, bucket?.isMade === true ? bucket : null);
}
