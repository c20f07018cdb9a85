/**
 * What a browser must not do with this port. Cookies know host names and no ports: the session of the dashboard comes along to this one, and what a
 * user has stored here must never run as a page of it.
 */

/** The engine reads no cookie, and whoever steals one there has a session. Whoever signs one is refused by the engine for the signature. */
export function withoutCookies(raw: readonly string[]): string[] {
  return without(raw, new Set(["cookie"]));
}

const GUARD = {
  "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
} as const;

/** The guard as headers of an answer of our own. */
export const GUARDED: Readonly<Record<string, string>> = GUARD;

/**
 * The engine's headers with the guard in place of any that a user could have stored. What is read is a file to keep; HEAD shows an object's own
 * headers as they are stored, because clients copy them.
 */
export function guarded(raw: readonly string[], method: string): string[] {
  const isRead = method === "GET";
  const kept = without(
    raw,
    new Set([
      ...Object.keys(GUARD).map((name) => name.toLowerCase()),
      "set-cookie",
      ...(isRead ? ["content-disposition"] : []),
    ]),
  );
  for (const [name, value] of Object.entries(GUARD)) kept.push(name, value);
  if (isRead) kept.push("Content-Disposition", asAttachment(raw));
  return kept;
}

/** A file's name stays; `inline`, what is no disposition, and two of them become an attachment. */
function asAttachment(raw: readonly string[]): string {
  const said = raw.filter(
    (_value, at) => at % 2 === 1 && raw[at - 1]?.toLowerCase() === "content-disposition",
  );
  const [only] = said;
  return said.length === 1 && only !== undefined && /^attachment\s*(?:;|$)/i.test(only)
    ? only
    : "attachment";
}

/** @param names in lower case */
function without(raw: readonly string[], names: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2)
    if (!names.has((raw[at] ?? "").toLowerCase())) kept.push(raw[at] ?? "", raw[at + 1] ?? "");
  return kept;
}
