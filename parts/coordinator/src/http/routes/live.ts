/** `/api/live`: what changes, over a WebSocket. See contracts/src/http/live-socket.ts. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import websocket from "@fastify/websocket";
import { LIVE_CLOSE, MAX_REQUEST_BYTES } from "@resontech/contracts/live-socket";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import { credentialOf } from "../../authorization/caller.ts";
import type { Feed } from "../../feed/feed.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { callerOfRequest } from "../authorization.ts";
import { LiveConnection } from "../live/live-connection.ts";
import { reachOfTopic } from "../live/live-topics.ts";
import { responses } from "../responses.ts";
import { readSessionCookie } from "../session-cookie.ts";
import type { SignInParts } from "./sign-in.ts";

export type LiveRoutesDeps = {
  kernel: Pick<Kernel, "job">;
  feed: Pick<Feed, "subscribe" | "position">;
  /** Where our own pages come from, `https://NAME:8000`. */
  publicUrl: string;
  identity: Pick<SignInParts, "sessions"> | null;
};

/** Connections of one credential: a person's tabs, a user's shells. */
const MAX_CONNECTIONS = 32;
/** Milliseconds between two looks at who listens. A removed person hears nothing after so long; a token of a shell costs a signature to look at. */
export const LOOK_MS = { cookie: 1_000, bearer: 5_000 } as const;

export const liveRoutes: FastifyPluginAsyncTypebox<LiveRoutesDeps> = async (
  app,
  { kernel, feed, publicUrl, identity },
) => {
  const connections = new Map<string, number>();
  const origin = new URL(publicUrl).origin;
  await app.register(websocket, { options: { maxPayload: MAX_REQUEST_BYTES } });

  app.route({
    method: "GET",
    url: "/api/live",
    schema: {
      summary:
        "Changes as they happen, over a WebSocket; each topic is decided when it is asked for",
      tags: ["live"],
      response: responses(200, Type.Null()),
    },
    config: {
      access: { own: "each topic is held to the caller's rights when it is asked for" },
      audit: { none: "status; a log is a fact of its own before its first line" },
    },
    preValidation: async (request) => requireOwnPage(request, origin),
    handler: () => {
      throw new ApiError("upgrade_required", "this address speaks WebSocket");
    },
    wsHandler: (socket, request) => {
      const caller = callerOfRequest(request);
      const credential = credentialOf(caller) ?? caller.userId;
      const count = (connections.get(credential) ?? 0) + 1;
      if (count > MAX_CONNECTIONS) return socket.close(LIVE_CLOSE.tooMany, "too many connections");
      connections.set(credential, count);
      socket.once("close", () => {
        const left = (connections.get(credential) ?? 1) - 1;
        if (left === 0) connections.delete(credential);
        else connections.set(credential, left);
      });
      const cookie = isByCookie(request) ? readSessionCookie(request) : null;
      // All that decides what the caller may hear.
      const rights = JSON.stringify(caller);
      LiveConnection.serve({
        ...{ socket, feed },
        csrfToken: cookie === null ? null : (identity?.sessions.csrfToken(cookie) ?? null),
        reachOf: (topic) => reachOfTopic(request, topic, kernel),
        isStillGood: async () => {
          const now = await request.callerNow();
          return now !== null && JSON.stringify(now) === rights;
        },
        lookEveryMs: cookie === null ? LOOK_MS.bearer : LOOK_MS.cookie,
        onError: (err) => request.log.warn({ err }, "a live connection"),
      });
    },
  });
};

/** A browser says whose page opens the connection; a program says nothing, and must bring a credential of its own. */
function requireOwnPage(request: FastifyRequest, own: string): void {
  const { origin } = request.headers;
  const isOwn = origin === own || (origin === undefined && !isByCookie(request));
  if (!isOwn) throw new ApiError("origin_refused", "the connection comes from another page");
}

function isByCookie(request: FastifyRequest): boolean {
  return request.headers.authorization === undefined;
}
