import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Readable } from "node:stream";
import type { Outbound } from "../outbound/outbound.ts";
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
): Promise<void> {
  const late = AbortSignal.timeout(WHOLE_MS);
  const signal = AbortSignal.any([stopped, late]);
  const target = outbound.receiver(callback.url);
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
  const [{ statusCode = 0 }] = await answered.catch((cause: unknown) => {
    if (stopped.aborted) throw cause;
    throw new OutboundError("url_unreachable", `${target.host} does not answer`, { cause });
  });
  asked.destroy();
  if (statusCode < 200 || statusCode > 299)
    throw new OutboundError("url_failed", `${target.host} answered ${statusCode}`);
}
