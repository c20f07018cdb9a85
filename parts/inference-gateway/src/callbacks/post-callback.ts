import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Readable } from "node:stream";
import type { Outbound, Target } from "../outbound/outbound.ts";
import { OutboundError } from "../outbound/outbound-error.ts";
import type { Callback } from "./callback.ts";

/** From the first look-up of the name to the head of the receiver's answer. */
const WHOLE_MS = 30_000;

/**
 * One POST of the answer, as its caller got it. Whatever the receiver says with a status of 2xx is thanks; a redirect is a failure.
 * @throws OutboundError; what `stopped` says
 */
export async function postCallback(
  outbound: Pick<Outbound, "receiver" | "open">,
  callback: Callback,
  body: Readable,
  stopped: AbortSignal,
  wholeMs: number = WHOLE_MS,
): Promise<void> {
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(wholeMs)]);
  const target = outbound.receiver(callback.url);
  const status = await post(outbound, target, callback, body, signal).catch((cause: unknown) => {
    if (stopped.aborted || cause instanceof OutboundError) throw cause;
    throw new OutboundError("url_unreachable", `${target.host} does not answer`, { cause });
  });
  if (status < 200 || status > 299)
    throw new OutboundError("url_failed", `${target.host} answered ${status}`);
}

/** @returns what the receiver says to it */
async function post(
  outbound: Pick<Outbound, "open">,
  target: Target,
  callback: Callback,
  body: Readable,
  signal: AbortSignal,
): Promise<number> {
  const asked = await outbound.open(target, {
    ...{ method: "POST", signal },
    headers: {
      ...{ "content-type": callback.contentType, "content-length": callback.bytes },
      ...{ "idempotency-key": callback.id, "x-request-id": callback.requestId },
      "x-resontech-deployment": callback.deployment,
      "x-resontech-status": callback.status,
      "x-resontech-timestamp": callback.timestamp,
      "x-resontech-signature": callback.signature,
    },
  });
  const answered = once(asked, "response") as Promise<[IncomingMessage]>;
  // A receiver may answer before it has read all; that it breaks off is the answer's to say.
  pipeline(body, asked).catch(() => {});
  const [{ statusCode = 0 }] = await answered;
  asked.destroy();
  return statusCode;
}
