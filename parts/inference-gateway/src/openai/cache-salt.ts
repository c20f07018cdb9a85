/** Pure: whose beginnings of texts an engine may reuse for whom: within one project alone, and one deployment. */
import { hash } from "node:crypto";
import { CACHE_SALT, type OpenAiCall } from "@resontech/contracts/openai-surface";

/** @param project of whoever calls */
export function withCacheSalt(
  call: OpenAiCall,
  body: Readonly<Record<string, unknown>>,
  { deployment, project }: { deployment: string; project: string },
): Record<string, unknown> {
  if (call === "embeddings") return { ...body };
  const salt = hash("sha256", JSON.stringify([deployment, project]), "base64url");
  return { ...body, [CACHE_SALT]: salt };
}
