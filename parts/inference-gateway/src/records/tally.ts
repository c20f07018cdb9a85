import { createHash } from "node:crypto";

/** Of nothing, hex. */
export const EMPTY_SHA256 = createHash("sha256").digest("hex");

/** Counts and digests bytes as they pass. */
export class Tally {
  readonly #hash = createHash("sha256");
  bytes = 0;

  add(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.bytes += chunk.length;
  }

  /** Of what has passed until now, hex. */
  get sha256(): string {
    return this.#hash.copy().digest("hex");
  }

  /** A step of a pipeline: hands on what it counts. */
  readonly pass = async function* (this: Tally, source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      this.add(chunk);
      yield chunk;
    }
  }.bind(this);
}
