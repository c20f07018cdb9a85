/** Pure: which call of which deployment a request is. */
import { INFERENCE_PATH } from "@resontech/contracts/http-inference";

export type Call = { deployment: string; kind: "predict" | "health" };

/** Null for what is no call: routes come from the raw path, and nothing in it is decoded. */
export function callOf(method: string | undefined, url: string | undefined): Call | null {
  const [path = ""] = (url ?? "").split("?", 1);
  const [, deployment, kind] =
    new RegExp(`^${INFERENCE_PATH}/([A-Za-z0-9-]{1,64})/(predict|health)$`).exec(path) ?? [];
  if (deployment === undefined) return null;
  if (kind === "predict" && method === "POST") return { deployment, kind };
  if (kind === "health" && method === "GET") return { deployment, kind };
  return null;
}

/** The key that a request shows: of the client's own header, or as Bearer. */
export function keyOf(headers: NodeJS.Dict<string | string[]>): string | null {
  const own = headers["x-api-key"];
  if (typeof own === "string") return own;
  const bearer = headers["authorization"];
  return typeof bearer === "string" ? (/^Bearer ([!-~]{1,512})$/i.exec(bearer)?.[1] ?? null) : null;
}

/** A name for the request that is safe to say again. */
export function requestIdOf(headers: NodeJS.Dict<string | string[]>): string | null {
  const said = headers["x-request-id"];
  return typeof said === "string" && /^[\x21-\x7e]{1,128}$/.test(said) ? said : null;
}
