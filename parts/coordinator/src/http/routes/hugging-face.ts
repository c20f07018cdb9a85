/** Models of the hub in the layout of Hugging Face's: what `huggingface_hub` 2.4 asks to list, look for and download them, and nothing else of that API. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import {
  DEFAULT_REVISION,
  ModelPart,
  ModelRevision,
  RepositoryListReply,
  RepositoryQuery,
  RepositoryReply,
  TreeReply,
  WhoAmIReply,
} from "@resontech/contracts/http-models";
import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { type FileRange, readRange } from "../../hub/decisions/file-range.ts";
import { type HubFile, type HubModel, ModelTable } from "../../hub/model-table.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { S3ResponseError } from "../../storage/s3-transport.ts";
import { findPersonById, membershipsOf } from "../../identity/people-store.ts";
import { projectName } from "../../identity/project-store.ts";
import { callerOfRequest } from "../authorization.ts";
import { responses } from "../responses.ts";

export type HuggingFaceRoutesDeps = { read: ReadHandle; store: Pick<ObjectStore, "open"> };

const tags = ["models"];
const closed = { additionalProperties: false } as const;
const name = { organisation: ModelPart, model: ModelPart };
const Repository = Type.Object(name, closed);
const AtRevision = Type.Object({ ...name, revision: ModelRevision }, closed);
const AtFile = Type.Object(
  { ...name, revision: ModelRevision, "*": Type.String({ minLength: 1, maxLength: 1_024 }) },
  closed,
);
type Named = { organisation: string; model: string; revision?: string };
const listed = {
  access: { action: "model.read" },
  audit: { none: "names and digests alone" },
} as const;
const bytes = {
  200: Type.String({ description: "The file." }),
  206: Type.String({ description: "A part of it." }),
  "4xx": Type.Ref("Error"),
  "5xx": Type.Ref("Error"),
};

export const huggingFaceRoutes: FastifyPluginAsyncTypebox<HuggingFaceRoutesDeps> = async (
  app,
  { read, store },
) => {
  const table = new ModelTable(read);

  app.get(
    "/api/models",
    {
      schema: {
        summary: "Models that are ready, as clients of Hugging Face ask",
        ...{ tags, querystring: RepositoryQuery, response: responses(200, RepositoryListReply) },
      },
      config: listed,
    },
    async ({ query: { author, search = "", limit, full = false } }) => {
      const found = newestReady(table.list())
        .filter(({ name: one }) => author === undefined || authorOf(one) === author)
        .filter(({ name: one }) => one.toLowerCase().includes(search.toLowerCase()));
      return found.slice(0, limit).map((model) => ({
        ...{ id: model.name, modelId: model.name, author: authorOf(model.name) },
        ...{ sha: model.commit, private: true, tags: [`license:${model.licence}`] },
        createdAt: new Date(model.createdAt).toISOString(),
        ...(full ? { siblings: siblingsOf(model.id) } : {}),
      }));
    },
  );

  app.get(
    "/api/whoami-v2",
    {
      schema: {
        summary: "Who asks, as clients of Hugging Face want to know",
        ...{ tags, response: responses(200, WhoAmIReply) },
      },
      config: { access: { own: "shows who the caller is" }, audit: { none: "status" } },
    },
    async (request) => {
      const caller = callerOfRequest(request);
      const username =
        caller.kind === "service-account"
          ? caller.clientId
          : (findPersonById(read, caller.userId)?.username ?? "");
      const orgs =
        caller.kind === "session"
          ? membershipsOf(read, caller.userId).map(({ projectId, name: one }) => ({
              ...{ id: projectId, name: one },
            }))
          : [{ id: caller.projectId, name: projectName(read, caller.projectId) ?? "" }];
      return {
        ...{ type: "user" as const, id: caller.userId, name: username, fullname: username },
        ...{ isPro: false, orgs: orgs.map((one) => ({ type: "org" as const, ...one })) },
        auth: {
          type: "access_token" as const,
          accessToken: { displayName: caller.kind, role: "read" as const },
        },
      };
    },
  );

  for (const [path, schema] of [
    ["/api/models/:organisation/:model", Repository],
    ["/api/models/:organisation/:model/revision/:revision", AtRevision],
  ] as const)
    app.get(
      path,
      {
        schema: {
          summary: "What a model is made of, as clients of Hugging Face ask",
          ...{ tags, params: schema, response: responses(200, RepositoryReply) },
        },
        config: listed,
      },
      async (request, reply) => {
        const { model, commit } = ready(withRevision(request.params), reply);
        return {
          ...{ id: model.name, modelId: model.name, sha: commit, private: true },
          tags: [`license:${model.licence}`],
          siblings: siblingsOf(model.id),
        };
      },
    );

  app.get(
    "/api/models/:organisation/:model/tree/:revision",
    {
      schema: {
        summary: "The files of a model, as clients of Hugging Face ask",
        ...{ tags, params: AtRevision, response: responses(200, TreeReply) },
      },
      config: listed,
    },
    async (request, reply) => {
      const { model } = ready(request.params, reply);
      return table.files(model.id).map(({ path, sizeBytes, sha256 }) => ({
        ...{ type: "file" as const, path, size: sizeBytes, oid: sha256! },
        lfs: { oid: sha256!, size: sizeBytes, pointerSize: 0 },
      }));
    },
  );

  app.head(
    "/:organisation/:model/resolve/:revision/*",
    {
      schema: {
        summary: "Size and digest of a file of a model",
        ...{ tags, params: AtFile, response: bytes },
      },
      config: listed,
    },
    async (request, reply) => {
      const { commit, file } = fileAt(request.params, reply);
      return describe(reply, commit, file).header("content-length", file.sizeBytes).send();
    },
  );

  app.get(
    "/:organisation/:model/resolve/:revision/*",
    {
      schema: {
        summary: "A file of a model, or a part of it",
        ...{ tags, params: AtFile, response: bytes },
      },
      config: { access: { action: "model.read" }, audit: { event: "model.download" } },
    },
    async (request, reply) => {
      const { model, commit, file } = fileAt(request.params, reply);
      const range = readRange(request.headers.range, file.sizeBytes);
      if (range === "none") {
        reply.header("content-range", `bytes */${file.sizeBytes}`);
        throw new ApiError("range_not_satisfiable", `${file.path} has ${file.sizeBytes} bytes`);
      }
      await request.audit.fact({
        type: "model.download",
        object: { kind: "project", id: model.projectId },
        detail: { model: model.id, sha256: file.sha256!, bytes: lengthOf(range, file) },
      });
      const content =
        file.sizeBytes === 0 ? "" : await openFile({ ...file, bucket: model.bucket }, range);
      describe(reply, commit, file).header("content-length", lengthOf(range, file));
      if (range !== null)
        reply
          .code(206)
          .header("content-range", `bytes ${range.start}-${range.end}/${file.sizeBytes}`);
      return reply.send(content);
    },
  );

  /** Whoever names no revision asks whether there is such a model: where there is no default one, the newest that is ready answers. */
  function withRevision(named: Named): Named {
    const { organisation, model: second, revision } = named;
    const all = table.list().filter(({ name: one }) => one === `${organisation}/${second}`);
    const isKnown = all.some((one) => one.revision === (revision ?? DEFAULT_REVISION));
    const [newest] = newestReady(all);
    if (revision !== undefined || isKnown || newest === undefined) return named;
    return { ...named, revision: newest.revision };
  }

  function siblingsOf(modelId: string): { rfilename: string }[] {
    return table.files(modelId).map((file) => ({ rfilename: file.path }));
  }

  /** Finds a model that can be read; else tells the client what it needs to know of its kind of "not there". @throws ApiError not_found, model_not_ready */
  function ready(
    { organisation, model: second, revision = DEFAULT_REVISION }: Named,
    reply: FastifyReply,
  ): { model: HubModel; commit: string } {
    const named = `${organisation}/${second}`;
    const model = table.find(named, revision);
    if (model === null) {
      const isKnown = table.list().some((one) => one.name === named);
      reply.header("x-error-code", isKnown ? "RevisionNotFound" : "RepoNotFound");
      throw new ApiError("not_found", `the hub has no ${named}@${revision}`);
    }
    const { commit } = model;
    if (commit === null)
      throw new ApiError("model_not_ready", `${named}@${revision} is ${model.state}`);
    return { model, commit };
  }

  function fileAt(
    params: Named & { "*": string },
    reply: FastifyReply,
  ): { model: HubModel; commit: string; file: HubFile } {
    const { model, commit } = ready(params, reply);
    const file = table.files(model.id).find(({ path }) => path === params["*"]);
    if (file === undefined) {
      reply.header("x-error-code", "EntryNotFound");
      throw new ApiError("not_found", `${model.name} has no such file`);
    }
    return { model, commit, file };
  }

  /** @throws ApiError not_found */
  async function openFile(version: HubFile & { bucket: string }, range: FileRange | null) {
    return await store.open(version, range).catch((error: unknown) => {
      if (error instanceof S3ResponseError && error.status === 404)
        throw new ApiError("not_found", `${version.path} is no longer there`);
      throw error;
    });
  }
};

/** Picks of each name the default revision, else the newest; those alone that can be downloaded. */
function newestReady(models: readonly HubModel[]): (HubModel & { commit: string })[] {
  const ready = models.filter(
    (model): model is HubModel & { commit: string } =>
      model.state === "READY" && model.commit !== null,
  );
  const isDefault = ({ revision }: HubModel) => (revision === DEFAULT_REVISION ? 0 : 1);
  return [...Map.groupBy(ready, ({ name: one }) => one).values()].map(
    (all) => all.toSorted((a, b) => isDefault(a) - isDefault(b) || b.createdAt - a.createdAt)[0]!,
  );
}

function authorOf(named: string): string {
  return named.split("/", 1)[0] ?? "";
}

/** What the client reads of a file. It is some user's content at the address where people are signed in: no browser is to run it. */
function describe(reply: FastifyReply, commit: string, file: HubFile): FastifyReply {
  return reply
    .type("application/octet-stream")
    .header("content-security-policy", "default-src 'none'; sandbox")
    .header("content-disposition", "attachment")
    .header("accept-ranges", "bytes")
    .header("etag", `"${file.sha256}"`)
    .header("x-repo-commit", commit)
    .header("x-linked-etag", `"${file.sha256}"`)
    .header("x-linked-size", file.sizeBytes);
}

function lengthOf(range: FileRange | null, { sizeBytes }: HubFile): number {
  return range === null ? sizeBytes : range.end - range.start + 1;
}
