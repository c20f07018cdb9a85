import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { MAX_OPENAI_BODY_BYTES } from "@resontech/contracts/openai-surface";
import { invalidRequest, OpenAiError } from "./openai-error.ts";

/** From the first byte to the last. */
const WHOLE_MS = 60_000;

/** @throws OpenAiError body_too_large, body_late */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > MAX_OPENAI_BODY_BYTES) throw tooLarge();
  const ended = new AbortController();
  const whole = collect(request);
  const late = sleep(WHOLE_MS, undefined, { signal: ended.signal }).then(() => {
    throw tooLate();
  });
  // Whichever loses the race may still fail: that is nobody's.
  for (const one of [whole, late]) one.catch(() => {});
  try {
    return await Promise.race([whole, late]);
  } finally {
    ended.abort();
  }
}

/** What is left of a body that is too large stays unread: the connection ends with the refusal. */
async function collect(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    size += (piece as Buffer).length;
    if (size > MAX_OPENAI_BODY_BYTES) throw tooLarge();
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

function tooLarge(): OpenAiError {
  return invalidRequest("body_too_large", `the body has more than ${MAX_OPENAI_BODY_BYTES} bytes`);
}

function tooLate(): OpenAiError {
  return new OpenAiError({
    ...{ status: 408, type: "invalid_request_error", code: "body_late" },
    message: `the body did not come in ${WHOLE_MS / 1_000} s`,
  });
}
