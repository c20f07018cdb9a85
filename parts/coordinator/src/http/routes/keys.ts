import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";
import { IdParam } from "@resontech/contracts/http-common";
import { KeyReply, MintedKeyReply, MintKeyBody } from "@resontech/contracts/http-identity";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import type { KeyKind } from "../../identity/decisions/platform-key.ts";
import { drawKey } from "../../identity/draw-key.ts";
import { findKeyOwner, insertKey, listKeys, revokeKey } from "../../identity/key-store.ts";
import { credentialOf } from "../../authorization/caller.ts";
import { projectDetail } from "../../authorization/in-the-log.ts";
import { authorize, authorizedRow, callerOfRequest } from "../authorization.ts";
import { instant } from "../decisions/job-replies.ts";
import { responses } from "../responses.ts";
import { readSessionCookie } from "../session-cookie.ts";

export type KeyRoutesDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  now: () => number;
  keyKind: KeyKind;
};

const tags = ["keys"];
const DAY_S = 86_400;

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
        summary: "Mint a platform key, in a browser whose person has just shown a second factor",
        tags,
        body: MintKeyBody,
        response: responses(201, MintedKeyReply),
      },
      config: { access: { action: "key.mint" }, audit: { event: "key.mint" } },
    },
    async (request, reply) => {
      const { name, projectId, scopes, expiresInDays } = request.body;
      await authorize(request, "key.mint", { projectId });
      await requireBrowser(request);
      const { userId } = callerOfRequest(request);
      const { key, row } = drawKey(deps.keyKind);
      const seconds = expiresInDays * DAY_S;
      const createdAt = deps.now();
      const expiresAt = createdAt + seconds * 1_000;
      await request.audit.operation(
        {
          type: "key.mint",
          object: { kind: "key", id: row.id },
          detail: { expires_in_s: seconds, project: projectId, scopes: [...new Set(scopes)] },
        },
        (operation) =>
          deps.commit.run((db) => {
            insertKey(db, { ...row, name, userId, projectId, scopes, createdAt, expiresAt });
            operation.completeIn(db);
          }),
      );
      const expires = instant(expiresAt);
      return reply.code(201).send({ id: row.id, key, name, projectId, scopes, expiresAt: expires });
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
};

/** A shell that is signed in acts for its person as a key does: who has its file must not make keys of it that outlive it. */
async function requireBrowser(request: FastifyRequest): Promise<void> {
  if (readSessionCookie(request) !== null && request.headers.authorization === undefined) return;
  await request.audit.refusal({
    type: "auth.refused",
    object: { kind: "appliance", id: "appliance" },
    decision: { effect: "deny", policy_ids: ["key-by-session"] },
    outcome: { code: "session_only", status: ERROR_CATALOGUE.session_only.status },
    detail: { reason: "session_only", ...projectDetail(request.caller) },
  });
  throw new ApiError("session_only", "a platform key is minted in a browser");
}
