/** Cookies of this origin. `__Host-`: sent to this host alone, over TLS alone, and no sibling host can set it (RFC 6265bis). */
import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import { LIFE_MS } from "../identity/decisions/session-life.ts";
import { PENDING_MS } from "../identity/sign-in/sign-in.ts";

export const SESSION_COOKIE = "__Host-rt";
/** One for each sign-in that is under way, so that two tabs don't take each other's. */
const PENDING_COOKIE = "__Host-rt-in-";
const MAX_VALUE = 2_048;

/** Reads the session's cookie; null without one. */
export function readSessionCookie(request: FastifyRequest): string | null {
  return readCookie(request, SESSION_COOKIE);
}

/** What the browser kept when the sign-in of this `state` began. */
export function readPendingCookie(request: FastifyRequest, state: string): string | null {
  return readCookie(request, pendingName(state));
}

export function setSessionCookie(reply: FastifyReply, value: string): void {
  setCookie(reply, SESSION_COOKIE, value, LIFE_MS / 1000);
}

export function setPendingCookie(reply: FastifyReply, state: string, value: string): void {
  setCookie(reply, pendingName(state), value, PENDING_MS / 1000);
}

export function clearSessionCookie(reply: FastifyReply): void {
  setCookie(reply, SESSION_COOKIE, "", 0);
}

export function clearPendingCookie(reply: FastifyReply, state: string): void {
  setCookie(reply, pendingName(state), "", 0);
}

function pendingName(state: string): string {
  return `${PENDING_COOKIE}${state.replaceAll(/[^A-Za-z0-9_-]/g, "").slice(0, 16)}`;
}

function readCookie(request: FastifyRequest, name: string): string | null {
  const value = parseCookie(request.headers.cookie ?? "")[name];
  return value === undefined || value === "" || value.length > MAX_VALUE ? null : value;
}

/** `Lax`: the way back from Keycloak is a navigation from another page. @param maxAge seconds */
function setCookie(reply: FastifyReply, name: string, value: string, maxAge: number): void {
  const fixed = { path: "/", secure: true, httpOnly: true, sameSite: "lax" } as const;
  reply.header("set-cookie", stringifySetCookie({ name, value, maxAge, ...fixed }));
}
