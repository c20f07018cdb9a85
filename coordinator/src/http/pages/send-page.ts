import type { FastifyReply } from "fastify";

/** Nothing runs in our pages but our own script, and nothing of ours can be framed: DASHBOARD "Session". */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

export function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .header("content-type", "text/html; charset=utf-8")
    .header("content-security-policy", CONTENT_SECURITY_POLICY)
    .header("referrer-policy", "no-referrer")
    .header("cross-origin-opener-policy", "same-origin")
    .header("x-frame-options", "DENY")
    .send(html);
}
