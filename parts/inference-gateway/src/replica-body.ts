/** What a replica is sent: the caller's body, or what the caller named. */
import type { IncomingMessage } from "node:http";
import type { OutboundError } from "./outbound/outbound-error.ts";

export const MAX_BODY_BYTES = 1024 ** 3;

export type ReplicaBody = {
  stream: AsyncIterable<Buffer>;
  contentType: string | undefined;
  /** Bytes. */
  length: number;
  /** Why its source broke off; null where it did not, and of a caller's own body. */
  failure: () => OutboundError | null;
};

/** @param request says how long its body is */
export function bodyOf(request: IncomingMessage): ReplicaBody {
  return {
    ...{ stream: request, contentType: request.headers["content-type"] },
    length: Number(request.headers["content-length"]),
    failure: () => null,
  };
}
