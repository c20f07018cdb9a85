import type { FastifyReply } from "fastify";

/** Nothing runs in our pages but our own script, and nothing of ours can be framed: DASHBOARD "Session". */
const contentSecurityPolicy = (nonce: string | null, store: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === null ? "" : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self'${store}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");

/** What a page with scripts may do beyond a plain one: styles that its script adds by this nonce, and requests to the object store. */
export type PageRights = { nonce: string; storeOrigin: string };

export function sendPage(
  reply: FastifyReply,
  html: string,
  rights: PageRights | null = null,
): FastifyReply {
  const policy = contentSecurityPolicy(
    rights?.nonce ?? null,
    rights === null ? "" : ` ${rights.storeOrigin}`,
  );
  return reply
    .header("content-type", "text/html; charset=utf-8")
    .header("content-security-policy", policy)
    .header("referrer-policy", "no-referrer")
    .header("cross-origin-opener-policy", "same-origin")
    .header("x-frame-options", "DENY")
    .send(html);
}
