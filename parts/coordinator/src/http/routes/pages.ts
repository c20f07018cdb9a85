/** The dashboard. The public client's links to `/dashboard/jobs/:id` lead here. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { DashboardFiles } from "../pages/dashboard-files.ts";
import type { SignInParts } from "./sign-in.ts";
import { HOME_PAGE, returnPath } from "../../identity/decisions/return-path.ts";
import { PLAIN_CSS } from "../pages/page-frame.ts";
import { pageResponses } from "../responses.ts";
import { sendPage } from "../pages/send-page.ts";
import { readSessionCookie } from "../session-cookie.ts";

export type PageRoutesDeps = {
  identity: SignInParts | null;
  dashboard: DashboardFiles;
  /** The object store as browsers reach it. */
  s3: { endpoint: string };
};

const config = {
  access: { public: "the page holds nothing of anybody; what it asks for is held to the session" },
  audit: { none: "status" },
};
const schema = (type: string) => ({ tags: ["pages"], response: pageResponses(type) });
/** The name changes with every byte of the file. */
const FOR_EVER = "public, max-age=31536000, immutable";

export const pageRoutes: FastifyPluginAsyncTypebox<PageRoutesDeps> = async (
  app,
  { identity, dashboard, s3 },
) => {
  const storeOrigin = URL.canParse(s3.endpoint) ? new URL(s3.endpoint).origin : "";
  app.get(
    "/",
    { schema: { ...schema("text/html"), summary: "Leads to the dashboard" }, config },
    (_, reply) => reply.redirect(HOME_PAGE, 302),
  );
  for (const path of ["/dashboard", "/dashboard/*"])
    app.get(
      path,
      {
        schema: {
          ...schema("text/html"),
          summary: "The dashboard; leads to the sign-in where nobody is",
        },
        config,
      },
      async (request, reply) => {
        const cookie = readSessionCookie(request);
        const caller =
          cookie === null || identity === null ? null : await identity.sessions.callerOf(cookie);
        if (caller === null)
          return reply.redirect(
            `/auth/sign-in?return=${encodeURIComponent(returnPath(request.url))}`,
            302,
          );
        const { html, nonce } = dashboard.page();
        return sendPage(reply, html, { nonce, storeOrigin });
      },
    );
  app.get(
    "/assets/plain.css",
    { schema: { ...schema("text/css"), summary: "How plain pages look" }, config },
    (_, reply) => reply.header("content-type", "text/css; charset=utf-8").send(PLAIN_CSS),
  );
  app.get(
    "/assets/:name",
    {
      schema: {
        params: Type.Object({ name: Type.String({ maxLength: 128 }) }),
        ...{ ...schema("text/javascript"), summary: "Scripts and styles of the dashboard" },
      },
      config,
    },
    (request, reply) => {
      const file = dashboard.asset(request.params.name);
      if (file === null) throw new ApiError("not_found", "there is no such file");
      const takesBrotli = /\bbr\b/.test(request.headers["accept-encoding"] ?? "");
      reply
        .header("content-type", file.type)
        .header("cache-control", FOR_EVER)
        .header("vary", "accept-encoding");
      if (file.brotli === null || !takesBrotli) return reply.send(file.body);
      return reply.header("content-encoding", "br").send(file.brotli);
    },
  );
};
