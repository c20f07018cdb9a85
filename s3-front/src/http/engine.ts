/** The engine behind its Unix socket: a pool of kept-alive connections, plain HTTP, every end-to-end header as it came. */
import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";

/** Longest silence of the engine: joining the parts of the largest object takes minutes. */
const SILENCE_MS = 15 * 60_000;
const HEALTH_MS = 2_000;
/** Of bodies, in bytes, on their way through this process for each request. */
export const STREAM_BUFFER_BYTES = 64 * 1024;

/** The engine is away, or went away before it answered. */
export class EngineUnavailable extends Error {
  override readonly name = "EngineUnavailable";
}

export class Engine implements Disposable {
  readonly #socketPath: string;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 64, scheduling: "lifo", timeout: SILENCE_MS });

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** @param rawHeaders name, value, name, value …: sent in this order and spelling */
  open(method: string, target: string, rawHeaders: readonly string[]): ClientRequest {
    return httpRequest({
      socketPath: this.#socketPath,
      agent: this.#agent,
      method,
      path: target,
      headers: rawHeaders,
      maxHeaderSize: 64 * 1024,
    });
  }

  async isUp(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const asked = httpRequest({
      socketPath: this.#socketPath,
      path: "/healthz",
      headers: { host: "engine" },
      timeout: HEALTH_MS,
    });
    asked.on("response", (answer: IncomingMessage) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(false));
    asked.end();
    return await promise;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
