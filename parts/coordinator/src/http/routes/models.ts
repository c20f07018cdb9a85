/** `/api/hub/models`: which models the appliance's hub has, and how one comes in or goes. Their files are `hugging-face.ts`. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import {
  AddModelBody,
  DEFAULT_REVISION,
  ModelListReply,
  ModelPart,
  ModelReply,
  ModelRevision,
  type ModelRow,
} from "@resontech/contracts/http-models";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { checkModelFiles } from "../../hub/decisions/model-files.ts";
import type { ModelDigests } from "../../hub/model-digests.ts";
import {
  type HubModel,
  type HubModelSize,
  insertModel,
  ModelTable,
  removeModel,
} from "../../hub/model-table.ts";
import { findBucket } from "../../identity/bucket-store.ts";
import { newId } from "../../kernel/ids.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { isObjectKey } from "../../storage/decisions/upload-plan.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { type FolderObject, listFolder } from "../../submission/folder-objects.ts";
import { authorizedRow, callerOfRequest } from "../authorization.ts";
import { instant } from "../decisions/job-replies.ts";
import { modelSources } from "../model-sources.ts";
import { responses } from "../responses.ts";
import { authorizedBucket } from "./bucket.ts";

export type ModelRoutesDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  now: () => number;
  kernel: Pick<Kernel, "job">;
  store: Pick<ObjectStore, "list" | "stat" | "open">;
  outputExport: "open" | "controlled";
  modelDigests: Pick<ModelDigests, "kick">;
};

const tags = ["models"];
const params = Type.Object(
  { organisation: ModelPart, model: ModelPart, revision: ModelRevision },
  { additionalProperties: false },
);
/** An organisation of this name would have paths that are other routes'. */
const RESERVED = ["api", "v1", "inference", "dashboard", "auth", "models", "datasets", "spaces"];

export const modelRoutes: FastifyPluginAsyncTypebox<ModelRoutesDeps> = async (app, deps) => {
  const { read, commit, store } = deps;
  const table = new ModelTable(read);

  app.get(
    "/api/hub/models",
    {
      schema: { summary: "Models of the hub", tags, response: responses(200, ModelListReply) },
      config: { access: { action: "model.list" }, audit: { none: "names and sizes alone" } },
    },
    async () => ({ models: table.list().map(rowOf) }),
  );

  app.post(
    "/api/hub/models",
    {
      schema: {
        summary: "Add a folder or a file of the project's bucket to the hub, for everybody here",
        ...{ tags, body: AddModelBody, response: responses(201, ModelReply) },
      },
      config: { access: { action: "model.add" }, audit: { event: "model.add" } },
    },
    async (request, reply) => {
      const bucket = await authorizedBucket(request, "model.add", read);
      const { name, revision = DEFAULT_REVISION, licence, path } = request.body;
      if (RESERVED.includes(name.split("/")[0] ?? "") || /\.\.|--/.test(name))
        throw new ApiError("validation_failed", `body.name ${name} can't be a model's name`);
      const found = await objectsAt(request, bucket.name, path);
      if (table.find(name, revision) !== null) throw taken(name, revision);
      const { userId, projectId } = callerOfRequest(request);
      const model = {
        ...{ id: newId("model"), name, revision, licence, bucket: bucket.name, projectId },
        createdAt: deps.now(),
      };
      await request.audit.operation(
        {
          type: "model.add",
          object: { kind: "project", id: projectId },
          detail: { model: model.id, files: found.length, bytes: bytesOf(found) },
          pii: { path: `${bucket.name}${path}` },
        },
        (operation) =>
          commit.run((db) => {
            const files = found.map((file) => ({ ...file, sha256: null }));
            if (!insertModel(db, model, userId, files)) throw taken(name, revision);
            operation.completeIn(db);
          }),
      );
      deps.modelDigests.kick();
      return reply.code(201).send(replyOf(requireModel(name, revision)));
    },
  );

  app.get(
    "/api/hub/models/:organisation/:model/:revision",
    {
      schema: {
        summary: "One model with its files, by its revision or its commit",
        ...{ tags, params, response: responses(200, ModelReply) },
      },
      config: { access: { action: "model.read" }, audit: { none: "names and digests alone" } },
    },
    async (request) => replyOf(ofParams(request.params)),
  );

  app.delete(
    "/api/hub/models/:organisation/:model/:revision",
    {
      schema: {
        summary: "Take a model out of the hub; its files stay in the bucket, deployments go on",
        ...{ tags, params, response: responses(200, ModelReply) },
      },
      config: { access: { action: "model.remove" }, audit: { event: "model.remove" } },
    },
    async (request) => {
      const model = ofParams(request.params);
      await authorizedRow(request, "model.remove", findBucket(read, model.bucket));
      const removed = replyOf(model);
      await request.audit.operation(
        {
          type: "model.remove",
          object: { kind: "project", id: model.projectId },
          detail: { model: model.id },
        },
        (operation) =>
          commit.run((db) => {
            if (!removeModel(db, model.id)) throw new ApiError("not_found", "it is gone already");
            operation.completeIn(db);
          }),
      );
      return removed;
    },
  );

  /** The versions that are there now. @throws ApiError path_invalid, model_empty, input_name_invalid, too_many_objects, export_controlled */
  async function objectsAt(
    request: FastifyRequest,
    bucket: string,
    path: string,
  ): Promise<FolderObject[]> {
    const key = path.replace(/^\//, "").replace(/\/$/, "");
    if (!path.startsWith("/") || !isObjectKey(key))
      throw new ApiError("path_invalid", "path is no path of the bucket that begins with a slash");
    const file = path.endsWith("/") ? null : await store.stat(bucket, key);
    const found =
      file === null
        ? await listFolder(store, bucket, key)
        : [{ ...file, path: key.slice(key.lastIndexOf("/") + 1) }];
    if (found.length === 0) throw new ApiError("model_empty", `there is nothing at ${path}`);
    checkModelFiles(found.map((object) => object.path));
    const sources = modelSources(request, deps);
    for (const object of found) sources.checkUse({ bucket, key: object.key }, true);
    return found;
  }

  function requireModel(name: string, revision: string): HubModel {
    const model = table.find(name, revision);
    if (model === null) throw new ApiError("not_found", "there is no such model");
    return model;
  }

  function ofParams({
    organisation,
    model,
    revision,
  }: Record<keyof typeof params.properties, string>) {
    return requireModel(`${organisation}/${model}`, revision);
  }

  function replyOf(model: HubModel): ModelReply {
    const content = table.files(model.id);
    return {
      ...rowOf({ ...model, files: content.length, sizeBytes: bytesOf(content) }),
      content: content.map(({ path, sizeBytes, sha256 }) => ({ path, sizeBytes, sha256 })),
    };
  }
};

function rowOf({ createdAt, ...model }: HubModel & HubModelSize): ModelRow {
  const { name, revision, commit, licence, projectId, state, why, files, sizeBytes } = model;
  return {
    ...{ name, revision, commit, licence, projectId, state, why, files, sizeBytes },
    createdAt: instant(createdAt),
  };
}

function bytesOf(files: readonly { sizeBytes: number }[]): number {
  return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

function taken(name: string, revision: string): ApiError {
  return new ApiError("model_exists", `the hub has ${name}@${revision} already`);
}
