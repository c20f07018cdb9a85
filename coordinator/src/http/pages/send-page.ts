import type { FastifyReply } from "fastify";

/** Nothing runs in our pages but our own script, and nothing of ours can be framed: DASHBOARD "Session". */
const contentSecurityPolicy = (nonce: string | null): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === null ? "" : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");

/** @param nonce of styles that a script of the page adds; null for a page that has none */
export function sendPage(
  reply: FastifyReply,
  html: string,
  nonce: string | null = null,
): FastifyReply {
  return reply
    .header("content-type", "text/html; charset=utf-8")
    .header("content-security-policy", contentSecurityPolicy(nonce))
    .header("referrer-policy", "no-referrer")
    .header("cross-origin-opener-policy", "same-origin")
    .header("x-frame-options", "DENY")
    .send(html);
}
