/** Pure: what an engine, or the program before it, refused with, as an error of this API. No internals of an engine go on. */
import type { OpenAiRefusal } from "./openai-error.ts";

/** A field of the body, as the program before the engine names it. */
const PARAM = /^[a-z_]{1,40}$/;

/** @param body what came with the status, JSON or not */
export function engineRefusal(status: number, body: string): OpenAiRefusal {
  const { type, message, param } = said(body);
  const ofRequest = (code: string): OpenAiRefusal => ({
    ...{ status: 400, type: "invalid_request_error", code },
    message: message || "the engine does not take this request",
    ...(PARAM.test(param) ? { param } : {}),
  });
  if (type === "exceed_context_size_error") return ofRequest("context_length_exceeded");
  // The program before the engine lets a call through only where the engine has it.
  if (status === 501 || type === "not_found" || type === "unsupported_by_model")
    return ofRequest("unsupported_by_model");
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
  // An engine may call its caller's fault its own; the program before it knows better.
  if (type === "invalid_request_error" || (status >= 400 && status < 500))
    return ofRequest("invalid_request");
  return {
    ...{ status: 500, type: "server_error", code: "engine_failed", isBegun: true },
    message: "the engine failed over this request",
  };
}

function said(body: string): { type: string; message: string; param: string } {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  try {
    const { error } = JSON.parse(body) as { error?: Record<string, unknown> };
    const { type, message, param } = error ?? {};
    return { type: text(type), message: text(message), param: text(param) };
  } catch {
    return { type: "", message: "", param: "" };
  }
}
