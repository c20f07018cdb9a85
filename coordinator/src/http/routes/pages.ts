/** Pages of people. The dashboard takes these addresses over; the client's links to `/dashboard/jobs/:id` lead here. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { SignInParts } from "./sign-in.ts";
import { HOME_PAGE, returnPath } from "../../identity/decisions/return-path.ts";
import { HOME_PAGE_HTML, HOME_PAGE_SCRIPT } from "../pages/home-page.ts";
import { PLAIN_CSS } from "../pages/page-frame.ts";
import { pageResponses } from "../responses.ts";
import { sendPage } from "../pages/send-page.ts";
import { readSessionCookie } from "../session-cookie.ts";

const config = {
  access: { public: "the page holds nothing of anybody; what it asks for is held to the session" },
  audit: { none: "status" },
};
const schema = (type: string) => ({ tags: ["pages"], response: pageResponses(type) });

export const pageRoutes: FastifyPluginAsyncTypebox<{ identity: SignInParts | null }> = async (
  app,
  { identity },
) => {
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
      page,
    );
  app.get(
    "/assets/plain.css",
    { schema: { ...schema("text/css"), summary: "How plain pages look" }, config },
    (_, reply) => asset(reply, "text/css; charset=utf-8", PLAIN_CSS),
  );
  app.get(
    "/assets/home.js",
    { schema: { ...schema("text/javascript"), summary: "What the plain page does" }, config },
    (_, reply) => asset(reply, "text/javascript; charset=utf-8", HOME_PAGE_SCRIPT),
  );

  async function page(request: FastifyRequest, reply: FastifyReply) {
    const cookie = readSessionCookie(request);
    const caller =
      cookie === null || identity === null ? null : await identity.sessions.callerOf(cookie);
    if (caller !== null) return sendPage(reply, HOME_PAGE_HTML);
    return reply.redirect(
      `/auth/sign-in?return=${encodeURIComponent(returnPath(request.url))}`,
      302,
    );
  }
};

function asset(reply: FastifyReply, type: string, text: string): FastifyReply {
  return reply.header("content-type", type).send(text);
}
