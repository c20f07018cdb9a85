import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import { KeyReply, ProjectReply } from "@resontech/contracts/http-identity";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { listProjects } from "../../identity/bucket-store.ts";
import { isOwnKey, listKeys, revokeKey } from "../../identity/key-store.ts";
import { callerOfRequest } from "../authentication.ts";
import { instant } from "../decisions/job-replies.ts";
import { responses } from "../responses.ts";

export type KeyRoutesDeps = { read: ReadHandle; commit: GroupCommit; now: () => number };

const tags = ["keys"];
const access = { scope: "keys" } as const;

export const keyRoutes: FastifyPluginAsyncTypebox<KeyRoutesDeps> = async (app, deps) => {
  app.get(
    "/api/keys",
    {
      schema: { summary: "The user's platform keys, without the keys", tags, response: responses(200, Type.Array(KeyReply)) },
      config: { access, audit: { event: "key.list" } },
    },
    async (request) => {
      const { userId, keyId } = callerOfRequest(request);
      const keys = listKeys(deps.read, userId).map((key) => ({ ...key, current: key.id === keyId }));
      await request.audit.fact({ type: "key.list", object: { kind: "user", id: userId }, detail: { count: keys.length } });
      return keys;
    },
  );

  app.post(
    "/api/keys",
    {
      schema: { summary: "Keys are minted in a browser session, never by a key", tags, response: responses(200, Type.Null()) },
      config: { access, audit: { event: "auth.refused" } },
    },
    async (request) => {
      await request.audit.fact({
        type: "auth.refused",
        object: { kind: "appliance", id: "appliance" },
        decision: { effect: "deny", policy_ids: ["key-by-session"] },
        detail: { reason: "session_only" },
      });
      throw new ApiError("session_only", "a platform key can't mint a platform key");
    },
  );

  app.delete(
    "/api/keys/:id",
    {
      schema: {
        summary: "Revoke one of the user's keys; it is refused at once",
        tags,
        params: Type.Object({ id: IdParam }, { additionalProperties: false }),
        response: responses(200, Type.Object({ id: Type.String(), revoked: Type.Boolean() }, { additionalProperties: false })),
      },
      config: { access, audit: { event: "key.revoke" } },
    },
    async (request) => {
      const { userId } = callerOfRequest(request);
      const { id } = request.params;
      if (!isOwnKey(deps.read, userId, id)) throw new ApiError("not_found", "there is no such key");
      return request.audit.operation({ type: "key.revoke", object: { kind: "key", id } }, async (operation) => {
        await deps.commit.run((db) => {
          revokeKey(db, userId, id, deps.now());
          operation.completeIn(db);
        });
        return { id, revoked: true };
      });
    },
  );

  app.get(
    "/api/projects",
    {
      schema: { summary: "The user's projects", tags: ["projects"], response: responses(200, Type.Array(ProjectReply)) },
      config: { access: { scope: "jobs:read" }, audit: { none: "status" } },
    },
    async (request) =>
      listProjects(deps.read, callerOfRequest(request).userId).map((project) => ({
        ...project,
        createdAt: instant(project.createdAt),
      })),
  );
};
