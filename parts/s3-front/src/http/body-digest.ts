import { createHash, type Hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { S3Request } from "../decisions/classify.ts";

/**
 * SHA-256 of the object that a request brings, for the outcome of its record. Where the client has signed it the engine holds the body to
 * it; else it is taken as the body passes. A body in frames of its own (aws-chunked) has none: its bytes are not the object's.
 */
export class BodyDigest {
  readonly #declared: string | null;
  readonly #hash: Hash | null;

  /** Before the body flows. */
  constructor(request: IncomingMessage, { operation, bodySha256, length }: S3Request) {
    const isWrite = operation.trace.kind === "write" && !operation.copies;
    const isObject = isWrite && length.bodyBytes === length.storedBytes;
    this.#declared = isObject ? bodySha256 : null;
    this.#hash = isObject && bodySha256 === null ? createHash("sha256") : null;
    if (this.#hash === null) return;
    request.on("data", (chunk: Buffer) => this.#hash?.update(chunk));
    request.pause();
  }

  /** Once the body has passed whole; null where there is none to tell. */
  hex(): string | null {
    return this.#declared ?? this.#hash?.digest("hex") ?? null;
  }
}
