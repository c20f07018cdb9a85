/** Pure: what of the OpenAI API a request asks for. */
import { INFERENCE_PATH } from "@resontech/contracts/http-inference";
import { OPENAI_ASKED, OPENAI_PATH, type OpenAiAsked } from "@resontech/contracts/openai-surface";

export type OpenAiTarget = {
  /** Null where the model names it. */
  deployment: string | null;
  wish:
    | { kind: "models" }
    | { kind: "model"; name: string }
    | { kind: "call"; call: OpenAiAsked }
    | { kind: "none"; status: 404 | 405 };
};

const PATH = new RegExp(`^(?:${INFERENCE_PATH}/([A-Za-z0-9-]{1,64}))?${OPENAI_PATH}/(.+)$`);

/** Reads what a request asks for. Null for what is no address of this API: routes come from the raw path, and nothing in it is decoded but a model's name. */
export function openAiTargetOf(
  method: string | undefined,
  url: string | undefined,
): OpenAiTarget | null {
  const [path = ""] = (url ?? "").split("?", 1);
  const [, deployment = null, rest] = PATH.exec(path) ?? [];
  return rest === undefined ? null : { deployment, wish: wishOf(method ?? "", rest) };
}

function wishOf(method: string, rest: string): OpenAiTarget["wish"] {
  const call = OPENAI_ASKED.find((known) => known === rest);
  if (call !== undefined)
    return method === "POST" ? { kind: "call", call } : { kind: "none", status: 405 };
  const name = rest === "models" ? "" : modelOf(rest);
  if (name === null) return { kind: "none", status: 404 };
  if (method !== "GET") return { kind: "none", status: 405 };
  return name === "" ? { kind: "models" } : { kind: "model", name };
}

function modelOf(rest: string): string | null {
  const [, name] = /^models\/([^/]+)$/.exec(rest) ?? [];
  try {
    return name === undefined ? null : decodeURIComponent(name);
  } catch {
    return null;
  }
}
