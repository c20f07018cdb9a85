/**
 * What a script of the dashboard may ask of this port (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol): URLs that were signed for it, from
 * the one origin that the appliance's pages have. No cookie goes along, and nothing else than reading and storing does. Pure.
 */

type Asked = { method: string; url: string; origin: string | undefined };
/** @property isQuestion the browser asks first whether it may; it is answered by these headers alone */
type Access = { isQuestion: boolean; headers: Readonly<Record<string, string>> };

const SIGNED = /[?&]X-Amz-Signature=/;
const ASK_AGAIN_S = 600;

/** @param pageOrigin `https://NAME:8000`; null where there are no pages @returns null where the browser is told nothing, and keeps the answer from the script */
export function pageAccess(
  { method, url, origin }: Asked,
  pageOrigin: string | null,
): Access | null {
  if (pageOrigin === null || origin !== pageOrigin || !SIGNED.test(url)) return null;
  const allowed = { "Access-Control-Allow-Origin": pageOrigin, Vary: "Origin" };
  if (method !== "OPTIONS")
    return { isQuestion: false, headers: { ...allowed, "Access-Control-Expose-Headers": "ETag" } };
  return {
    isQuestion: true,
    headers: {
      ...allowed,
      "Access-Control-Allow-Methods": "GET, PUT",
      // A browser that does not count ranges among what may be asked anyway asks for that, too.
      "Access-Control-Allow-Headers": "content-type, range",
      "Access-Control-Max-Age": String(ASK_AGAIN_S),
    },
  };
}
