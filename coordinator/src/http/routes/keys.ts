import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import { KeyReply, ProjectReply } from "@resontech/contracts/http-identity";
import { Type } from "typebox";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { listProjects } from "../../identity/bucket-store.ts";
import { findKeyOwner, listKeys, revokeKey } from "../../identity/key-store.ts";
import { credentialOf } from "../../authorization/caller.ts";
import { authorize, authorizedRow, callerOfRequest } from "../authorization.ts";
import { instant } from "../decisions/job-replies.ts";
import { responses } from "../responses.ts";

export type KeyRoutesDeps = { read: ReadHandle; commit: GroupCommit; now: () => number };

const tags = ["keys"];

export const keyRoutes: FastifyPluginAsyncTypebox<KeyRoutesDeps> = async (app, deps) => {
  app.get(
    "/api/keys",
    {
      schema: {
        summary: "The user's platform keys, without the keys",
        tags,
        response: responses(200, Type.Array(KeyReply)),
      },
      config: { access: { action: "key.list" }, audit: { event: "key.list" } },
    },
    async (request) => {
      const { userId } = callerOfRequest(request);
      const { rows } = await authorize(request, "key.list", "rows");
      const current = credentialOf(request.caller);
      const keys = listKeys(deps.read, rows).map((key) => ({
        ...key,
        current: key.id === current,
      }));
      await request.audit.fact({
        type: "key.list",
        object: { kind: "user", id: userId },
        detail: { count: keys.length },
      });
      return keys;
    },
  );

  app.post(
    "/api/keys",
    {
      schema: {
        summary: "Keys are minted in a browser session, never by a key",
        tags,
        response: responses(200, Type.Null()),
      },
      config: { access: { action: "key.mint" }, audit: { event: "auth.refused" } },
    },
    async (request) => {
      await authorize(request, "key.mint", callerOfRequest(request));
      throw new Error("no session mints a key here yet");
    },
  );

  app.delete(
    "/api/keys/:id",
    {
      schema: {
        summary: "Revoke one of the user's keys; it is refused at once",
        tags,
        params: Type.Object({ id: IdParam }, { additionalProperties: false }),
        response: responses(
          200,
          Type.Object(
            { id: Type.String(), revoked: Type.Boolean() },
            { additionalProperties: false },
          ),
        ),
      },
      config: { access: { action: "key.revoke" }, audit: { event: "key.revoke" } },
    },
    async (request) => {
      const { id } = request.params;
      await authorizedRow(request, "key.revoke", findKeyOwner(deps.read, id));
      return request.audit.operation(
        { type: "key.revoke", object: { kind: "key", id } },
        async (operation) => {
          await deps.commit.run((db) => {
            revokeKey(db, id, deps.now());
            operation.completeIn(db);
          });
          return { id, revoked: true };
        },
      );
    },
  );

  app.get(
    "/api/projects",
    {
      schema: {
        summary: "The user's projects",
        tags: ["projects"],
        response: responses(200, Type.Array(ProjectReply)),
      },
      config: { access: { action: "project.list" }, audit: { none: "status" } },
    },
    async (request) => {
      const { rows } = await authorize(request, "project.list", "rows");
      return listProjects(deps.read, rows).map((project) => ({
        ...project,
        createdAt: instant(project.createdAt),
      }));
    },
  );
};
