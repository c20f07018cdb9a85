/** The engine behind its Unix socket: a pool of kept-alive connections. */
import { request as httpRequest } from "node:http";
import { EngineConnection, type ReadBytes } from "./engine-connection.ts";

const HEALTH_MS = 2_000;
const MAX_IDLE = 64;
const READ_BYTES: ReadBytes = { first: 64 * 1024, long: 256 * 1024 };
/** The answer to an upload is short, and its connection has no second one. */
const READ_BYTES_OF_UPLOAD: ReadBytes = { first: 8 * 1024, long: 8 * 1024 };

export class Engine implements Disposable {
  readonly #socketPath: string;
  readonly #all = new Set<EngineConnection>();
  readonly #idle: EngineConnection[] = [];

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /**
   * A connection of the caller's own until its request and answer are whole; of the idle ones that used last comes first.
   * @param hasBody of the request: such a one is its connection's last
   */
  take(hasBody: boolean): EngineConnection {
    const idle = hasBody ? undefined : this.#lastIdle();
    if (idle !== undefined) return idle;
    const made = new EngineConnection(
      this.#socketPath,
      hasBody ? READ_BYTES_OF_UPLOAD : READ_BYTES,
      (connection) => {
        if (this.#idle.length < MAX_IDLE) this.#idle.push(connection);
        else connection.destroy(new Error("there are enough idle connections"));
      },
      (connection) => {
        this.#all.delete(connection);
        const at = this.#idle.indexOf(connection);
        if (at >= 0) this.#idle.splice(at, 1);
      },
    );
    this.#all.add(made);
    return made;
  }

  /** One that broke is idle until its socket says that it closed. */
  #lastIdle(): EngineConnection | undefined {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop())
      if (!idle.isBroken) return idle;
    return undefined;
  }

  async isUp(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const asked = httpRequest({
      socketPath: this.#socketPath,
      path: "/healthz",
      headers: { host: "engine" },
      timeout: HEALTH_MS,
    });
    asked.on("response", (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(false));
    asked.end();
    return await promise;
  }

  [Symbol.dispose](): void {
    for (const connection of this.#all) connection.destroy(new Error("the front stops"));
  }
}
