/** Pure: which call of which deployment a request is. */
import { INFERENCE_PATH } from "@resontech/contracts/http-inference";

/** At a path of the deployment's own program, with its query. */
export type OwnCall = { deployment: string; kind: "own"; method: "GET" | "POST"; path: string };
export type Call = { deployment: string; kind: "predict" | "health" } | OwnCall;

const ADDRESS = new RegExp(`^${INFERENCE_PATH}/([A-Za-z0-9-]{1,64})(/[!-~]*)$`);

/** Reads what a request calls. Null for what is no call: routes come from the raw path, and nothing in it is decoded. */
export function callOf(method: string | undefined, url: string | undefined): Call | null {
  const call = ownCallOf(method, url);
  if (call === null) return null;
  const [path] = call.path.split("?", 1);
  if (path === "/predict" && method === "POST")
    return { deployment: call.deployment, kind: "predict" };
  if (path === "/health" && method === "GET")
    return { deployment: call.deployment, kind: "health" };
  return call;
}

/** Reads a call as a program of its own would have it, whatever the path means elsewhere. */
export function ownCallOf(method: string | undefined, url: string | undefined): OwnCall | null {
  const [, deployment, path] = ADDRESS.exec(url ?? "") ?? [];
  if (deployment === undefined || path === undefined) return null;
  return method === "GET" || method === "POST" ? { deployment, kind: "own", method, path } : null;
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
