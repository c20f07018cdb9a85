import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { joinKey } from "@resontech/audit/producer";
import {
  UploadAbortBody,
  UploadCompleteBody,
  UploadCompleteReply,
  UploadInitBody,
  UploadInitReply,
} from "@resontech/contracts/http-storage";
import { quotaWords } from "@resontech/contracts/size-words";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { checkUploadKey, planUpload } from "../../storage/decisions/upload-plan.ts";
import { S3ResponseError } from "../../storage/s3-transport.ts";
import type { VolumeSync } from "../../storage/volume-sync.ts";
import { responses } from "../responses.ts";
import { authorizedBucket, bucketToWrite, ensureMade, type MakeBucketDeps } from "./bucket.ts";

export type UploadRoutesDeps = MakeBucketDeps & {
  read: ReadHandle;
  store: Pick<ObjectStore, "createUpload" | "presignPart" | "completeUpload" | "abortUpload">;
  volume: Pick<VolumeSync, "durable">;
};

const access = { action: "bucket.write" } as const;
/** 10,000 parts of about 90 bytes. */
const COMPLETE_BODY_BYTES = 2 * 1024 * 1024;

export const uploadRoutes: FastifyPluginAsyncTypebox<UploadRoutesDeps> = async (app, deps) => {
  app.post(
    "/api/users/storage/upload/init",
    {
      schema: {
        summary: "Open a multipart upload: one presigned PUT for each 50 MiB part",
        tags: ["storage"],
        body: UploadInitBody,
        response: responses(200, UploadInitReply),
      },
      config: { access, audit: { event: "data.upload.init" } },
    },
    async (request) => {
      const { key, size, contentType = "application/octet-stream" } = request.body;
      const bucket = await bucketToWrite(request, deps.read);
      checkUploadKey(key);
      const { parts, expiresS } = planUpload(size);
      if (size > bucket.quotaBytes) {
        await request.audit.refusal({
          type: "data.object.refused",
          object: { path: `${bucket.name}/${key}` },
          decision: { effect: "deny", policy_ids: ["bucket-quota"] },
          outcome: { code: "quota_exceeded", status: 403 },
          detail: { bucket: bucket.logId, status: 403, code: "quota_exceeded", bytes: size },
        });
        throw new ApiError(
          "quota_exceeded",
          `the bucket may hold ${quotaWords(bucket.quotaBytes)}`,
        );
      }
      await ensureMade(request, bucket, deps);
      return request.audit.operation(
        {
          type: "data.upload.init",
          object: { path: `${bucket.name}/${key}` },
          detail: { bucket: bucket.logId, bytes: size, parts, ttl_s: expiresS },
        },
        async (operation) => {
          const uploadId = await deps.store
            .createUpload(bucket.name, key, contentType)
            .catch(translateUploadError);
          operation.tell({ upload_sha256: joinKey(uploadId) });
          const numbers = Array.from({ length: parts }, (_, index) => index + 1);
          const urls = await Promise.all(
            numbers.map((number) =>
              deps.store.presignPart(bucket.name, key, uploadId, number, expiresS),
            ),
          );
          return { uploadId, urls };
        },
      );
    },
  );

  app.post(
    "/api/users/storage/upload/complete",
    {
      bodyLimit: COMPLETE_BODY_BYTES,
      schema: {
        summary: "Assemble the parts; answered when the object is on the disk",
        tags: ["storage"],
        body: UploadCompleteBody,
        response: responses(200, UploadCompleteReply),
      },
      config: { access, audit: { event: "data.upload.complete" } },
    },
    async (request) => {
      const { key, uploadId, parts } = request.body;
      const bucket = await authorizedBucket(request, "bucket.write", deps.read);
      checkUploadKey(key);
      if (parts.some(({ PartNumber }, index) => PartNumber !== index + 1)) {
        throw new ApiError("upload_parts_invalid", "the part numbers are not 1, 2, 3 …");
      }
      return request.audit.operation(
        {
          type: "data.upload.complete",
          object: { path: `${bucket.name}/${key}` },
          detail: { bucket: bucket.logId, parts: parts.length, upload_sha256: joinKey(uploadId) },
        },
        async () => {
          const list = parts.map(({ PartNumber, ETag }) => ({
            partNumber: PartNumber,
            etag: ETag.replaceAll('"', ""),
          }));
          const object = await deps.store
            .completeUpload(bucket.name, key, uploadId, list)
            .catch(translateUploadError);
          await deps.volume.durable();
          return { key, versionId: object.versionId, etag: object.etag, size: object.sizeBytes };
        },
      );
    },
  );

  app.post(
    "/api/users/storage/upload/abort",
    {
      schema: {
        summary: "Give an upload up; its URLs are dead afterwards",
        tags: ["storage"],
        body: UploadAbortBody,
        response: responses(
          200,
          Type.Object({ aborted: Type.Boolean() }, { additionalProperties: false }),
        ),
      },
      config: { access, audit: { event: "data.upload.abort" } },
    },
    async (request) => {
      const { key, uploadId } = request.body;
      const bucket = await authorizedBucket(request, "bucket.write", deps.read);
      checkUploadKey(key);
      return request.audit.operation(
        {
          type: "data.upload.abort",
          object: { path: `${bucket.name}/${key}` },
          detail: { bucket: bucket.logId, upload_sha256: joinKey(uploadId) },
        },
        async () => ({
          aborted: await deps.store
            .abortUpload(bucket.name, key, uploadId)
            .catch(translateUploadError),
        }),
      );
    },
  );
};

/** What the engine says of a key below a file, or of a file where a folder is. */
const CONFLICTS = [
  "ObjectParentIsFile",
  "ExistingObjectIsDirectory",
  "DirectoryObjectContainsData",
];

function translateUploadError(error: unknown): never {
  if (!(error instanceof S3ResponseError)) throw error;
  if (error.code === "NoSuchUpload")
    throw new ApiError("upload_not_found", "there is no such upload", { cause: error });
  if (CONFLICTS.includes(error.code))
    throw new ApiError(
      "key_conflict",
      "an object with this key would be a file and a folder at once",
      { cause: error },
    );
  if (["InvalidPart", "InvalidPartOrder", "EntityTooSmall", "MalformedXML"].includes(error.code)) {
    throw new ApiError(
      "upload_parts_invalid",
      `the object store refused the parts: ${error.code}`,
      { cause: error },
    );
  }
  throw error;
}
