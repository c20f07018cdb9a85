/** Pure: what an engine, or the program before it, refused with, as an error of this API. No internals of an engine go on. */
import type { OpenAiRefusal } from "./openai-error.ts";

/** @param body what came with the status, JSON or not */
export function engineRefusal(status: number, body: string): OpenAiRefusal {
  const { type, message } = said(body);
  const ofRequest = (code: string): OpenAiRefusal => ({
    ...{ status: 400, type: "invalid_request_error", code },
    message: message || "the engine does not take this request",
  });
  if (type === "exceed_context_size_error") return ofRequest("context_length_exceeded");
  // The program before the engine lets a call through only where the engine has it.
  if (status === 501 || type === "not_found") return ofRequest("unsupported_by_model");
  if (type === "busy" || status === 429)
    return {
      ...{ status: 503, type: "server_error", code: "busy", retryAfterS: 1 },
      message: "the replica has as many calls as it takes",
    };
  if (status === 503)
    return {
      ...{ status: 503, type: "server_error", code: "unavailable", retryAfterS: 5 },
      message: "the engine does not answer now",
    };
  if (status >= 400 && status < 500) return ofRequest("invalid_request");
  return {
    ...{ status: 500, type: "server_error", code: "engine_failed", isBegun: true },
    message: "the engine failed over this request",
  };
}

function said(body: string): { type: string; message: string } {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  try {
    const { error } = JSON.parse(body) as { error?: { type?: unknown; message?: unknown } };
    return { type: text(error?.type), message: text(error?.message) };
  } catch {
    return { type: "", message: "" };
  }
}
