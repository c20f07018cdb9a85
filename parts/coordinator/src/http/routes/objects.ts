/** Objects of the project's bucket for pages and shells: listed by folder, read by a URL, removed. Uploads are `uploads.ts`. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import {
  DownloadBody,
  DownloadReply,
  ObjectsQuery,
  ObjectsReply,
  RemoveObjectQuery,
  RemoveObjectReply,
} from "@resontech/contracts/http-storage";
import { checkUploadKey } from "../../storage/decisions/upload-plan.ts";
import { findVersion } from "../../storage/find-version.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { type DownloadDeps, issueDownload } from "../issue-download.ts";
import { responses } from "../responses.ts";
import { authorizedBucket } from "./bucket.ts";

export type ObjectRoutesDeps = DownloadDeps & {
  store: Pick<ObjectStore, "listFolder" | "stat" | "presignGet" | "remove">;
};

const tags = ["storage"];

export const objectRoutes: FastifyPluginAsyncTypebox<ObjectRoutesDeps> = async (app, deps) => {
  const { read, store } = deps;

  app.get(
    "/api/users/storage/objects",
    {
      schema: {
        summary: "One folder of the bucket: its objects, and the folders below",
        ...{ tags, querystring: ObjectsQuery, response: responses(200, ObjectsReply) },
      },
      config: { access: { action: "bucket.read" }, audit: { event: "data.bucket.list" } },
    },
    async (request) => {
      const { prefix = "", after = null, limit } = request.query;
      const bucket = await authorizedBucket(request, "bucket.read", read);
      const page = await store.listFolder(bucket.name, prefix, { limit, after });
      await request.audit.fact({
        type: "data.bucket.list",
        object: { kind: "bucket", id: bucket.logId },
        detail: { status: 200 },
      });
      return {
        folders: page.folders,
        objects: page.objects.map(({ modifiedAt, ...object }) => ({
          ...object,
          modifiedAt: new Date(modifiedAt).toISOString(),
        })),
        next: page.next,
      };
    },
  );

  app.post(
    "/api/users/storage/download",
    {
      schema: {
        summary:
          "A URL that reads the object, as it is now or as a version has it, for a few minutes",
        ...{ tags, body: DownloadBody, response: responses(200, DownloadReply) },
      },
      config: { access: { action: "bucket.read" }, audit: { event: "data.download.issue" } },
    },
    async (request) => {
      const { key, versionId } = request.body;
      const bucket = await authorizedBucket(request, "bucket.read", read);
      const version = await findVersion(store, bucket.name, key, versionId);
      return await issueDownload(request, deps, bucket, version);
    },
  );

  app.delete(
    "/api/users/storage/objects",
    {
      schema: {
        summary: "Remove an object; its versions stay until they are collected",
        ...{ tags, querystring: RemoveObjectQuery, response: responses(200, RemoveObjectReply) },
      },
      config: { access: { action: "bucket.write" }, audit: { event: "data.object.delete" } },
    },
    async (request) => {
      const { key } = request.query;
      const bucket = await authorizedBucket(request, "bucket.write", read);
      checkUploadKey(key);
      await findVersion(store, bucket.name, key);
      return await request.audit.operation(
        {
          type: "data.object.delete",
          object: { path: `${bucket.name}/${key}` },
          detail: { bucket: bucket.logId, version: false },
        },
        async () => {
          await store.remove(bucket.name, key);
          return { key };
        },
      );
    },
  );
};
