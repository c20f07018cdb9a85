/** Pages of people. The dashboard takes these addresses over; the client's links to `/dashboard/jobs/:id` lead here. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { SignInParts } from "./sign-in.ts";
import { HOME_PAGE, returnPath } from "../../identity/decisions/return-path.ts";
import { HOME_PAGE_HTML, HOME_PAGE_SCRIPT } from "../pages/home-page.ts";
import { KEYS_PAGE_HTML, KEYS_PAGE_SCRIPT } from "../pages/keys-page.ts";
import { PAGE_SCRIPT } from "../pages/page-script.ts";
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
  for (const [path, html] of [
    ["/dashboard", HOME_PAGE_HTML],
    ["/dashboard/keys", KEYS_PAGE_HTML],
    ["/dashboard/*", HOME_PAGE_HTML],
  ] as const)
    app.get(
      path,
      {
        schema: {
          ...schema("text/html"),
          summary: "The dashboard; leads to the sign-in where nobody is",
        },
        config,
      },
      (request, reply) => page(request, reply, html),
    );
  for (const [name, type, text] of [
    ["plain.css", "text/css", PLAIN_CSS],
    ["page.js", "text/javascript", PAGE_SCRIPT],
    ["home.js", "text/javascript", HOME_PAGE_SCRIPT],
    ["keys.js", "text/javascript", KEYS_PAGE_SCRIPT],
  ] as const)
    app.get(
      `/assets/${name}`,
      { schema: { ...schema(type), summary: "How plain pages look and what they do" }, config },
      (_, reply) => reply.header("content-type", `${type}; charset=utf-8`).send(text),
    );

  async function page(request: FastifyRequest, reply: FastifyReply, html: string) {
    const cookie = readSessionCookie(request);
    const caller =
      cookie === null || identity === null ? null : await identity.sessions.callerOf(cookie);
    if (caller !== null) return sendPage(reply, html);
    return reply.redirect(
      `/auth/sign-in?return=${encodeURIComponent(returnPath(request.url))}`,
      302,
    );
  }
};
