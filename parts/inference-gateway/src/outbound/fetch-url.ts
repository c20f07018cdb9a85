/** The bytes behind a URL, as they come. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { ReplicaBody } from "../replica-body.ts";
import { OutboundError } from "./outbound-error.ts";
import type { Outbound, Target } from "./outbound.ts";

/** Kinds that a predictor gets as they are; what else is fetched it gets as bytes, never as an envelope of other bytes. */
const AS_IT_IS = /^(?:image|video|audio)\/[\w.+-]{1,100}$/i;
const BYTES = "application/octet-stream";

/**
 * Resolves with the head of the answer. A body that breaks off later fails with an OutboundError.
 * @param maxBytes of the body; one of unknown length is not taken, because a replica is told it first
 * @throws OutboundError url_not_allowed, url_unreachable, url_failed, body_too_large; what `signal` says
 */
export async function fetchUrl(
  outbound: Pick<Outbound, "open">,
  target: Target,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<ReplicaBody> {
  const unreachable = (cause: unknown) =>
    new OutboundError("url_unreachable", `${target.host} does not answer`, { cause });
  const answer = await ask(outbound, target, signal).catch((error: unknown) => {
    throw signal.aborted || error instanceof OutboundError ? error : unreachable(error);
  });
  try {
    const length = lengthOf(target, answer, maxBytes);
    let failure: OutboundError | null = null;
    const fail = (cause: unknown) => (failure = unreachable(cause));
    return {
      ...{ stream: bytesOf(answer, fail), contentType: kindOf(answer), length },
      failure: () => failure,
    };
  } catch (error) {
    answer.destroy();
    throw error;
  }
}

async function ask(
  outbound: Pick<Outbound, "open">,
  target: Target,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const asked = await outbound.open(target, {
    ...{ method: "GET", signal },
    headers: { accept: "*/*", "accept-encoding": "identity" },
  });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return answer;
}

async function* bytesOf(
  answer: IncomingMessage,
  failed: (cause: unknown) => OutboundError,
): AsyncIterable<Buffer> {
  try {
    for await (const piece of answer) yield piece as Buffer;
  } catch (error) {
    throw failed(error);
  }
}

function kindOf({ headers }: IncomingMessage): string {
  const [kind = ""] = (headers["content-type"] ?? "").split(";");
  return AS_IT_IS.test(kind.trim()) ? kind.trim() : BYTES;
}

function lengthOf(
  { host }: Target,
  { statusCode, headers }: IncomingMessage,
  maxBytes: number,
): number {
  const failed = (what: string) => new OutboundError("url_failed", `${host} ${what}`);
  if (statusCode !== 200) throw failed(`answered ${statusCode}; redirects are not followed`);
  if ((headers["content-encoding"] ?? "identity") !== "identity")
    throw failed("sends the body encoded");
  const length = headers["content-length"];
  if (length === undefined) throw failed("does not say how long the body is");
  if (Number(length) > maxBytes)
    throw new OutboundError("body_too_large", `at most ${maxBytes} bytes`);
  return Number(length);
}
