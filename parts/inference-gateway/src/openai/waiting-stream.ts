/** A stream whose call waits for long: the client is told that it does by comment lines, which every reader of such a stream passes over. */
import type { ServerResponse } from "node:http";

/** Before that an error has its own status, and the client's own retries. */
const FIRST_MS = 10_000;
/** Proxies between cut what is silent for longer. */
const EVERY_MS = 5_000;
const COMMENT = ": waiting\n\n";
const EVENT_STREAM = "text/event-stream";

export class WaitingStream implements Disposable {
  readonly #response: ServerResponse;
  #timer: NodeJS.Timeout;

  constructor(response: ServerResponse, firstMs: number = FIRST_MS) {
    this.#response = response;
    this.#timer = setTimeout(() => this.#tell(), firstMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #tell(): void {
    const response = this.#response;
    if (response.destroyed) return;
    if (!response.headersSent) {
      response.setHeader("content-type", EVENT_STREAM);
      response.setHeader("cache-control", "no-cache");
    }
    response.write(COMMENT);
    this.#timer = setTimeout(() => this.#tell(), EVERY_MS);
  }
}

/** Whether the answer has begun as such a stream. */
export function isEventStream(response: ServerResponse): boolean {
  return response.headersSent && response.getHeader("content-type") === EVENT_STREAM;
}
