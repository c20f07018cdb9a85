/** What fills a folder, and older versions of objects: listed, and made the newest again. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { joinKey } from "@resontech/audit/producer";
import {
  RestoreBody,
  RestoreReply,
  SizesQuery,
  SizesReply,
  VersionsQuery,
  VersionsReply,
} from "@resontech/contracts/http-storage";
import { storageCost } from "@resontech/contracts/storage-cost";
import { quotaWords } from "@resontech/contracts/size-words";
import { ApiError } from "../../api-error.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { copyVersion } from "../../storage/copy-version.ts";
import type { StoredVersion } from "../../storage/decisions/collectable.ts";
import { FolderSizes } from "../../storage/decisions/folder-sizes.ts";
import { checkUploadKey, isObjectKey } from "../../storage/decisions/upload-plan.ts";
import { findVersion } from "../../storage/find-version.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { VolumeSync } from "../../storage/volume-sync.ts";
import { instant } from "../decisions/job-replies.ts";
import { responses } from "../responses.ts";
import { authorizedBucket } from "./bucket.ts";

export type ObjectVersionRoutesDeps = {
  read: ReadHandle;
  store: Pick<
    ObjectStore,
    | "versions"
    | "stat"
    | "usage"
    | "put"
    | "createUpload"
    | "copyPart"
    | "completeUpload"
    | "abortUpload"
  >;
  volume: Pick<VolumeSync, "durable">;
};

const tags = ["storage"];

export const objectVersionRoutes: FastifyPluginAsyncTypebox<ObjectVersionRoutesDeps> = async (
  app,
  { read, store, volume },
) => {
  app.get(
    "/api/users/storage/sizes",
    {
      schema: {
        summary: "What the quota takes for a folder: by kind, and by each folder below",
        ...{ tags, querystring: SizesQuery, response: responses(200, SizesReply) },
      },
      config: { access: { action: "bucket.read" }, audit: { event: "data.bucket.usage" } },
    },
    async (request) => {
      const { prefix = "" } = request.query;
      const bucket = await authorizedBucket(request, "bucket.read", read);
      const sizes = new FolderSizes(prefix);
      for await (const page of store.versions(bucket.name, prefix)) sizes.add(page);
      await request.audit.fact({
        type: "data.bucket.usage",
        object: { kind: "bucket", id: bucket.logId },
      });
      return { folders: sizes.folders, kinds: sizes.kinds };
    },
  );

  app.get(
    "/api/users/storage/versions",
    {
      schema: {
        summary: "Versions of an object, newest first",
        ...{ tags, querystring: VersionsQuery, response: responses(200, VersionsReply) },
      },
      config: { access: { action: "bucket.read" }, audit: { event: "data.bucket.list" } },
    },
    async (request) => {
      const { key } = request.query;
      const bucket = await authorizedBucket(request, "bucket.read", read);
      const versions = await versionsOf(bucket.name, key);
      await request.audit.fact({
        type: "data.bucket.list",
        object: { kind: "bucket", id: bucket.logId },
        detail: { status: 200 },
      });
      return versions.map(({ versionId, sizeBytes, modifiedAt, isLatest, isMarker }) => ({
        ...{ versionId, sizeBytes, isLatest, isRemoval: isMarker },
        modifiedAt: instant(modifiedAt),
      }));
    },
  );

  app.post(
    "/api/users/storage/restore",
    {
      schema: {
        summary: "Make an older version of an object its newest one; all versions stay",
        ...{ tags, body: RestoreBody, response: responses(200, RestoreReply) },
      },
      config: { access: { action: "bucket.write" }, audit: { event: "data.object.write" } },
    },
    async (request) => {
      const { key, versionId } = request.body;
      const bucket = await authorizedBucket(request, "bucket.write", read);
      checkUploadKey(key);
      const version = await findVersion(store, bucket.name, key, versionId);
      const { sizeBytes } = version;
      const { usedBytes } = await store.usage(bucket.name);
      if (usedBytes + storageCost(sizeBytes) > bucket.quotaBytes) {
        await request.audit.refusal({
          type: "data.object.refused",
          object: { path: `${bucket.name}/${key}` },
          decision: { effect: "deny", policy_ids: ["bucket-quota"] },
          outcome: { code: "quota_exceeded", status: 403 },
          detail: { bucket: bucket.logId, status: 403, code: "quota_exceeded", bytes: sizeBytes },
        });
        throw new ApiError(
          "quota_exceeded",
          `the bucket may hold ${quotaWords(bucket.quotaBytes)}`,
        );
      }
      return await request.audit.operation(
        {
          type: "data.object.write",
          object: { path: `${bucket.name}/${key}` },
          detail: { bucket: bucket.logId, bytes: sizeBytes, copied: true },
        },
        async () => {
          const made = await copyVersion(store, bucket.name, version, ({ id, parts }, complete) =>
            request.audit.operation(
              {
                type: "data.upload.complete",
                object: { path: `${bucket.name}/${key}` },
                detail: { bucket: bucket.logId, parts, upload_sha256: joinKey(id) },
              },
              complete,
            ),
          );
          await volume.durable();
          return { key, versionId: made.versionId, sizeBytes };
        },
      );
    },
  );

  /** @throws ApiError not_found */
  async function versionsOf(bucket: string, key: string): Promise<StoredVersion[]> {
    const found: StoredVersion[] = [];
    if (!isObjectKey(key)) throw new ApiError("not_found", "there is no such object");
    for await (const page of store.versions(bucket, key)) {
      found.push(...page.filter((version) => version.key === key));
      // Keys come in order: what follows only begins alike.
      if (page.some((version) => version.key > key)) break;
    }
    if (found.length === 0) throw new ApiError("not_found", "there is no such object");
    return found.sort(
      (a, b) => Number(b.isLatest) - Number(a.isLatest) || b.modifiedAt - a.modifiedAt,
    );
  }
};
