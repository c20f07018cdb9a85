import type { IncomingMessage } from "node:http";
import { MAX_OPENAI_BODY_BYTES } from "@resontech/contracts/openai-surface";
import { invalidRequest, OpenAiError } from "./openai-error.ts";

/** From the first byte to the last. */
const WHOLE_MS = 60_000;

/**
 * What is left of a body that is too large, or late, stays unread: the connection ends with the refusal.
 * @throws OpenAiError body_too_large, body_late; or what broke
 */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    const late = setTimeout(() => settle(tooLate()), WHOLE_MS);
    const settle = (error: Error | null): void => {
      clearTimeout(late);
      request.off("data", take).off("end", whole).off("close", cut).pause();
      if (error === null) resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces));
      else reject(error);
    };
    const take = (piece: Buffer): void => {
      size += piece.length;
      if (size > MAX_OPENAI_BODY_BYTES) settle(tooLarge());
      else pieces.push(piece);
    };
    const whole = () => settle(null);
    const cut = () => settle(request.errored ?? new Error("the body broke off"));
    if (Number(request.headers["content-length"] ?? 0) > MAX_OPENAI_BODY_BYTES) settle(tooLarge());
    else if (request.destroyed) cut();
    else request.on("data", take).once("end", whole).once("close", cut);
  });
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
