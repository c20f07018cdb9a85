import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KeycloakPool } from "./keycloak/keycloak-pool.ts";
import { POOL_VARIABLE } from "./pool-client.ts";

export type EnginePoolOptions = {
  /** How many there are at most. @default 2 */
  keycloaks?: number;
  /** Told the process of each engine, and what it is called. */
  onStart: (pid: number, engine: string) => void;
};

/** Two processors start no third one sooner. */
export const POOLED_KEYCLOAKS = 2;

/** Engines that live for a run and are lent to one test file at a time. A lease ends with the connection that asked for it. */
export class EnginePool implements AsyncDisposable {
  readonly #folder: string;
  readonly #server: Server;
  readonly #keycloaks: KeycloakPool;
  readonly #sockets = new Set<Socket>();

  private constructor(folder: string, server: Server, keycloaks: KeycloakPool) {
    this.#folder = folder;
    this.#server = server;
    this.#keycloaks = keycloaks;
  }

  /** Starts no engine: the first lease does. */
  static async start({
    keycloaks: max = POOLED_KEYCLOAKS,
    onStart,
  }: EnginePoolOptions): Promise<EnginePool> {
    const folder = mkdtempSync(join(tmpdir(), "rt-pool-"));
    const keycloaks = new KeycloakPool(max, (pid) => onStart(pid, "keycloak"));
    const server = createServer((socket) => void pool.#serve(socket));
    const pool = new EnginePool(folder, server, keycloaks);
    await once(server.listen(join(folder, "socket")), "listening");
    return pool;
  }

  /** For the tests. */
  get environment(): NodeJS.ProcessEnv {
    return { [POOL_VARIABLE]: join(this.#folder, "socket") };
  }

  async #serve(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => undefined).resume();
    try {
      const lease = await this.#keycloaks.lease();
      socket.write(`${JSON.stringify(lease.place)}\n`);
      await closed;
      await lease.end();
    } catch (error) {
      socket.end(`${JSON.stringify({ error: String(error) })}\n`);
    } finally {
      this.#sockets.delete(socket);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await this.#keycloaks[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
